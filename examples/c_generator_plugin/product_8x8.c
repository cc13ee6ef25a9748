/* SPDX-License-Identifier: Apache-2.0
 * A tile of a matrix product, with the vector extensions of gcc and clang. The 64 sums stay in
 * registers while the products are added up: 8 rows of one vector of 8 floats. */
#include "product_8x8.h"

typedef float row_of_8 __attribute__((vector_size(32), may_alias));

/* The compiler makes this twice and the loader takes what the processor can run. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_TWO_PROCESSORS __attribute__((target_clones("arch=haswell", "default")))
#else
#define FOR_TWO_PROCESSORS
#endif

FOR_TWO_PROCESSORS
void product_8x8(void* const* operands, const int64_t* sizes, const int64_t* strides) {
  /* Operands in the order of their names: A[m, k], B[k, n], C[m, n]. */
  const float* const a = operands[0];
  const float* const b = operands[1];
  float* const c = operands[2];
  const int64_t products = sizes[1];
  const int64_t a_m = strides[0], a_k = strides[1], b_k = strides[2], c_m = strides[4];

  row_of_8 sums[8] = {{0}};
  for (int64_t k = 0; k < products; ++k) {
    const row_of_8 row = *(const row_of_8*)(b + k * b_k);
#pragma GCC unroll 8
    for (int m = 0; m < 8; ++m) sums[m] += a[m * a_m + k * a_k] * row;
  }
  for (int m = 0; m < 8; ++m) *(row_of_8*)(c + m * c_m) += sums[m];
}
