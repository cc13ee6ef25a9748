// SPDX-License-Identifier: Apache-2.0
// TopK: the largest or smallest elements of each row, in order.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

// Each element of a row is compared with each. Longer rows are cut first: only the best of a part
// can be among the best of all.
constexpr int64_t kMostCompared = 1024;

struct LongRows {
  std::string values;  // [rows, size]
  int64_t rows, size;
};

// Positions of the `count` best in each row, best first; the first of equal ones. NaN counts as
// larger than all numbers.
Result<std::string> best(NodeWriter& node, const LongRows& of, int64_t count, bool largest) {
  const auto [values, rows, size] = of;
  const std::string mine = node.let(reshaped(values, {rows, size, 1}));
  const std::string other = node.let(reshaped(values, {rows, 1, size}));
  const auto above = [&](const std::string& a, const std::string& b) {
    return is_float(node.type(0).type)
               ? fmt::format("({0} > {1} || ({0} != {0} && {1} == {1}))", a, b)
               : fmt::format("({} > {})", a, b);
  };
  Sizes numbers;
  for (int64_t p = 0; p < size; ++p) numbers.push_back(p);
  STRIA_ASSIGN(HostTensor table, integer_table(numbers, {size}));
  const std::string place = node.constant(std::move(table));
  // Of equal ones, those that lie before it are ahead.
  const std::string before =
      node.let(fmt::format("{} < {}", reshaped(place, {1, size}), reshaped(place, {size, 1})));
  const std::string better = largest ? above(other, mine) : above(mine, other);
  const std::string worse = largest ? above(mine, other) : above(other, mine);
  const std::string ahead = node.let(fmt::format("{} || ({} && !{})", better, before, worse));
  const std::string rank = node.fresh();
  node.line(fmt::format("{}[b, i : {}, {}] = +({}[b, i, j]);", rank, rows, size, ahead));
  const std::string chosen = node.fresh();
  node.line(fmt::format("{}[b, k : {}, {}] = +({}[b, i] == {}[k] ? {}[i]);", chosen, rows, count,
                        rank, place, place));
  return chosen;
}

// Elements of each row at positions [rows, count].
std::string picked(NodeWriter& node, const std::string& values, int64_t rows, int64_t size,
                   const std::string& positions) {
  const std::string line = node.let(reshaped(values, {rows * size}));
  return node.let(
      fmt::format("gather({}, index({}, 0) * {} + {})", line, positions, size, positions));
}

// What is worse than, or as good as and behind, every element.
Result<HostTensor> worst(DataType type, bool largest) {
  double value =
      largest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (is_float(type)) return number_table(type, {value}, {});
  const int bits = static_cast<int>(byte_size(type)) * 8;
  const bool is_signed = is_signed_integer(type);
  STRIA_ASSIGN(HostTensor out, HostTensor::create(type, {}, "worst"));
  const uint64_t most = ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  const uint64_t least = is_signed ? ~most : 0;
  store_scalar(type, out.data(), 0,
               Scalar::of_int(type, static_cast<int64_t>(largest ? least : most)));
  return out;
}

}  // namespace

Status top_k(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  int64_t count = 0;
  if (node.version() < 10) {
    STRIA_ASSIGN(count, node.integer_attribute("k", -1));
  } else {
    STRIA_ASSIGN(count, node.integer(1));
  }
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", -1));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  STRIA_ASSIGN(const int64_t largest, node.integer_attribute("largest", 1));
  const Sizes& sizes = node.type(0).sizes;
  const auto a = static_cast<size_t>(axis);
  const int64_t size = sizes[a];
  if (count < 0 || count > size)
    return node.error(fmt::format("the best {} of {} elements", count, size));
  // The axis comes last, as rows.
  Sizes order, moved_sizes, back(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d)
    if (d != a) order.push_back(static_cast<int64_t>(d));
  order.push_back(axis);
  for (size_t d = 0; d < order.size(); ++d) {
    back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    moved_sizes.push_back(sizes[static_cast<size_t>(order[d])]);
  }
  const std::string turned = a + 1 == sizes.size() ? x : transposed(node, x, order, sizes);
  const int64_t rows = size == 0 ? 0 : product(sizes) / size;
  LongRows left{node.let(reshaped(turned, {rows, size})), rows, size};
  const std::string all = left.values;
  std::string positions;  // of what is left in the whole rows
  const int64_t part = std::max(kMostCompared, 2 * count);
  while (left.size > part) {
    const int64_t parts = (left.size + part - 1) / part;
    if (parts * part != left.size) {
      STRIA_ASSIGN(HostTensor last, worst(node.type(0).type, largest != 0));
      const Sizes longer = {rows, parts * part};
      const std::string rest = moved(node, node.constant(std::move(last)), {}, {"b", "i"}, longer);
      left.values = moved(node, left.values, {"b", "i"}, {"b", "i"}, longer, " default " + rest);
      if (!positions.empty())
        positions =
            moved(node, positions, {"b", "i"}, {"b", "i"}, longer, " default " + node.let("0"));
      left.size = parts * part;
    }
    const LongRows cut{node.let(reshaped(left.values, {rows * parts, part})), rows * parts, part};
    STRIA_ASSIGN(const std::string inside, best(node, cut, count, largest != 0));
    const Sizes kept = {rows, parts * count};
    const std::string in_row = node.let(
        reshaped(fmt::format("{} + index({}, 0) % {} * {}", inside, inside, parts, part), kept));
    positions = positions.empty() ? in_row : picked(node, positions, rows, left.size, in_row);
    left = {picked(node, left.values, rows, left.size, in_row), rows, parts * count};
  }
  STRIA_ASSIGN(const std::string chosen, best(node, left, count, largest != 0));
  positions = positions.empty() ? chosen : picked(node, positions, rows, left.size, chosen);
  const std::string values = picked(node, all, rows, size, positions);
  moved_sizes.back() = count;
  const auto finished = [&](const std::string& result) {
    const std::string whole = node.let(reshaped(result, moved_sizes));
    return a + 1 == sizes.size() ? whole : transposed(node, whole, back, moved_sizes);
  };
  STRIA_RETURN_IF_ERROR(node.result(0, finished(values)));
  return node.result(1, finished(positions));
}

}  // namespace stria::onnx::operators
