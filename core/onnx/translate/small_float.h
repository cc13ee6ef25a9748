// SPDX-License-Identifier: Apache-2.0
// The float types below 16 bits of the standard. Tensors hold them as fp32 numbers.
#pragma once

#include <cstdint>

#include "stria/onnx/model/model.h"
#include "stria/type/small_float.h"

namespace stria::onnx {

// Null for other types, and for float8e8m0, which has nothing but powers of two.
const SmallFloat* small_float_of(ElementType type);
// The number that `bits` mean, in a small float or float8e8m0.
float small_float_from_bits(ElementType type, uint32_t bits);

}  // namespace stria::onnx
