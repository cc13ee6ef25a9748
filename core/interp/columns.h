// SPDX-License-Identifier: Apache-2.0
// Typed loops over columns: the values of one scalar at up to kRow points of a row. A column is an
// array of the native C++ type of its data type (fp16 and bf16 as float, bool as uint8_t 0 or 1);
// with stride 0 one element stands for all points. Each loop gives bit for bit what the scalar
// rules of type/scalar.h and the builtins' references give.
#pragma once

#include <cstdint>

#include "stria/builtins/builtin.h"
#include "stria/stripe/block.h"

namespace stria::interp {

inline constexpr int64_t kRow = 256;

struct Column {
  const void* data = nullptr;
  int stride = 1;  // 0 or 1
};

// out[k] = f(in[0][k], in[1][k], …) for k < n.
using ColumnCall = void (*)(void* out, const Column* in, int64_t n);

// A typed loop for the builtin, on operands that already have their operand types. Null if there is
// none: then use element_of, set_element and the record's reference.
ColumnCall column_call(const Builtin& builtin, DataType op_type);
// A typed loop for conversions that cannot overflow and round at most once, or null.
ColumnCall column_convert(DataType from, DataType to);
// acc[k * acc_stride] = op(acc[k * acc_stride], in[k]) in order of k, or null.
using ColumnCombine = void (*)(void* acc, int64_t acc_stride, const Column& in, int64_t n);
ColumnCombine column_combine(const stripe::Aggregation& agg);

// Does memory of the type hold its native column type, so that a column may point into it?
bool is_native(DataType type);
// `data` points to the first element of memory of `type`, `stride` elements apart.
void gather(DataType type, const char* data, int64_t stride, int64_t n, void* out);
void scatter(DataType type, char* data, int64_t stride, const Column& in, int64_t n);

Scalar element_of(DataType type, const Column& column, int64_t k);
void set_element(DataType type, void* out, int64_t k, const Scalar& value);

}  // namespace stria::interp
