// SPDX-License-Identifier: Apache-2.0
// Functions of mathematics in operations of the kernel tree, for languages that have none or none
// that is exact enough. An emitter translates such a function once and calls it.
//
// Every function holds the bound of its builtin (Builtin::ulp) for every operand: all exponents,
// subnormal operands and results, zeros with their sign, infinities, NaN. That rests on:
// * add, sub and mul round to nearest and keep subnormals, or the device says that it flushes them
//   (rule M23): then every result of normal size from operands of normal size still holds the
//   bound, and the others are right for the operands as they are or for zeros in their place.
//   Whether fma rounds once or twice, and whether a mul and the add behind it are contracted to
//   one, does not matter.
// * div and sqrt are within 2.5 and 3 ULP in fp32, exact in fp64. Divisors of fp32 are of normal
//   size, and no larger than 2^126. No root is taken of a negative number.
// * Nothing is regrouped.
// Functions of fp32 use fp32, i32, u32 and bool; those of fp64 use fp64, i64, u64 and bool. Their
// expressions are constants, variables, reinterpret, convert between the float and the signed
// integer (of numbers that this holds), and operations: add, sub, mul, div, neg, abs, floor, sqrt,
// fma and comparisons of floats; of integers the same up to mul, rem, neg, comparisons, bits and
// shifts; bits and logical_not of bool; select.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// A function of one or two scalars. Its statements are Let, and If with kept variables, which are
// read only by selections that have the same condition; no memory, no loop.
struct MathFunction {
  std::string name;                // "exp_fp32": unique among these functions
  DataType type = DataType::fp32;  // of the parameters and the result
  std::vector<Variable> vars;
  std::vector<int> params;  // variables, in the order of the operands
  Body body;
  ExprRef result;
};

// Of a builtin's name, for fp32 or fp64: those that `call` expressions name, and "mod", "sqrt" and
// "div" for languages whose own are not exact enough. Null if there is none. The function lives as
// long as the process; safe from every thread.
const MathFunction* math_function(std::string_view callee, DataType type);

}  // namespace stria::semtree
