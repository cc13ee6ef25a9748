// SPDX-License-Identifier: Apache-2.0
// Det: elimination with pivots, a column at a time. Rows stay where they are: those that were
// pivots are marked, and the sign counts the rows that each pivot is moved over.
#include <fmt/format.h>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

// A step is about ten statements.
constexpr int64_t kMostRows = 128;

}  // namespace

Status determinant(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  const Sizes& sizes = node.type(0).sizes;
  const size_t rank = sizes.size();
  if (rank < 2 || sizes[rank - 1] != sizes[rank - 2])
    return node.error("its input is no tensor of square matrices");
  const int64_t rows = sizes[rank - 1];
  if (rows > kMostRows)
    return node.not_supported(fmt::format("matrices of {} rows; at most {}", rows, kMostRows));
  if (rows == 0) return node.not_supported("matrices without rows");
  const Sizes result(sizes.begin(), sizes.end() - 2);
  const int64_t batch = element_count(result);
  std::string a = node.let(reshaped(wide(x, type), {batch, rows, rows}));
  const std::vector<bool> over_rows = {false, true};
  const Sizes column_sizes = {batch, rows};
  const auto over = [&](char aggregation, const std::string& of) {
    return reduced(node, aggregation, of + "[i0, i1]", column_sizes, over_rows).kept;
  };
  std::string out = node.let("1"), used;
  for (int64_t k = 0; k < rows; ++k) {
    const std::string column =
        contract(node, '=', {"b", "r"}, column_sizes, fmt::format("{}[b, r, {}]", a, k));
    const std::string absolute =
        node.let(used.empty() ? fmt::format("abs({})", column)
                              : fmt::format("{} ? -1 : abs({})", used, column));
    const std::string top = over('>', absolute);
    const std::string place =
        node.let(fmt::format("{} == {} ? index({}, 1) : {}", absolute, top, column, rows));
    const std::string first = over('<', place);
    const std::string hit = node.let(fmt::format("index({}, 1) == {}", column, first));
    const std::string pivot = over('+', node.let(fmt::format("{} ? {} : 0", hit, column)));
    const std::string before =
        node.let(fmt::format("(index({}, 1) < {}){} ? 1 : 0", column, first,
                             used.empty() ? "" : fmt::format(" && !{}", used)));
    const std::string moved = over('+', before);
    out = node.let(fmt::format("{} * ({} % 2 == 1 ? -{} : {})", out, moved, pivot, pivot));
    if (k + 1 == rows) break;
    used =
        node.let(used.empty() ? fmt::format("{} || 0", hit) : fmt::format("{} || {}", used, hit));
    const std::string masked =
        node.let(fmt::format("{} ? {} : 0", reshaped(hit, {batch, rows, 1}), a));
    const std::string row =
        contract(node, '+', {"b", "0", "c"}, {batch, 1, rows}, masked + "[b, r, c]");
    const std::string factor =
        node.let(fmt::format("{} || {} == 0 ? 0 : {} / {}", used, pivot, column, pivot));
    a = node.let(fmt::format("{} - {} * {}", a, reshaped(factor, {batch, rows, 1}), row));
  }
  return node.result(0, narrow(reshaped(out, result), type));
}

}  // namespace stria::onnx::operators
