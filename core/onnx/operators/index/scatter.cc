// SPDX-License-Identifier: Apache-2.0
// Scatter, ScatterElements and ScatterND: a tensor with elements of another one at chosen places.
// Of several updates of one place without a reduction, which the standard leaves open, the last one
// wins, as in ONNX Runtime, if the indices are known or few. Of more that are not known, a row that
// has nothing to do with them comes out: to find the last ones takes longer than the scatter.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "stria/onnx/operators/index/position.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// Rows of a flattened tensor, of `row` elements each.
struct Rows {
  std::string x;          // [count, row]
  std::string positions;  // [updates]
  std::string updates;    // [updates, row]
  int64_t count, row, update_count;
  // The row of update `u` by the elements of input 1; -1: an index is none of its axis.
  std::function<int64_t(const std::vector<int64_t>& indices, int64_t u)> row_of;
};

// For each row of the tensor, 1 + the number of the update that goes there, or 0. `positions` name
// each row once at most: the others are no rows.
std::string update_of_row(NodeWriter& node, const Rows& rows, const std::string& positions) {
  const std::string numbers = node.let(fmt::format("index({}, 0) + 1", positions));
  const std::string line = moved(node, rows.x, {"r", "0"}, {"r"}, {rows.count});
  const std::string from = node.let(fmt::format("scatter({}, {}, {})", numbers, positions, line));
  return node.let(reshaped(from, {rows.count, 1}));
}

std::string row_of_update(NodeWriter& node, const Rows& rows, const std::string& updates,
                          const std::string& from) {
  const std::string line = node.let(reshaped(from, {rows.count}));
  return node.let(fmt::format("gather({}, {} - 1)", updates, line));
}

// Several updates of a row are joined with it by max, min or a product. Each update is joined with
// all others of its row, and the first one of a row writes.
Result<std::string> joined(NodeWriter& node, const Rows& rows, const std::string& reduction) {
  const DataType type = node.type(0).type;
  const int64_t n = rows.update_count;
  const std::string a = node.let(reshaped(rows.positions, {n, 1, 1}));
  const std::string b = node.let(reshaped(rows.positions, {1, n, 1}));
  const std::string mine = node.let(reshaped(rows.updates, {n, 1, rows.row}));
  const std::string other = node.let(reshaped(rows.updates, {1, n, rows.row}));
  std::string all, sign;
  if (reduction == "mul") {
    STRIA_ASSIGN(HostTensor one, number_table(type, {1}, {}));
    const std::string otherwise = node.constant(std::move(one));
    all = node.let(fmt::format("{} == {} ? {} : {}", a, b, other, otherwise));
    sign = "*";
  } else {
    all = node.let(fmt::format("{} == {} ? {} : {}", a, b, other, mine));
    sign = reduction == "max" ? ">" : "<";
  }
  const std::string together = node.fresh();
  node.line(fmt::format("{}[u, r : {}, {}] = {}({}[u, v, r]);", together, n, rows.row, sign, all));
  const std::string earlier = node.fresh();
  const std::string none = node.let("0");  // before the first one
  node.line(fmt::format("{0}[u : {1}] = +({2}[u] == {2}[v]), u - v - 1 < {1} default {3};", earlier,
                        n, rows.positions, none));
  const std::string first = node.let(fmt::format("{} == 0 ? {} : -1", earlier, rows.positions));
  const std::string from = update_of_row(node, rows, first);
  const std::string got = row_of_update(node, rows, together, from);
  const std::string both = reduction == "mul" ? fmt::format("{} * {}", rows.x, got)
                                              : fmt::format("{}({}, {})", reduction, rows.x, got);
  return node.let(stria::onnx::cast(fmt::format("{} > 0 ? {} : {}", from, both, rows.x), type));
}

// Updates of which each is compared with each.
constexpr int64_t kFewUpdates = 64;

// The positions of updates that no later one has, too, and -1 for the others.
Result<std::string> last_positions(NodeWriter& node, const Rows& rows) {
  const int64_t n = rows.update_count;
  if (n < 2) return rows.positions;
  if (node.value(1)->depends_on.empty())
    if (const auto indices = node.integers(1); indices.ok()) {
      std::vector<std::pair<int64_t, int64_t>> updates;  // by row, then by number
      for (int64_t u = 0; u < n; ++u) updates.emplace_back(rows.row_of(*indices, u), u);
      std::sort(updates.begin(), updates.end());
      std::vector<int64_t> last(static_cast<size_t>(n), -1);
      bool several = false;
      for (size_t k = 0; k < updates.size(); ++k) {
        const auto& [row, u] = updates[k];
        if (k + 1 < updates.size() && updates[k + 1].first == row)
          several = true;
        else
          last[static_cast<size_t>(u)] = row;
      }
      if (!several) return rows.positions;
      STRIA_ASSIGN(HostTensor table, integer_table(last, {n}));
      return node.constant(std::move(table));
    }
  if (n > kFewUpdates) return rows.positions;
  const std::string none = node.let("0");  // behind the last one
  const std::string later = node.fresh();
  node.line(fmt::format("{0}[u : {1}] = +({2}[u] == {2}[v]), v - u - 1 < {1} default {3};", later,
                        n, rows.positions, none));
  return node.let(fmt::format("{} == 0 ? {} : -1", later, rows.positions));
}

