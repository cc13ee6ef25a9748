// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/shape/moves.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "stria/base/status.h"
#include "stria/type/scalar.h"

namespace stria::onnx {

int64_t product(std::span<const int64_t> sizes) {
  int64_t all = 1;
  for (const int64_t size : sizes) all *= size;
  return all;
}

int64_t product(const Sizes& sizes, size_t begin, size_t end) {
  return product(std::span(sizes).subspan(begin, end - begin));
}

std::string list_text(const Sizes& sizes) { return fmt::format("{}", fmt::join(sizes, ", ")); }

std::vector<std::string> index_list(size_t rank) {
  std::vector<std::string> out;
  for (size_t d = 0; d < rank; ++d) out.push_back(fmt::format("i{}", d));
  return out;
}

std::string moved(NodeWriter& node, std::string_view x, const std::vector<std::string>& from,
                  const std::vector<std::string>& to, const Sizes& sizes, std::string_view rest) {
  std::string name = node.fresh();
  const std::string limits = sizes.empty() ? "" : " : " + list_text(sizes);
  node.line(fmt::format("{}[{}{}] = =({}[{}]){};", name, fmt::join(to, ", "), limits, x,
                        fmt::join(from, ", "), rest));
  return name;
}

std::string transposed(NodeWriter& node, std::string_view x, const Sizes& axes,
                       const Sizes& x_sizes) {
  const std::vector<std::string> from = index_list(axes.size());
  std::vector<std::string> to;
  Sizes sizes;
  for (const int64_t axis : axes) {
    to.push_back(from[static_cast<size_t>(axis)]);
    sizes.push_back(x_sizes[static_cast<size_t>(axis)]);
  }
  return moved(node, x, from, to, sizes);
}

std::string expanded(NodeWriter& node, std::string_view x, const Sizes& x_sizes,
                     const Sizes& sizes) {
  const std::vector<std::string> to = index_list(sizes.size());
  std::vector<std::string> from;
  const size_t missing = sizes.size() - x_sizes.size();
  for (size_t d = 0; d < x_sizes.size(); ++d)
    from.push_back(x_sizes[d] == 1 ? "0" : to[d + missing]);
  return moved(node, x, from, to, sizes);
}

std::string sliced(NodeWriter& node, std::string_view x, const Sizes& x_sizes, size_t axis,
                   int64_t start, int64_t step, int64_t size) {
  const std::vector<std::string> to = index_list(x_sizes.size());
  std::vector<std::string> from = to;
  from[axis] = fmt::format("{} {} {} * {}", start, step < 0 ? "-" : "+", std::abs(step), to[axis]);
  Sizes sizes = x_sizes;
  sizes[axis] = size;
  return moved(node, x, from, to, sizes);
}

std::string concatenated(NodeWriter& node, const std::vector<std::string>& tensors,
                         const std::vector<Sizes>& sizes, size_t axis) {
  Sizes all = sizes[0];
  all[axis] = 0;
  for (const Sizes& each : sizes) all[axis] += each[axis];
  const std::vector<std::string> from = index_list(all.size());
  std::string joined;
  int64_t begin = 0;
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (product(sizes[t]) == 0) continue;
    std::vector<std::string> to = from;
    to[axis] = fmt::format("{} + {}", from[axis], begin);
    begin += sizes[t][axis];
    const bool whole = joined.empty() && begin == all[axis];
    if (joined.empty() && !whole) joined = node.let("0");
    joined = moved(node, tensors[t], from, to, all, whole ? "" : " default " + joined);
  }
  return joined.empty() ? reshaped(tensors[0], all) : joined;
}

std::string taken(NodeWriter& node, std::string_view x, const Sizes& x_sizes, size_t axis,
                  std::string_view positions, const Sizes& positions_sizes) {
  const int64_t outer = product(x_sizes, 0, axis);
  const int64_t size = x_sizes[axis];
  Sizes rows(x_sizes.begin() + static_cast<std::ptrdiff_t>(axis), x_sizes.end());
  rows[0] = outer * size;
  Sizes result(x_sizes.begin(), x_sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  result.insert(result.end(), positions_sizes.begin(), positions_sizes.end());
  result.insert(result.end(), rows.begin() + 1, rows.end());
  if (outer == 1) {
    const std::string flat = axis == 0 ? std::string(x) : node.let(reshaped(std::string(x), rows));
    const std::string got = node.let(fmt::format("gather({}, {})", flat, positions));
    return axis == 0 ? got : node.let(reshaped(got, result));
  }
  // Row o * size + p of the flattened tensor, for each o before the axis.
  const int64_t count = product(positions_sizes);
  const std::string line = node.let(reshaped(std::string(positions), {count}));
  const std::string spread = moved(node, line, {"p"}, {"o", "p"}, {outer, count});
  const std::string row =
      node.let(fmt::format("index({0}, 0) * {1} + max(min({0}, {2}), 0)", spread, size, size - 1));
  const std::string flat = node.let(reshaped(std::string(x), rows));
  const std::string got = node.let(fmt::format("gather({}, {})", flat, row));
  return node.let(reshaped(got, result));
}

Status check_table(const NodeWriter& node, const std::string& what,
                   std::initializer_list<int64_t> sizes) {
  constexpr int64_t kMost = int64_t{1} << 26;
  int64_t elements = 1;
  for (const int64_t size : sizes)
    if (__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements) || elements > kMost)
      return node.not_supported(fmt::format("{} needs a table of {} elements, more than {}", what,
                                            fmt::join(sizes, " * "), kMost));
  return {};
}

Result<HostTensor> integer_table(const std::vector<int64_t>& values, const Sizes& sizes) {
  STRIA_ASSIGN(HostTensor out, HostTensor::create(DataType::i64, sizes, "table"));
  if (!values.empty()) std::memcpy(out.data(), values.data(), values.size() * sizeof(int64_t));
  return out;
}

Result<HostTensor> number_table(DataType type, const std::vector<double>& values,
                                const Sizes& sizes) {
  STRIA_ASSIGN(HostTensor out, HostTensor::create(type, sizes, "table"));
  for (size_t i = 0; i < values.size(); ++i)
    store_scalar(type, out.data(), static_cast<int64_t>(i),
                 Scalar::of_float(DataType::fp64, values[i]));
  return out;
}

}  // namespace stria::onnx
