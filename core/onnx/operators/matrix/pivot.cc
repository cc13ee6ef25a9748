// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/matrix/pivot.h"

#include <fmt/format.h>

namespace stria::onnx {

Pivot pivot_of(NodeWriter& node, const std::string& a, const Sizes& batch_rows, int64_t k,
               const std::string& used) {
  const auto over_rows = [&](char aggregation, const std::string& of) {
    return reduced(node, aggregation, of + "[i0, i1]", batch_rows, {false, true}).kept;
  };
  Pivot out;
  out.column = contract(node, '=', {"b", "r"}, batch_rows, fmt::format("{}[b, r, {}]", a, k));
  const std::string absolute =
      node.let(used.empty() ? fmt::format("abs({})", out.column)
                            : fmt::format("{} ? -1 : abs({})", used, out.column));
  const std::string top = over_rows('>', absolute);
  // NaN is equal to nothing, and has to reach the result.
  const std::string place = node.let(fmt::format("{0} == {1} || {0} != {0} ? index({2}, 1) : {3}",
                                                 absolute, top, out.column, batch_rows[1]));
  out.first = over_rows('<', place);
  out.hit = node.let(fmt::format("index({}, 1) == {}", out.column, out.first));
  out.value = over_rows('+', node.let(fmt::format("{} ? {} : 0", out.hit, out.column)));
  return out;
}

std::string with_pivot(NodeWriter& node, const std::string& used, const Pivot& pivot) {
  return node.let(used.empty() ? fmt::format("{} || 0", pivot.hit)
                               : fmt::format("{} || {}", used, pivot.hit));
}

Result<int64_t> square_rows(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  const Sizes& sizes = node.type(0).sizes;
  const size_t rank = sizes.size();
  if (rank < 2 || sizes[rank - 1] != sizes[rank - 2])
    return node.error("its input is no tensor of square matrices");
  const int64_t rows = sizes[rank - 1];
  if (rows > kMostPivots)
    return node.not_supported(fmt::format("matrices of {} rows; at most {}", rows, kMostPivots));
  if (rows == 0) return node.not_supported("matrices without rows");
  return rows;
}

}  // namespace stria::onnx
