// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/tree/arithmetic.h"

#include <algorithm>
#include <limits>
#include <map>

#include "stria/builtins/builtin.h"
#include "stria/semtree/tree/expr.h"

namespace stria::semtree {
namespace {

ExprRef number(const ExprRef& like, double value) {
  const DataType type = like->type.scalar;
  if (is_float(type)) return constant(Scalar::of_float(type, value), like->type.lanes);
  return integer(type, static_cast<int64_t>(value), like->type.lanes);
}

int64_t lowest(DataType type) {
  if (!is_signed_integer(type)) return 0;
  return std::numeric_limits<int64_t>::min() >> (64 - bit_width(type));
}

ExprRef extreme(bool larger, const ExprRef& a, const ExprRef& b) {
  if (a->type.scalar == DataType::boolean) return binary(larger ? Op::bit_or : Op::bit_and, a, b);
  if (!is_float(a->type.scalar)) return binary(larger ? Op::max : Op::min, a, b);
  return float_extreme(larger ? Op::max : Op::min, a, b);
}

// Quotient or remainder of integers: x / 0 = x % 0 = 0, MIN / -1 = MIN, MIN % -1 = 0.
ExprRef divide_integers(Op op, const ExprRef& a, const ExprRef& b) {
  const DataType type = a->type.scalar;
  if (is_constant(b) && b->value.i != 0 && (b->value.i != -1 || !is_signed_integer(type)))
    return binary(op, a, b);
  ExprRef zero = integer(type, 0), one = integer(type, 1);
  const int lanes = std::max(a->type.lanes, b->type.lanes);
  ExprRef by_zero = binary(Op::eq, broadcast(b, lanes), zero);
  ExprRef unsafe = by_zero;
  if (is_signed_integer(type))
    unsafe = binary(Op::bit_or, unsafe,
                    binary(Op::bit_and, binary(Op::eq, broadcast(b, lanes), integer(type, -1)),
                           binary(Op::eq, broadcast(a, lanes), integer(type, lowest(type)))));
  // Divided by 1: MIN / 1 = MIN, and every remainder is 0.
  ExprRef result = binary(op, a, select(unsafe, one, b));
  return op == Op::div ? select(by_zero, zero, result) : result;
}

ExprRef shift(Op op, const ExprRef& a, const ExprRef& b) {
  const DataType type = a->type.scalar;
  if (type == DataType::boolean) return a;  // width 1: every count is 0
  return binary(op, a, binary(Op::bit_and, b, integer(type, bit_width(type) - 1)));
}

// Square and multiply over the exponent's bits; a negative exponent of a base other than 1 and -1
// is 0.
ExprRef power_of_integers(const ExprRef& base, const ExprRef& exponent, const Namer& named) {
  const DataType type = base->type.scalar;
  ExprRef result = integer(type, 1), square = base;
  if (is_constant(exponent) && exponent->value.i >= 0) {
    for (uint64_t n = static_cast<uint64_t>(exponent->value.i); n != 0; n >>= 1) {
      if (n & 1) result = named(binary(Op::mul, result, square));
      if (n > 1) square = named(binary(Op::mul, square, square));
    }
    return broadcast(result, std::max(base->type.lanes, exponent->type.lanes));
  }
  const int lanes = std::max(base->type.lanes, exponent->type.lanes);
  ExprRef bits = broadcast(exponent, lanes);
  for (int i = 0; i < bit_width(type); ++i) {
    ExprRef bit =
        binary(Op::bit_and, binary(Op::shift_right, bits, integer(type, i)), integer(type, 1));
    result = named(
        select(binary(Op::ne, bit, integer(type, 0)), binary(Op::mul, result, square), result));
    square = named(binary(Op::mul, square, square));
  }
  if (!is_signed_integer(type)) return result;
  ExprRef unit = binary(Op::bit_or, binary(Op::eq, base, integer(type, 1)),
                        binary(Op::eq, base, integer(type, -1)));
  ExprRef keep = binary(Op::bit_or, unit, binary(Op::le, integer(type, 0), bits));
  return select(keep, result, integer(type, 0));
}

using Maker = ExprRef (*)(const std::vector<ExprRef>& x, const Namer& named);

template <Op op>
ExprRef plain_unary(const std::vector<ExprRef>& x, const Namer&) {
  return unary(op, x[0]);
}
template <Op op>
ExprRef plain_binary(const std::vector<ExprRef>& x, const Namer&) {
  return binary(op, x[0], x[1]);
}
template <Op op>
ExprRef rounding(const std::vector<ExprRef>& x, const Namer&) {
  return is_float(x[0]->type.scalar) ? unary(op, x[0]) : x[0];
}

ExprRef absolute(const std::vector<ExprRef>& x, const Namer&) {
  const DataType type = x[0]->type.scalar;
  return is_float(type) || is_signed_integer(type) ? unary(Op::abs, x[0]) : x[0];
}

ExprRef rectified(const std::vector<ExprRef>& x, const Namer&) {
  const DataType type = x[0]->type.scalar;
  if (!is_float(type))
    return is_signed_integer(type) ? binary(Op::max, x[0], integer(type, 0)) : x[0];
  // NaN is not <= 0 and so stays.
  return select(binary(Op::le, x[0], number(x[0], 0)), number(x[0], 0), x[0]);
}

// Builtins that are more than a call of the mathematical function of their name.
const std::map<std::string_view, Maker>& makers() {
  static const std::map<std::string_view, Maker> table = {
      {"add", plain_binary<Op::add>},
      {"sub", plain_binary<Op::sub>},
      {"mul", plain_binary<Op::mul>},
      {"div",
       [](const auto& x, const Namer&) {
         return is_float(x[0]->type.scalar) ? binary(Op::div, x[0], x[1])
                                            : divide_integers(Op::div, x[0], x[1]);
       }},
      {"mod",
       [](const auto& x, const Namer&) {
         return is_float(x[0]->type.scalar) ? binary(Op::rem, x[0], x[1])
                                            : divide_integers(Op::rem, x[0], x[1]);
       }},
      {"neg", plain_unary<Op::neg>},
      {"cmp_eq", plain_binary<Op::eq>},
      {"cmp_ne", plain_binary<Op::ne>},
      {"cmp_lt", plain_binary<Op::lt>},
      {"cmp_gt", [](const auto& x, const Namer&) { return binary(Op::lt, x[1], x[0]); }},
      {"cmp_le", plain_binary<Op::le>},
      {"cmp_ge", [](const auto& x, const Namer&) { return binary(Op::le, x[1], x[0]); }},
      {"bit_and", plain_binary<Op::bit_and>},
      {"bit_or", plain_binary<Op::bit_or>},
      {"bit_xor", plain_binary<Op::bit_xor>},
      {"bit_not",
       [](const auto& x, const Namer&) {
         return unary(x[0]->type.scalar == DataType::boolean ? Op::logical_not : Op::bit_not, x[0]);
       }},
      {"bit_left", [](const auto& x, const Namer&) { return shift(Op::shift_left, x[0], x[1]); }},
      {"bit_right", [](const auto& x, const Namer&) { return shift(Op::shift_right, x[0], x[1]); }},
      {"logical_and", plain_binary<Op::bit_and>},
      {"logical_or", plain_binary<Op::bit_or>},
      {"logical_not", plain_unary<Op::logical_not>},
      {"cond", [](const auto& x, const Namer&) { return select(x[0], x[1], x[2]); }},
      {"ident", [](const auto& x, const Namer&) { return x[0]; }},
      {"max", [](const auto& x, const Namer&) { return extreme(true, x[0], x[1]); }},
      {"min", [](const auto& x, const Namer&) { return extreme(false, x[0], x[1]); }},
      {"abs", absolute},
      {"sqrt", plain_unary<Op::sqrt>},
      {"floor", rounding<Op::floor>},
      {"ceil", rounding<Op::ceil>},
      {"round", rounding<Op::round_even>},
      {"relu", rectified},
      {"recip", [](const auto& x, const Namer&) { return binary(Op::div, number(x[0], 1), x[0]); }},
      {"sigmoid",
       [](const auto& x, const Namer& named) {
         // With e = exp(-|x|): 1 / (1 + e), or e / (1 + e) below zero. No overflow, no loss of
         // small results.
         ExprRef e = named(call("exp", {unary(Op::neg, unary(Op::abs, x[0]))}));
         ExprRef above = select(binary(Op::lt, x[0], number(x[0], 0)), e, number(x[0], 1));
         return binary(Op::div, above, binary(Op::add, number(x[0], 1), e));
       }},
      {"pow",
       [](const auto& x, const Namer& named) {
         return is_float(x[0]->type.scalar) ? call("pow", {x[0], x[1]})
                                            : power_of_integers(x[0], x[1], named);
       }},
  };
  return table;
}

}  // namespace

Result<ExprRef> intrinsic(std::string_view name, DataType type,
                          const std::vector<ExprRef>& operands, const Namer& named) {
  const Builtin* builtin = find_builtin(name);
  if (!builtin) return unsupported("intrinsic '{}' is no builtin", name);
  if (static_cast<int>(operands.size()) != builtin->arity)
    return invalid_argument("intrinsic '{}' takes {} operands, got {}", name, builtin->arity,
                            operands.size());
  if (!allows(*builtin, type))
    return invalid_argument("intrinsic '{}' does not exist for {}", name, name_of(type));
  if (type == DataType::boolean && builtin->types == TypeRule::arithmetic) {
    // 1 + 1 is not 0: bool counts as a number, and the result is whether it is not 0.
    std::vector<ExprRef> numbers;
    for (const ExprRef& operand : operands)
      numbers.push_back(convert_to(DataType::boolean, operand));
    STRIA_ASSIGN(ExprRef number, intrinsic(name, DataType::i32, numbers, named));
    return convert_to(DataType::boolean, number);
  }
  std::vector<ExprRef> x;
  for (int i = 0; i < builtin->arity; ++i) {
    DataType wanted = operand_type(*builtin, type, i);
    ExprRef operand = convert_to(wanted, operands[i]);
    x.push_back(named(convert_to(compute_type(wanted), operand)));
  }
  ExprRef result;
  auto maker = makers().find(name);
  if (maker != makers().end()) {
    result = maker->second(x, named);
  } else if (builtin->types == TypeRule::floating) {
    result = call(std::string(name), x);
  } else {
    return unsupported("no code for intrinsic '{}'", name);
  }
  if (type != compute_type(type) && is_float(result->type.scalar))
    result = convert_to(compute_type(type), convert_to(type, named(result)));
  return result;
}

ExprRef combine(stripe::AggOp op, const ExprRef& a, const ExprRef& b) {
  switch (op) {
    case stripe::AggOp::add:
      return binary(a->type.scalar == DataType::boolean ? Op::bit_or : Op::add, a, b, true);
    case stripe::AggOp::mul:
      return binary(a->type.scalar == DataType::boolean ? Op::bit_and : Op::mul, a, b, true);
    case stripe::AggOp::max: return extreme(true, a, b);
    case stripe::AggOp::min: return extreme(false, a, b);
  }
  return a;
}

Op reduction(stripe::AggOp op, DataType type) {
  const bool boolean = type == DataType::boolean;
  switch (op) {
    case stripe::AggOp::add: return boolean ? Op::bit_or : Op::add;
    case stripe::AggOp::mul: return boolean ? Op::bit_and : Op::mul;
    case stripe::AggOp::max: return boolean ? Op::bit_or : Op::max;
    case stripe::AggOp::min: return boolean ? Op::bit_and : Op::min;
  }
  return Op::add;
}

}  // namespace stria::semtree
