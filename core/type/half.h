// SPDX-License-Identifier: Apache-2.0
// Conversions of the two 16-bit float types, bit exact: round to nearest, ties to even; overflow
// gives infinity; NaN stays NaN (quiet). From double there is one rounding, not two.
#pragma once

#include <cstdint>

namespace stria {

uint16_t fp16_from_double(double value);
double fp16_to_double(uint16_t bits);
uint16_t bf16_from_double(double value);
double bf16_to_double(uint16_t bits);

}  // namespace stria
