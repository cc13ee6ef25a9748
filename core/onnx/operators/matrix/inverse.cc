// SPDX-License-Identifier: Apache-2.0
// Inverse of com.microsoft: the same steps on a matrix and on the unit matrix beside it, until the
// first is the second.
#include <fmt/format.h>

#include "stria/onnx/operators/matrix/pivot.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {

Status inverse(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t rows, square_rows(node));
  const DataType type = node.type(0).type;
  const Sizes& sizes = node.type(0).sizes;
  const int64_t batch = element_count({sizes.begin(), sizes.end() - 2});
  const Sizes both = {batch, rows, 2 * rows}, column_sizes = {batch, rows};
  const std::string left = node.let(reshaped(wide(x, type), {batch, rows, rows}));
  const std::string zero = node.let("0");
  const std::string padded =
      contract(node, '=', {"b", "r", "c"}, both, left + "[b, r, c]", {}, zero);
  std::string a =
      node.let(fmt::format("index({0}, 2) == index({0}, 1) + {1} ? 1 : {0}", padded, rows));
  // Which pivot each row was.
  std::string used, step = node.let(fmt::format("index({0}, 1) * 0", left));
  step = contract(node, '=', {"b", "r"}, column_sizes, step + "[b, r, 0]");
  for (int64_t k = 0; k < rows; ++k) {
    const Pivot of = pivot_of(node, a, column_sizes, k, used);
    used = with_pivot(node, used, of);
    step = node.let(fmt::format("{} ? {} : {}", of.hit, k, step));
    const std::string hit = node.let(reshaped(of.hit, {batch, rows, 1}));
    const std::string masked = node.let(fmt::format("{} ? {} : 0", hit, a));
    const std::string row =
        contract(node, '+', {"b", "0", "c"}, {batch, 1, 2 * rows}, masked + "[b, r, c]");
    const std::string unit =
        node.let(fmt::format("{} / {}", row, reshaped(of.value, {batch, 1, 1})));
    a = node.let(fmt::format("{} ? {} : {} - {} * {}", hit, unit, a,
                             reshaped(of.column, {batch, rows, 1}), unit));
  }
  // Row k of the inverse stands where pivot k was.
  const std::string which = node.let(
      fmt::format("{} == index({}, 1) ? 1.0 : 0.0", reshaped(step, {batch, 1, rows}), left));
  const std::string y = contract(node, '+', {"b", "k", "c"}, {batch, rows, rows},
                                 fmt::format("{}[b, k, r] * {}[b, r, c + {}]", which, a, rows));
  return node.result(0, narrow(reshaped(y, sizes), type));
}

}  // namespace stria::onnx::operators
