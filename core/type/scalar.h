// SPDX-License-Identifier: Apache-2.0
// One typed value as the interpreter and the builtins' reference functions hold it, and the rules
// of conversion between types that every device obeys.
#pragma once

#include <cstdint>
#include <string>

#include "stria/type/data_type.h"

namespace stria {

// Integers and bool sit in `i`, sign- or zero-extended to 64 bits (u64 as its bit pattern); floats
// in `f`, always exactly representable in `type`. Plain value.
struct Scalar {
  DataType type = DataType::fp32;
  union {
    double f = 0;
    int64_t i;
  };

  static Scalar of_bool(bool value);
  // Wraps to the width of `type` (an integer type or bool: != 0).
  static Scalar of_int(DataType type, int64_t value);
  // Rounds once to `type` (a float type), ties to even.
  static Scalar of_float(DataType type, double value);

  // != 0; NaN is true.
  bool truth() const;
  // The value as double; u64 and i64 round.
  double to_double() const;
};

// Conversion rules: integer to integer wraps; to bool is != 0; bool is 0 or 1; integer to float
// rounds once, ties to even; float to integer truncates toward zero, saturates, NaN gives 0; float
// to float rounds once. Beyond the largest number of a float: infinity, NaN in fp8_e4m3, that
// number in fp4, which has 0 for NaN.
Scalar convert(const Scalar& value, DataType to);

// `f` rounded to the nearest number of float type `type`, as double.
double round_to(DataType type, double value);

// Wraps `value` to the width of integer type `type` (sign- or zero-extended).
int64_t wrap_to(DataType type, int64_t value);

// Element `index` of an array of `type` in memory.
Scalar load_scalar(DataType type, const void* data, int64_t index);
// Converts to `type`, then stores. Elements that share a byte: not from two threads at once.
void store_scalar(DataType type, void* data, int64_t index, const Scalar& value);

// Shortest text that reads back: "3", "-0.5", "true", "inf", "nan".
std::string to_string(const Scalar& value);

}  // namespace stria
