// SPDX-License-Identifier: Apache-2.0
// BitCast: the pattern of an element as another type as wide. Tile has no such function. Floats are
// taken apart and put together by arithmetic that is exact. A NaN becomes the quiet NaN without a
// sign.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/operators/types/conversion.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/onnx/translate/small_float.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

struct Layout {
  int width, fraction_bits, bias;
  int64_t nan = 0;
  DataType real = DataType::fp32, word = DataType::u32;  // in which it is computed
  int64_t special_exponent() const { return (int64_t{1} << (width - 1 - fraction_bits)) - 1; }
};

std::optional<Layout> layout_of(ElementType type) {
  switch (type) {
    case ElementType::fp64:
      return Layout{64, 52, 1023, 0x7ff8000000000000, DataType::fp64, DataType::u64};
    case ElementType::fp32: return Layout{32, 23, 127, 0x7fc00000};
    case ElementType::fp16: return Layout{16, 10, 15, 0x7e00};
    case ElementType::bf16: return Layout{16, 7, 127, 0x7fc0};
    case ElementType::fp8e8m0: return Layout{8, 0, 127, 0xff};
    default: break;
  }
  const SmallFloat* const format = small_float_of(type);
  if (!format) return std::nullopt;
  const int64_t nan = format->special == SmallFloat::Special::zero_nan ? 0x80
                      : format->special == SmallFloat::Special::ieee   ? 0x7e
                                                                       : 0x7f;
  return Layout{bits_of(type), format->fraction_bits, format->bias, nan};
}

// The pattern of `x`, of type Layout::word.
std::string pattern_of(NodeWriter& node, const std::string& x, const Layout& layout) {
  const std::string real = node.let(stria::onnx::cast(x, layout.real));
  const std::string size = node.let(fmt::format("abs({})", real));
  const int lowest = 1 - layout.bias;
  // `value` gets the exponent's steps, down to the smallest normal number; `scaled` those, too.
  std::string value = node.let(fmt::format("max({}, {})", size, number(std::ldexp(1, lowest))));
  std::string scaled = size;
  std::string exponent = node.let(fmt::format("0 ? as_int({}, 32) : 0", size));
  const int most = layout.real == DataType::fp64 ? 512 : 64;
  for (const bool up : {true, false})
    for (int step = most; step > 0; step /= 2) {
      const std::string where =
          node.let(up ? fmt::format("{} < {}", value, number(std::ldexp(1, 1 - step)))
                      : fmt::format("{} >= {}", value, number(std::ldexp(1, step))));
      const std::string factor = number(std::ldexp(1, up ? step : -step));
      value = node.let(fmt::format("{0} ? {1} * {2} : {1}", where, value, factor));
      scaled = node.let(fmt::format("{0} ? {1} * {2} : {1}", where, scaled, factor));
      exponent =
          node.let(fmt::format("{0} ? {1} {2} {3} : {1}", where, exponent, up ? '-' : '+', step));
    }
  // The leading digit of a normal number adds one to the exponent.
  const std::string digits = stria::onnx::cast(
      fmt::format("{} * {}", scaled, number(std::ldexp(1, layout.fraction_bits))), layout.word);
  const std::string field =
      stria::onnx::cast(fmt::format("{} + {}", exponent, layout.bias - 1), layout.word);
  const std::string finite =
      node.let(fmt::format("({} << {}) + {}", field, layout.fraction_bits, digits));
  const std::string infinity = fmt::format(
      "({} << {})", stria::onnx::cast(fmt::to_string(layout.special_exponent()), layout.word),
      layout.fraction_bits);
  const std::string largest =
      number(layout.real == DataType::fp64 ? std::numeric_limits<double>::max()
                                           : std::numeric_limits<float>::max());
  const std::string negative =
      node.let(fmt::format("{0} < 0.0 || ({0} == 0.0 && recip({0}) < 0.0)", real));
  const std::string one = stria::onnx::cast("1", layout.word);
  const std::string sign =
      fmt::format("(({} ? {} : {} - {}) << {})", negative, one, one, one, layout.width - 1);
  return node.let(fmt::format("{0} != {0} ? {1} : ({2} > {3} ? {4} : {5}) + {6}", real,
                              stria::onnx::cast(fmt::to_string(layout.nan), layout.word), size,
                              largest, infinity, finite, sign));
}

Result<std::string> constant(NodeWriter& node, double value) {
  STRIA_ASSIGN(HostTensor one, HostTensor::create(DataType::fp32, {}, "constant"));
  store_scalar(DataType::fp32, one.data(), 0, Scalar::of_float(DataType::fp32, value));
  return node.constant(std::move(one));
}