Status scattered(NodeWriter& node, const Rows& rows) {
  STRIA_ASSIGN(const std::string reduction, node.string_attribute("reduction", "none"));
  std::string y;
  if (reduction == "none") {
    STRIA_ASSIGN(const std::string positions, last_positions(node, rows));
    const std::string from = update_of_row(node, rows, positions);
    const std::string got = row_of_update(node, rows, rows.updates, from);
    y = node.let(fmt::format("{} > 0 ? {} : {}", from, got, rows.x));
  } else if (reduction == "add") {
    y = node.let(stria::onnx::cast(
        fmt::format("{0} + scatter({1}, {2}, {0})", rows.x, rows.updates, rows.positions),
        node.type(0).type));
  } else if (reduction == "mul" || reduction == "max" || reduction == "min") {
    STRIA_ASSIGN(y, joined(node, rows, reduction));
  } else {
    return node.error(fmt::format("reduction '{}'", reduction));
  }
  return node.result(0, reshaped(y, node.type(0).sizes));
}

// Detectors scatter what was found at each scale, which may be nothing.
bool nothing_scattered(const NodeWriter& node) {
  return node.has(2) && product(node.type(2).sizes) == 0 && node.type(2).sizes.size() > 0;
}

}  // namespace

Status scatter_elements(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 0));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  if (nothing_scattered(node)) return node.result(0, x);
  STRIA_ASSIGN(const std::string flat,
               element_positions(node, 1, node.type(0).sizes, static_cast<size_t>(axis)));
  STRIA_ASSIGN(const std::string updates, node.tensor(2));
  if (node.type(2).sizes != node.type(1).sizes)
    return node.error(fmt::format("updates of sizes [{}] for indices of [{}]",
                                  list_text(node.type(2).sizes), list_text(node.type(1).sizes)));
  Rows rows;
  rows.count = product(node.type(0).sizes);
  rows.update_count = product(node.type(1).sizes);
  rows.row = 1;
  rows.x = node.let(reshaped(x, {rows.count, 1}));
  rows.positions = node.let(reshaped(flat, {rows.update_count}));
  rows.updates = node.let(reshaped(updates, {rows.update_count, 1}));
  rows.row_of = [&](const std::vector<int64_t>& all, int64_t u) {
    const Sizes &from = node.type(1).sizes, &to = node.type(0).sizes;
    int64_t at = 0, stride = 1, rest = u;
    for (size_t d = from.size(); d-- > 0; stride *= to[d], rest /= from[d]) {
      const int64_t along = all[static_cast<size_t>(u)];
      const bool here = static_cast<int64_t>(d) == axis;
      if (here && (along < -to[d] || along >= to[d])) return int64_t{-1};
      at += stride * (!here ? rest % from[d] : along < 0 ? along + to[d] : along);
    }
    return at;
  };
  return scattered(node, rows);
}

Status scatter_nd(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  if (nothing_scattered(node)) return node.result(0, x);
  const Sizes& sizes = node.type(0).sizes;
  STRIA_ASSIGN(const RowPositions at, row_positions(node, 1, sizes, 0));
  STRIA_ASSIGN(const std::string updates, node.tensor(2));
  Rows rows;
  rows.count = product(sizes, 0, at.dims);
  rows.row = product(sizes, at.dims, sizes.size());
  rows.update_count = product(at.sizes);
  Sizes wanted = at.sizes;
  wanted.insert(wanted.end(), sizes.begin() + static_cast<std::ptrdiff_t>(at.dims), sizes.end());
  if (node.type(2).sizes != wanted)
    return node.error(fmt::format("updates of sizes [{}], not [{}]", list_text(node.type(2).sizes),
                                  list_text(wanted)));
  rows.x = node.let(reshaped(x, {rows.count, rows.row}));
  rows.positions = node.let(reshaped(at.name, {rows.update_count}));
  rows.updates = node.let(reshaped(updates, {rows.update_count, rows.row}));
  rows.row_of = [&](const std::vector<int64_t>& all, int64_t u) {
    int64_t out = 0;
    for (size_t d = 0; d < at.dims; ++d) {
      const int64_t along = all[static_cast<size_t>(u) * at.dims + d];
      if (along < -sizes[d] || along >= sizes[d]) return int64_t{-1};
      out = out * sizes[d] + (along < 0 ? along + sizes[d] : along);
    }
    return out;
  };
  return scattered(node, rows);
}

}  // namespace stria::onnx::operators
