// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin: where the largest or the smallest element stands along an axis.
#include <fmt/format.h>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

Status position(NodeWriter& node, char aggregation) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  const TensorType& type = node.type(0);
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 0));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  STRIA_ASSIGN(const int64_t keep, node.integer_attribute("keepdims", 1));
  STRIA_ASSIGN(const int64_t last, node.integer_attribute("select_last_index", 0));
  const int64_t size = node.size(0, static_cast<int>(axis));
  if (size == 0) return node.error(fmt::format("axis {} has no elements", axis));
  std::vector<bool> axes(type.sizes.size(), false);
  axes[static_cast<size_t>(axis)] = true;
  const Forms all = indices("i", type.sizes.size());
  const Reduced best = reduced(node, aggregation, access(x, all), type.sizes, axes);
  // A NaN is the largest and the smallest; it equals nothing.
  const std::string is_best = is_float(type.type)
                                  ? fmt::format("{0} == {1} || {0} != {0}", x, best.kept)
                                  : fmt::format("{} == {}", x, best.kept);
  const std::string where =
      node.let(fmt::format("({}) ? index({}, {}) : {}", is_best, x, axis, last ? -1 : size));
  Reduced out = reduced(node, last ? '>' : '<', access(where, all), type.sizes, axes);
  if (!keep) out.sizes.erase(out.sizes.begin() + axis);
  return node.result(0, reshaped(fmt::format("as_int({}, 64)", out.kept), out.sizes));
}

}  // namespace

Status argmax(NodeWriter& node) { return position(node, '>'); }
Status argmin(NodeWriter& node) { return position(node, '<'); }

}  // namespace stria::onnx::operators
