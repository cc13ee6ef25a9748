// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/translate/small_float.h"

#include <cmath>
#include <limits>

namespace stria::onnx {
namespace {

using Special = SmallFloat::Special;

constexpr std::pair<ElementType, SmallFloat> kSmallFloats[] = {
    {ElementType::fp8e4m3fn, kFp8E4m3},
    {ElementType::fp8e4m3fnuz, {8, 3, 8, 240, Special::zero_nan}},
    {ElementType::fp8e5m2, kFp8E5m2},
    {ElementType::fp8e5m2fnuz, {8, 2, 16, 57344, Special::zero_nan}},
    {ElementType::fp4e2m1, kFp4},
    {ElementType::fp6e2m3, {6, 3, 1, 7.5, Special::none}},
    {ElementType::fp6e3m2, {6, 2, 3, 28, Special::none}},
};

}  // namespace

const SmallFloat* small_float_of(ElementType type) {
  for (const auto& [known, format] : kSmallFloats)
    if (known == type) return &format;
  return nullptr;
}

float small_float_from_bits(ElementType type, uint32_t bits) {
  if (type == ElementType::fp8e8m0)
    return bits == 255 ? std::numeric_limits<float>::quiet_NaN()
                       : std::ldexp(1.0F, static_cast<int>(bits) - 127);
  return static_cast<float>(stria::small_float_from_bits(*small_float_of(type), bits));
}

}  // namespace stria::onnx
