// SPDX-License-Identifier: Apache-2.0
// The operator signs of Tile, which builtin each of them calls and how tightly it binds. Parser and
// printer read this one table.
#pragma once

#include <string_view>

namespace stria::tile {

struct BinaryOperator {
  std::string_view sign;
  std::string_view function;
  int level;      // a higher level binds tighter
  bool chains;    // a + b + c is (a + b) + c; a < b < c is an error
  bool in_forms;  // also in index forms
};

inline constexpr int kTernaryLevel = 0;
inline constexpr BinaryOperator kBinaryOperators[] = {
    {"||", "logical_or", 1, true, false}, {"&&", "logical_and", 2, true, false},
    {"^", "bit_xor", 3, true, false},     {"|", "bit_or", 4, true, false},
    {"&", "bit_and", 5, true, false},     {"==", "cmp_eq", 6, false, false},
    {"!=", "cmp_ne", 6, false, false},    {">", "cmp_gt", 7, false, false},
    {">=", "cmp_ge", 7, false, false},    {"<", "cmp_lt", 7, false, false},
    {"<=", "cmp_le", 7, false, false},    {"<<", "bit_left", 8, true, false},
    {">>", "bit_right", 8, true, false},  {"+", "add", 9, true, true},
    {"-", "sub", 9, true, true},          {"*", "mul", 10, true, true},
    {"/", "div", 10, true, true},         {"%", "mod", 10, true, false},
};
inline constexpr int kUnaryLevel = 11;
inline constexpr int kPrimaryLevel = 12;

struct UnaryOperator {
  std::string_view sign;
  std::string_view function;
  bool in_forms;
};
inline constexpr UnaryOperator kUnaryOperators[] = {
    {"-", "neg", true}, {"~", "bit_not", false}, {"!", "logical_not", false}};

// `c ? t : e`
inline constexpr std::string_view kTernaryFunction = "cond";

// nullptr if there is none.
constexpr const BinaryOperator* binary_by_sign(std::string_view sign) {
  for (const BinaryOperator& op : kBinaryOperators)
    if (op.sign == sign) return &op;
  return nullptr;
}
constexpr const BinaryOperator* binary_by_function(std::string_view function) {
  for (const BinaryOperator& op : kBinaryOperators)
    if (op.function == function) return &op;
  return nullptr;
}
constexpr const UnaryOperator* unary_by_sign(std::string_view sign) {
  for (const UnaryOperator& op : kUnaryOperators)
    if (op.sign == sign) return &op;
  return nullptr;
}
constexpr const UnaryOperator* unary_by_function(std::string_view function) {
  for (const UnaryOperator& op : kUnaryOperators)
    if (op.function == function) return &op;
  return nullptr;
}

}  // namespace stria::tile
