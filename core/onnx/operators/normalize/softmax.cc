// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax and Hardmax: along one axis; before version 13 over that axis and all behind
// it together.
#include <fmt/format.h>

#include <optional>

#include "stria/onnx/operators/normalize/softmax.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

SoftmaxParts softmax_parts(NodeWriter& node, const std::string& x, const Sizes& sizes,
                           const std::vector<bool>& axes) {
  const Forms all = indices("i", sizes.size());
  const Reduced top = reduced(node, '>', access(x, all), sizes, axes);
  SoftmaxParts out;
  out.shifted = node.let(fmt::format("{} - {}", x, top.kept));
  out.powers = node.let(fmt::format("exp({})", out.shifted));
  out.sum = reduced(node, '+', access(out.powers, all), sizes, axes).kept;
  return out;
}

namespace operators {
namespace {

Result<std::vector<bool>> softmax_axes(NodeWriter& node) {
  const bool one = node.version() >= 13;
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", one ? -1 : 1));
  std::vector<bool> axes(static_cast<size_t>(node.rank(0)), false);
  // An axis behind the last one, of a matrix with one column, was allowed.
  if (!one && written == node.rank(0)) return axes;
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  for (size_t d = static_cast<size_t>(axis); d < axes.size(); ++d)
    axes[d] = !one || d == static_cast<size_t>(axis);
  return axes;
}

struct SoftmaxOf {
  DataType type;
  std::string x;
  SoftmaxParts parts;
};

// `kept` is not made wide.
Result<SoftmaxOf> softmax_of(NodeWriter& node, std::optional<DataType> kept = {}) {
  SoftmaxOf out;
  STRIA_ASSIGN(out.x, node.tensor(0));
  out.type = node.type(0).type;
  if (out.type != wide_type(out.type) && out.type != kept) out.x = node.let(wide(out.x, out.type));
  STRIA_ASSIGN(const std::vector<bool> axes, softmax_axes(node));
  out.parts = softmax_parts(node, out.x, node.type(0).sizes, axes);
  return out;
}

}  // namespace

Status softmax(NodeWriter& node) {
  // The standard's cases of bf16 round powers, sum and quotient.
  STRIA_ASSIGN(const SoftmaxOf of, softmax_of(node, DataType::bf16));
  return node.result(0, narrow(fmt::format("({} / {})", of.parts.powers, of.parts.sum), of.type));
}

Status log_softmax(NodeWriter& node) {
  STRIA_ASSIGN(const SoftmaxOf of, softmax_of(node));
  const std::string out = fmt::format("({} - log({}))", of.parts.shifted, of.parts.sum);
  return node.result(0, narrow(out, of.type));
}

// 1 at the first of the largest elements, 0 elsewhere.
Status hardmax(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::vector<bool> axes, softmax_axes(node));
  const Sizes& sizes = node.type(0).sizes;
  const Forms all = indices("i", sizes.size());
  const std::string top = reduced(node, '>', access(x, all), sizes, axes).kept;
  std::string place = "0";
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (!axes[d]) continue;
    place += fmt::format(" + {} * index({}, {})", stride, x, d);
    stride *= sizes[d];
  }
  const std::string at = node.let(fmt::format("{} == {} ? {} : {}", x, top, place, stride));
  const std::string first = reduced(node, '<', access(at, all), sizes, axes).kept;
  // A constant beside x takes its type.
  return node.result(0, fmt::format("{} == {} ? (0 ? {} : 1) : 0", at, first, x));
}

}  // namespace operators
}  // namespace stria::onnx
