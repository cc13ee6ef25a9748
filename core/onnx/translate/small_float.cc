// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/translate/small_float.h"

#include <cmath>
#include <limits>

namespace stria::onnx {
namespace {

using Special = SmallFloat::Special;

constexpr SmallFloat kSmallFloats[] = {
    {ElementType::fp8e4m3fn, 3, 7, 448, Special::last_nan},
    {ElementType::fp8e4m3fnuz, 3, 8, 240, Special::zero_nan},
    {ElementType::fp8e5m2, 2, 15, 57344, Special::ieee},
    {ElementType::fp8e5m2fnuz, 2, 16, 57344, Special::zero_nan},
    {ElementType::fp4e2m1, 1, 1, 6, Special::none},
    {ElementType::fp6e2m3, 3, 1, 7.5, Special::none},
    {ElementType::fp6e3m2, 2, 3, 28, Special::none},
};

}  // namespace

const SmallFloat* small_float_of(ElementType type) {
  for (const SmallFloat& each : kSmallFloats)
    if (each.type == type) return &each;
  return nullptr;
}

float small_float_from_bits(ElementType type, uint32_t bits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (type == ElementType::fp8e8m0)
    return bits == 255 ? nan : std::ldexp(1.0F, static_cast<int>(bits) - 127);
  const SmallFloat& format = *small_float_of(type);
  const int width = bits_of(type);
  const uint32_t sign = bits >> (width - 1);
  const uint32_t rest = bits & ((1U << (width - 1)) - 1);
  const uint32_t fraction = rest & ((1U << format.fraction_bits) - 1);
  const auto exponent = static_cast<int>(rest >> format.fraction_bits);
  const int last_exponent = (1 << (width - 1 - format.fraction_bits)) - 1;
  if (format.special == Special::last_nan && rest == (1U << (width - 1)) - 1) return nan;
  if (format.special == Special::zero_nan && sign && rest == 0) return nan;
  if (format.special == Special::ieee && exponent == last_exponent) {
    if (fraction) return nan;
    return sign ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  }
  const uint32_t significand = exponent ? fraction | 1U << format.fraction_bits : fraction;
  const float size = std::ldexp(static_cast<float>(significand),
                                (exponent ? exponent : 1) - format.bias - format.fraction_bits);
  return sign ? -size : size;
}

}  // namespace stria::onnx
