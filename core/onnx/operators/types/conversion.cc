// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/types/conversion.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/onnx/translate/small_float.h"
#include "stria/type/scalar.h"

namespace stria::onnx {
namespace {

// A float that has no literal, as a tensor of rank 0.
Result<std::string> special(NodeWriter& node, double value) {
  STRIA_ASSIGN(HostTensor one, HostTensor::create(DataType::fp32, {}, "constant"));
  store_scalar(DataType::fp32, one.data(), 0, Scalar::of_float(DataType::fp32, value));
  return node.constant(std::move(one));
}

// `factor` times `of` where `where` holds.
std::string times_where(NodeWriter& node, const std::string& where, const std::string& of,
                        double factor) {
  return node.let(fmt::format("{0} ? {1} * {2} : {1}", where, of, number(factor)));
}

// value * power is the number.
struct Scaled {
  std::string value, power;
};

// To 1 <= value < 2. Powers of two leave every digit as it is, so the steps are exact. `value` is
// at least 1.
Scaled divided_down(NodeWriter& node, Scaled at, int most) {
  for (int step = most; step > 0; step /= 2) {
    const double power = std::ldexp(1, step);
    const std::string large = node.let(fmt::format("{} >= {}", at.value, number(power)));
    at.value = times_where(node, large, at.value, 1 / power);
    at.power = times_where(node, large, at.power, power);
  }
  return at;
}

// The nearest number of the format, the even one of two. `x` is fp32 or fp64.
Result<std::string> rounded(NodeWriter& node, const std::string& x, const SmallFloat& format,
                            bool saturate) {
  const std::string near =
      node.let(fmt::format("abs(round_binary({}, {}, {}, {}))", x, format.fraction_bits,
                           format.lowest_exponent(), format.highest_exponent()));
  // Formats without special numbers always saturate, and have 0 for NaN.
  const bool finite = format.special == SmallFloat::Special::none;
  std::string beyond = number(format.largest);
  if (!saturate && !finite) {
    const bool infinite = format.special == SmallFloat::Special::ieee;
    STRIA_ASSIGN(beyond, special(node, infinite ? std::numeric_limits<double>::infinity()
                                                : std::numeric_limits<double>::quiet_NaN()));
  }
  std::string limited =
      node.let(fmt::format("{0} > {1} ? {2} : {0}", near, number(format.largest), beyond));
  if (finite) limited = node.let(fmt::format("{0} != {0} ? 0.0 : {0}", limited));
  std::string zero = x + " * 0.0";
  if (finite) zero = fmt::format("({} != {} ? 0.0 : {})", x, x, zero);
  if (format.special == SmallFloat::Special::zero_nan) zero = "0.0";
  return node.let(fmt::format("{0} == 0.0 ? {1} : {2} < 0.0 ? -{0} : {0}", limited, zero, x));
}

// As the cast to a packed float gives it, but that has no saturation of its own where there is
// something beyond the largest number.
std::string packed_float(NodeWriter& node, const std::string& x, DataType packed,
                         const SmallFloat& format, bool saturate) {
  std::string given = x;
  if (saturate && format.special != SmallFloat::Special::none)
    given = node.let(fmt::format("max(min({0}, {1}), -{1})", x, number(format.largest)));
  return fmt::format("as_float(as_{}({}), 32)", stria::name_of(packed), given);
}

// The power of two that `x` is rounded to.
Result<std::string> power_of_two(NodeWriter& node, const std::string& x, const CastRules& rules) {
  const double lowest = std::ldexp(1, -127), highest = std::ldexp(1, 127);
  const std::string size = node.let(fmt::format("max({}, {})", x, number(lowest)));
  Scaled at{size, node.let(fmt::format("0 ? {} : 1.0", size))};
  for (int step = 64; step > 0; step /= 2) {
    const std::string small =
        node.let(fmt::format("{} < {}", at.value, number(std::ldexp(1, 1 - step))));
    at.value = times_where(node, small, at.value, std::ldexp(1, step));
    at.power = times_where(node, small, at.power, std::ldexp(1, -step));
  }
  at = divided_down(node, at, 64);
  STRIA_ASSIGN(const std::string nan, special(node, std::numeric_limits<double>::quiet_NaN()));
  std::string power = at.power;
  if (rules.round_mode != "down") {
    const std::string limit = rules.round_mode == "up" ? "> 1.0" : ">= 1.5";
    power = node.let(fmt::format("{} {} && {} < {} ? {} * 2.0 : {}", at.value, limit, at.power,
                                 number(highest), at.power, at.power));
  }
  // Beyond: the nearest power that there is, or NaN.
  const std::string outside = rules.saturate ? fmt::format("{} != {}", x, x)
                                             : fmt::format("!({} >= {} && {} <= {})", x,
                                                           number(lowest), x, number(highest));
  return node.let(fmt::format("{} ? {} : {}", outside, nan, power));
}

}  // namespace

IntegerRange range_of(ElementType type) {
  const int bits = bits_of(type);
  const std::optional<DataType> held = tile_type_of(type);
  if (held && is_signed_integer(*held))
    return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  return {0, (int64_t{1} << bits) - 1};
}

Result<std::string> converted(NodeWriter& node, const std::string& x, ElementType from,
                              ElementType to, const CastRules& rules) {
  const std::optional<DataType> source = tile_type_of(from), target = tile_type_of(to);
  if (!source || !target)
    return node.not_supported(fmt::format("a cast of {} to {}", name_of(from), name_of(to)));
  if (from == to) return x;
  const DataType real = *source == DataType::fp64 ? DataType::fp64 : DataType::fp32;
  const DataType outside = *outside_type_of(to);
  if (const SmallFloat* const format = small_float_of(to)) {
    const std::string given = node.let(cast(x, real));
    if (is_packed(outside)) return packed_float(node, given, outside, *format, rules.saturate);
    STRIA_ASSIGN(const std::string near, rounded(node, given, *format, rules.saturate));
    return cast(near, DataType::fp32);
  }
  if (to == ElementType::fp8e8m0)
    return power_of_two(node, node.let(cast(x, DataType::fp32)), rules);
  // Floats become integers first: the standard wraps them.
  if (is_packed(outside))
    return fmt::format("{0}({0}({1}, {2}), 8)", *target == DataType::i8 ? "as_int" : "as_uint",
                       cast(x, DataType::i32), bit_width(outside));
  return cast(x, *target);
}

Result<ElementType> type_attribute(NodeWriter& node, std::string_view name, ElementType otherwise) {
  STRIA_ASSIGN(const int64_t written, node.integer_attribute(name, 0));
  if (written == 0) return otherwise;
  const auto type = static_cast<ElementType>(written);
  if (written < 0 || written > 100 || (bits_of(type) == 0 && type != ElementType::string))
    return node.error(fmt::format("attribute '{}' is {}, which is no type", name, written));
  return type;
}

}  // namespace stria::onnx
