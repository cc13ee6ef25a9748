// SPDX-License-Identifier: Apache-2.0
// Calls of the elementwise functions, each on inputs where it says something.
#pragma once

#include <string>
#include <vector>

#include "numbers/program_cases.h"
#include "stria/builtins/builtin.h"

namespace stria::conformance {

// Those of `type` that are no conversions, in the order of the documentation.
std::vector<const Builtin*> functions_of(DataType type);
// The type of the result, where all operands are of `type`.
DataType result_of(const Builtin& builtin, DataType type);

// What the inputs of a program of calls look like.
struct CallInputs {
  std::vector<int64_t> first, second, third;  // sizes of the operands
  Values values = Values::plain;
  bool limited = true;  // functions that are not defined everywhere get operands where they are
};

// One output for each function: "R_add = add(A, B)".
TestProgram program_of_calls(const std::vector<const Builtin*>& functions, DataType type,
                             const CallInputs& inputs);
// The name of that output.
std::string output_of(const Builtin& builtin);

// The functions in rows of at most `count`; those whose names are in `first` come first, in a row
// of their own.
std::vector<std::vector<const Builtin*>> rows_of(const std::vector<const Builtin*>& functions,
                                                 const std::vector<std::string>& first,
                                                 size_t count);

}  // namespace stria::conformance
