// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/bind/packed_elements.h"

#include <cmath>
#include <limits>
#include <string>

#include "stria/base/status.h"
#include "stria/builtins/builtin.h"
#include "stria/type/small_float.h"

namespace stria::tile {
namespace {

constexpr DataType kFloat = DataType::fp32, kByte = DataType::u8, kWord = DataType::u32;

// Steps that find an exponent between 0 and `most` by halving what is left.
std::vector<int> halvings(int most) {
  std::vector<int> out;
  for (; most > 0; most /= 2) out.push_back(most - most / 2);
  return out;
}

// A number between the largest one below 2^exponent with `places` and 2^exponent: numbers with so
// many places are on its right side, whatever the error of a device that computed them. One that is
// not rounded yet and lies between rounds to 2^exponent on both sides.
double just_below_power(int exponent, int places) {
  return std::ldexp(1 - std::ldexp(1, -places - 2), exponent);
}

}  // namespace

int PackedElements::constant(const Scalar& value) {
  BoundNode node;
  node.kind = BoundNode::Kind::constant;
  node.type = value.type;
  node.value = value;
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

int PackedElements::number(double value, DataType type) {
  return constant(is_float(type) ? Scalar::of_float(type, value)
                                 : Scalar::of_int(type, static_cast<int64_t>(value)));
}

int PackedElements::call(std::string_view function, DataType type, std::vector<int> args) {
  BoundNode node;
  node.kind = BoundNode::Kind::call;
  node.function = std::string(function);
  node.operation_type = type;
  node.type = result_type(*find_builtin(function), type);
  node.args = std::move(args);
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

int PackedElements::select(int where, int yes, int no) {
  return call("cond", type_of(yes), {where, yes, no});
}

// Not x == x: of a number with an error that would be open to whoever checks the result.
int PackedElements::is_number(int x) {
  const DataType real = type_of(x);
  const int infinity = number(std::numeric_limits<double>::infinity(), real);
  return call("cmp_le", real, {call("abs", real, {x}), infinity});
}

int PackedElements::cast(int x, DataType packed) {
  if (is_float(packed)) return cast_float(x, packed);
  const DataType held = held_type(packed);
  const int bits = bit_width(packed);
  const bool saturates = is_float(type_of(x));
  const int wide = call("ident", held, {x});
  if (saturates) {
    const int64_t highest = (int64_t{1} << (bits - (is_signed_integer(packed) ? 1 : 0))) - 1;
    const int low = call("min", held, {wide, constant(Scalar::of_int(held, highest))});
    if (!is_signed_integer(packed)) return low;
    return call("max", held, {low, constant(Scalar::of_int(held, -highest - 1))});
  }
  if (!is_signed_integer(packed))
    return call("bit_and", held, {wide, number((1 << bits) - 1, held)});
  const int above = number(8 - bits, held);
  return call("bit_right", held, {call("bit_left", held, {wide, above}), above});
}

int PackedElements::rounded_size(int x, const Places& places) {
  const DataType real = type_of(x);
  const int one = number(1, real);
  const int size = call("abs", real, {x});
  // scaled * power * 2^lowest is the size all the time; the scaled one ends below 2, if the size is
  // not beyond the highest exponent.
  int scaled = call("mul", real, {size, number(std::ldexp(1, -places.lowest), real)});
  int power = -1;
  for (const int step : halvings(places.highest - places.lowest)) {
    const int large =
        call("cmp_ge", real, {scaled, number(just_below_power(step, places.count), real)});
    const int down = select(large, number(std::ldexp(1, -step), real), one);
    const int up = select(large, number(std::ldexp(1, step), real), one);
    scaled = call("mul", real, {scaled, down});
    power = power < 0 ? up : call("mul", real, {power, up});
  }
  const int digits =
      call("round", real, {call("mul", real, {scaled, number(std::ldexp(1, places.count), real)})});
  const int unit = number(std::ldexp(1, places.lowest - places.count), real);
  return call("mul", real, {digits, power < 0 ? unit : call("mul", real, {power, unit})});
}

int PackedElements::limited(int size, double limit, double beyond) {
  const DataType real = type_of(size);
  const int over = call("cmp_gt", real, {size, number(limit, real)});
  return select(over, number(beyond, real), size);
}

// Also of -0: some drivers drop the sign of a product with 0, but no sign of an infinity.
int PackedElements::is_negative(int x) {
  const DataType real = type_of(x);
  const int zero = number(0, real);
  const int below = call("cmp_lt", real, {x, zero});
  const int below_zero = call("cmp_lt", real, {call("recip", real, {x}), zero});
  return call("logical_or", DataType::boolean, {below, below_zero});
}

int PackedElements::with_sign_of(int x, int size) {
  return select(is_negative(x), call("neg", type_of(size), {size}), size);
}

int PackedElements::rounded(int x, const Places& places) {
  const int size = rounded_size(x, places);
  const double limit = just_below_power(places.highest + 1, places.count);
  return with_sign_of(x, limited(size, limit, std::numeric_limits<double>::infinity()));
}

int PackedElements::cast_float(int x, DataType packed) {
  const SmallFloat& format = *small_float_of(packed);
  // Rounded once: what fp32 does not have is beyond the largest number, or comes as fp64.
  const DataType real = type_of(x) == DataType::fp64 ? DataType::fp64 : kFloat;
  const int given = call("ident", real, {x});
  const int highest = format.highest_exponent();
  int size = rounded_size(given, {format.fraction_bits, format.lowest_exponent(), highest});
  // Half way to the number that would be next.
  const double limit = format.largest + std::ldexp(1, highest - format.fraction_bits - 1);
  switch (format.special) {
    case SmallFloat::Special::none: size = limited(size, limit, format.largest); break;
    case SmallFloat::Special::ieee:
      size = limited(size, limit, std::numeric_limits<double>::infinity());
      break;
    case SmallFloat::Special::last_nan:
    case SmallFloat::Special::zero_nan:
      size = limited(size, limit, std::numeric_limits<double>::quiet_NaN());
      break;
  }
  int near = with_sign_of(given, size);
  if (format.special == SmallFloat::Special::none)
    near = select(is_number(given), near, number(0, real));
  return real == kFloat ? near : call("ident", kFloat, {near});
}

int PackedElements::decoded(int byte, int shift, DataType packed) {
  const int bits = bit_width(packed);
  const DataType held = held_type(packed);
  if (packed == DataType::i4 || packed == DataType::i2) {
    const int high = call("bit_left", held, {byte, shift});
    return call("bit_right", held, {high, number(8 - bits, held)});
  }
  int pattern = byte;
  if (bits < 8) {
    pattern = call("bit_right", kByte, {byte, shift});
    pattern = call("bit_and", kByte, {pattern, number((1 << bits) - 1, kByte)});
  }
  if (is_integer(packed)) return pattern;
  const SmallFloat& format = *small_float_of(packed);
  const int sign_bit = number(1 << (bits - 1), kWord);
  const int word = call("ident", kWord, {pattern});
  const int rest = call("bit_and", kWord, {word, number((1 << (bits - 1)) - 1, kWord)});
  const int places = number(format.fraction_bits, kWord), one = number(1, kWord);
  // Steps from the smallest exponent, which numbers without a leading one have as well.
  const int field = call("bit_right", kWord, {rest, places});
  const int steps = call("sub", kWord, {call("max", kWord, {field, one}), one});
  const int digits = call("sub", kWord, {rest, call("bit_left", kWord, {steps, places})});
  // An integer with few digits, which a float has exactly.
  const int units = call("bit_left", kWord, {digits, steps});
  const double unit = std::ldexp(1, format.lowest_exponent() - format.fraction_bits);
  int size = call("mul", kFloat, {call("ident", kFloat, {units}), number(unit, kFloat)});
  if (format.special == SmallFloat::Special::ieee) {
    const int infinity = number(format.infinity_bits(), kWord);
    const int infinite = call("cmp_ge", kWord, {rest, infinity});
    size = select(infinite, number(std::numeric_limits<double>::infinity(), kFloat), size);
    const int is_nan = call("cmp_gt", kWord, {rest, infinity});
    size = select(is_nan, number(std::numeric_limits<double>::quiet_NaN(), kFloat), size);
  } else if (format.special == SmallFloat::Special::last_nan) {
    const int is_nan = call("cmp_eq", kWord, {rest, number(format.nan_bits(), kWord)});
    size = select(is_nan, number(std::numeric_limits<double>::quiet_NaN(), kFloat), size);
  }
  const int negative = call("cmp_ge", kWord, {word, sign_bit});
  return select(negative, call("neg", kFloat, {size}), size);
}

int PackedElements::encoded(int x, DataType packed) {
  const int bits = bit_width(packed);
  if (is_integer(packed)) {
    const int byte = call("ident", kByte, {x});
    return call("bit_and", kByte, {byte, number((1 << bits) - 1, kByte)});
  }
  const SmallFloat& format = *small_float_of(packed);
  const int places = format.fraction_bits, lowest = format.lowest_exponent();
  const int one = number(1, kFloat), none = number(0, kWord);
  const int size = call("abs", kFloat, {x});
  int scaled = call("mul", kFloat, {size, number(std::ldexp(1, -lowest), kFloat)});
  int steps = none;
  for (const int step : halvings(format.highest_exponent() - lowest)) {
    const int large =
        call("cmp_ge", kFloat, {scaled, number(just_below_power(step, places), kFloat)});
    const int down = select(large, number(std::ldexp(1, -step), kFloat), one);
    scaled = call("mul", kFloat, {scaled, down});
    const int more = select(large, number(step, kWord), none);
    steps = steps == none ? more : call("add", kWord, {steps, more});
  }
  // A quarter, so that an error of the last digit takes nothing from the integer. Infinity and NaN
  // have none.
  const int digits = call("mul", kFloat, {scaled, number(std::ldexp(1, places), kFloat)});
  const int more = call("add", kFloat, {digits, number(0.25, kFloat)});
  const int finite = call("cmp_lt", kFloat, {more, number(std::ldexp(1, places + 1), kFloat)});
  const int integer = call("ident", kWord, {select(finite, more, number(0, kFloat))});
  // The leading digit of a normal number adds one to the exponent.
  int pattern = call("bit_left", kWord, {steps, number(places, kWord)});
  pattern = call("add", kWord, {pattern, integer});
  if (format.special == SmallFloat::Special::ieee) {
    const int over = call("cmp_gt", kFloat, {size, number(format.largest * 1.0625, kFloat)});
    pattern = select(over, number(format.infinity_bits(), kWord), pattern);
  }
  const int sign = select(is_negative(x), number(1 << (bits - 1), kWord), none);
  pattern = call("bit_or", kWord, {pattern, sign});
  if (format.special != SmallFloat::Special::none) {
    pattern = select(is_number(x), pattern, number(format.nan_bits(), kWord));
  }
  return call("ident", kByte, {pattern});
}

}  // namespace stria::tile
