/* SPDX-License-Identifier: Apache-2.0
 * The example's function, and one element of the tile too large by one. */
#define product_8x8 right_product_8x8
#include "product_8x8.c"
#undef product_8x8

void product_8x8(void* const* operands, const int64_t* sizes, const int64_t* strides);

void product_8x8(void* const* operands, const int64_t* sizes, const int64_t* strides) {
  right_product_8x8(operands, sizes, strides);
  ((float*)operands[2])[3 * strides[4] + 5] += 1;
}
