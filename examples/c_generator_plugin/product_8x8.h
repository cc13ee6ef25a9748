// SPDX-License-Identifier: Apache-2.0
/* The plugin's micro-kernels: functions that `hw/host.json` names as the `symbol` of an
 * instruction. */
#ifndef PRODUCT_8X8_H
#define PRODUCT_8X8_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stria_micro_kernel (stria/reader.h): C[m, n] += A[m, k] * B[k, n] in fp32 for 8 x 8 sums and
 * any number of products. Elements of a row of B, and of C, lie side by side, and rows begin at
 * multiples of 32 bytes. */
void product_8x8(void* const* operands, const int64_t* sizes, const int64_t* strides);

#ifdef __cplusplus
}
#endif

#endif