// The number that the pattern `word` of a float of 16 bits or more means.
Result<std::string> number_of(NodeWriter& node, const std::string& word, const Layout& layout) {
  const std::string one = stria::onnx::cast("1", layout.word);
  const std::string fraction =
      node.let(fmt::format("{} & (({} << {}) - {})", word, one, layout.fraction_bits, one));
  const std::string field = node.let(fmt::format("as_int(({} >> {}) & {}, 32)", word,
                                                 layout.fraction_bits, layout.special_exponent()));
  std::string value =
      node.let(stria::onnx::cast(fmt::format("{} == 0 ? {} : {} + ({} << {})", field, fraction,
                                             fraction, one, layout.fraction_bits),
                                 layout.real));
  const std::string exponent =
      node.let(fmt::format("max({}, 1) - {}", field, layout.bias + layout.fraction_bits));
  const std::string steps = node.let(fmt::format("abs({})", exponent));
  const int most = layout.real == DataType::fp64 ? 1024 : 128;
  for (int step = most; step > 0; step /= 2) {
    // The largest step is twice its half: its own power is no normal number.
    const int times = step == most ? 2 : 1;
    const double power = std::ldexp(1, step / times);
    const std::string where = node.let(fmt::format("({} & {}) != 0", steps, step));
    const std::string factor = node.let(
        fmt::format("{} ? ({} < 0 ? {} : {}) : {}", where, exponent, typed(1 / power, layout.real),
                    typed(power, layout.real), typed(1, layout.real)));
    for (int k = 0; k < times; ++k) value = node.let(fmt::format("{} * {}", value, factor));
  }
  STRIA_ASSIGN(const std::string nan, constant(node, std::numeric_limits<double>::quiet_NaN()));
  STRIA_ASSIGN(const std::string infinity, constant(node, std::numeric_limits<double>::infinity()));
  value = node.let(fmt::format("{} != {} ? {} : {} != 0 ? {} : {}", field,
                               layout.special_exponent(), value, fraction, nan, infinity));
  return node.let(fmt::format("({} >> {}) != 0 ? -{} : {}", word, layout.width - 1, value, value));
}

// Of a float below 16 bits: one of 256 numbers at most.
Result<std::string> looked_up(NodeWriter& node, const std::string& word, ElementType type) {
  const int64_t count = int64_t{1} << bits_of(type);
  STRIA_ASSIGN(HostTensor table, HostTensor::create(DataType::fp32, {count}, "numbers"));
  for (int64_t k = 0; k < count; ++k)
    store_scalar(
        DataType::fp32, table.data(), k,
        Scalar::of_float(DataType::fp32, small_float_from_bits(type, static_cast<uint32_t>(k))));
  const std::string numbers = node.constant(std::move(table));
  return fmt::format("gather({}, {})", numbers, node.let(word));
}

}  // namespace

Status bit_cast(NodeWriter& node) {
  STRIA_ASSIGN(const ElementType to, type_attribute(node, "to", ElementType::undefined));
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  const ElementType from = node.element(0);
  if (bits_of(from) != bits_of(to) || bits_of(to) == 0)
    return node.error(
        fmt::format("elements of {} and {} are not as wide", name_of(from), name_of(to)));
  const std::optional<DataType> target = tile_type_of(to);
  if (!target) return node.not_supported(fmt::format("a cast to {}", name_of(to)));
  if (from == to) return node.result_value(0, node.value(0));
  const std::optional<Layout> source = layout_of(from), wanted = layout_of(to);
  if (!source && !wanted) {
    STRIA_ASSIGN(const std::string y, converted(node, x, from, to));
    return node.result(0, y, to);
  }
  const DataType word = bits_of(to) == 64 ? DataType::u64 : DataType::u32;
  std::string pattern = x;
  if (source) {
    pattern = pattern_of(node, x, *source);
  } else {
    pattern = node.let(stria::onnx::cast(x, word));
    if (bits_of(to) < 32)
      pattern = node.let(fmt::format("{} & {}", pattern, (int64_t{1} << bits_of(to)) - 1));
  }
  if (!wanted) {
    STRIA_ASSIGN(const std::string y, converted(node, pattern, element_type_of(word), to));
    return node.result(0, y, to);
  }
  if (bits_of(to) < 16) {
    STRIA_ASSIGN(const std::string y, looked_up(node, pattern, to));
    return node.result(0, y, to);
  }
  STRIA_ASSIGN(const std::string y, number_of(node, pattern, *wanted));
  return node.result(0, stria::onnx::cast(y, *target), to);
}

}  // namespace stria::onnx::operators
