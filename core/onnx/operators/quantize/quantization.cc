// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/quantize/quantization.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/operators/types/conversion.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx {
namespace {

// Each element of `scale` along `axis` `block` times.
std::string repeated(NodeWriter& node, const std::string& scale, const std::vector<int64_t>& sizes,
                     size_t axis, int64_t block) {
  std::vector<std::string> from, to;
  for (size_t d = 0; d < sizes.size(); ++d) {
    from.push_back(fmt::format("i{}", d));
    to.push_back(d == axis ? fmt::format("{} * i{} + b", block, d) : from.back());
  }
  const std::string out = node.fresh();
  node.line(fmt::format("{}[{} : {}] = =({}[{}]), b < {};", out, fmt::join(to, ", "),
                        fmt::join(sizes, ", "), scale, fmt::join(from, ", "), block));
  return out;
}

}  // namespace

Result<std::string> spread(NodeWriter& node, int i, const Granularity& granularity) {
  STRIA_ASSIGN(const std::string scale, node.tensor(i));
  const std::vector<int64_t>& own = node.type(i).sizes;
  const std::vector<int64_t>& sizes = granularity.sizes;
  if (own.empty()) return scale;
  if (own.size() == 1 && own[0] == 1) return node.let(reshaped(scale, {}));
  STRIA_ASSIGN(const int64_t found,
               node.axis(granularity.axis, static_cast<int64_t>(sizes.size())));
  const auto axis = static_cast<size_t>(found);
  const auto wrong = [&] {
    return node.error(fmt::format("input {} has sizes [{}], which fit no axis {} of [{}]", i,
                                  fmt::join(own, ", "), found, fmt::join(sizes, ", ")));
  };
  if (own.size() == 1 && (sizes.size() > 1 || granularity.block_size == 0)) {
    if (own[0] != sizes[axis]) return wrong();
    std::vector<int64_t> ones(sizes.size(), 1);
    ones[axis] = own[0];
    return node.let(reshaped(scale, ones));
  }
  if (own.size() != sizes.size()) return wrong();
  for (size_t d = 0; d < sizes.size(); ++d)
    if (d != axis && own[d] != sizes[d]) return wrong();
  if (own[axis] == sizes[axis] || sizes[axis] == 0) return scale;
  const int64_t blocks = own[axis];
  if (blocks == 0) return wrong();
  const int64_t block =
      granularity.block_size ? granularity.block_size : (sizes[axis] + blocks - 1) / blocks;
  if (block <= 0 || (sizes[axis] + block - 1) / block != blocks) return wrong();
  return repeated(node, scale, sizes, axis, block);
}

// Next to n + 1/2, where n is what the device's quotient says, the exact remainder of x decides.
// The middle has few digits, so its products with the scale's digits, eight at a time, are exact.
// Half the distance of fp32 numbers there is what a correctly rounded quotient takes for the
// middle.
std::string rounded_quotient(NodeWriter& node, const std::string& x, const std::string& scale) {
  const auto first_digits = [&](const std::string& of) {
    return node.let(cast(cast(of, DataType::bf16), DataType::fp32));
  };
  const std::string high = first_digits(scale);
  const std::string rest = node.let(fmt::format("{} - {}", scale, high));
  const std::string mid = first_digits(rest);
  const std::string low = node.let(fmt::format("{} - {}", rest, mid));
  const std::string size = node.let(fmt::format("abs({})", x));
  const std::string below = node.let(fmt::format("floor(min({} / {}, 511.0))", size, scale));
  const std::string middle = node.let(fmt::format("{} + 0.5", below));
  std::string remainder = size;
  for (const std::string& digits : {high, mid, low})
    remainder = node.let(fmt::format("{} - {} * {}", remainder, middle, digits));
  std::string distance = number(std::ldexp(1, 8 - 24));
  for (int power = 8; power >= 0; --power)
    distance = fmt::format("{} < {} ? {} : ({})", below, number(std::ldexp(1, power)),
                           number(std::ldexp(1, power - 1 - 24)), distance);
  const std::string near = node.let(fmt::format("{} * ({})", scale, distance));
  const std::string even = fmt::format("2.0 * floor({} * 0.5 + 0.5)", below);
  const std::string whole = node.let(
      fmt::format("{0} > {1} ? {2} + 1.0 : {0} < -{1} ? {2} : {3}", remainder, near, below, even));
  return node.let(fmt::format("{} < 0.0 ? -{} : {}", x, whole, whole));
}

std::string saturated(NodeWriter& node, const std::string& whole, const std::string& zero_point,
                      ElementType type) {
  const DataType held = *tile_type_of(type);
  const std::string rounded = node.let(whole);
  if (bits_of(type) >= 32) {
    // fp32 does not have the limits: the conversion saturates.
    const std::string integers = cast(rounded, held);
    return zero_point.empty() ? integers : fmt::format("{} + {}", integers, zero_point);
  }
  const IntegerRange range = range_of(type);
  const std::string moved =
      zero_point.empty()
          ? cast(rounded, DataType::fp32)
          : fmt::format("{} + {}", cast(rounded, DataType::fp32), cast(zero_point, DataType::fp32));
  return cast(fmt::format("max(min({}, {}), {})", moved, number(static_cast<double>(range.highest)),
                          number(static_cast<double>(range.lowest))),
              held);
}

Result<std::string> centered(NodeWriter& node, int i, const std::string& spread_zero_point) {
  STRIA_ASSIGN(const std::string x, node.tensor(i));
  if (spread_zero_point.empty()) return x;
  const DataType type = byte_size(node.type(i).type) == 1 ? DataType::i16 : DataType::i32;
  return node.let(fmt::format("{} - {}", cast(x, type), cast(spread_zero_point, type)));
}

Result<std::string> unpacked(NodeWriter& node, const std::string& bytes, int64_t rows,
                             int64_t count, int64_t bits) {
  if (bits == 8) return node.let(reshaped(bytes, {rows, count}));
  std::vector<uint8_t> shifts;
  for (int64_t shift = 0; shift < 8; shift += bits) shifts.push_back(static_cast<uint8_t>(shift));
  const auto each = static_cast<int64_t>(shifts.size());
  STRIA_ASSIGN(const std::string places, table(node, shifts, {1, 1, each}));
  const std::string column = node.let(reshaped(bytes, {rows, count, 1}));
  const std::string parts =
      node.let(fmt::format("({} >> {}) & {}", column, places, (1 << bits) - 1));
  return node.let(reshaped(parts, {rows, count * each}));
}

Result<DynamicRange> dynamic_range(NodeWriter& node, const std::string& x,
                                   const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  // The range has 0 in it, and nothing else if there are no elements.
  std::string largest = "0.0", smallest = "0.0";
  if (count > 0) {
    const std::string flat = node.let(reshaped(x, {count}));
    largest = node.fresh();
    smallest = node.fresh();
    node.line(fmt::format("{}[] = >({}[i]);", largest, flat));
    node.line(fmt::format("{}[] = <({}[i]);", smallest, flat));
  }
  DynamicRange out;
  const std::string low = node.let(fmt::format("min({}, 0.0)", smallest));
  const std::string range = node.let(fmt::format("max({}, 0.0) - {}", largest, low));
  out.scale = node.let(fmt::format("{0} == 0.0 ? 1.0 : {0} / 255.0", range));
  const std::string below = node.let("-" + low);
  out.zero_point =
      node.let(saturated(node, rounded_quotient(node, below, out.scale), "", ElementType::u8));
  return out;
}

}  // namespace stria::onnx
