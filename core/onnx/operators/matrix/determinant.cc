// SPDX-License-Identifier: Apache-2.0
// Det: elimination with pivots, a column at a time. The sign counts the rows that each pivot is
// moved over.
#include <fmt/format.h>

#include "stria/onnx/operators/matrix/pivot.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {

Status determinant(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t rows, square_rows(node));
  const DataType type = node.type(0).type;
  const Sizes& sizes = node.type(0).sizes;
  const Sizes result(sizes.begin(), sizes.end() - 2);
  const int64_t batch = element_count(result);
  std::string a = node.let(reshaped(wide(x, type), {batch, rows, rows}));
  const Sizes column_sizes = {batch, rows};
  std::string out = node.let("1"), used;
  for (int64_t k = 0; k < rows; ++k) {
    const Pivot of = pivot_of(node, a, column_sizes, k, used);
    const std::string before =
        node.let(fmt::format("(index({}, 1) < {}){} ? 1 : 0", of.column, of.first,
                             used.empty() ? "" : fmt::format(" && !{}", used)));
    const std::string moved =
        reduced(node, '+', before + "[i0, i1]", column_sizes, {false, true}).kept;
    out = node.let(fmt::format("{} * ({} % 2 == 1 ? -{} : {})", out, moved, of.value, of.value));
    if (k + 1 == rows) break;
    used = with_pivot(node, used, of);
    const std::string masked =
        node.let(fmt::format("{} ? {} : 0", reshaped(of.hit, {batch, rows, 1}), a));
    const std::string row =
        contract(node, '+', {"b", "0", "c"}, {batch, 1, rows}, masked + "[b, r, c]");
    const std::string factor =
        node.let(fmt::format("{} || {} == 0 ? 0 : {} / {}", used, of.value, of.column, of.value));
    a = node.let(fmt::format("{} - {} * {}", a, reshaped(factor, {batch, rows, 1}), row));
  }
  return node.result(0, narrow(reshaped(out, result), type));
}

}  // namespace stria::onnx::operators
