// SPDX-License-Identifier: Apache-2.0
// What the records say of a function's behaviour (whether it is total, the laws that it keeps, what
// it costs) is tried on hard values of every type. A law that a function keeps has to be said, too:
// a new record that leaves one out fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "stria/builtins/builtin.h"

namespace stria {
namespace {

std::vector<Scalar> hard_values(DataType type) {
  std::vector<Scalar> out;
  if (is_float(type)) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const double most = std::numeric_limits<double>::max();
    for (const double x : {0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 0.1, 1e-45, 5e-324, 65504.0, most,
                           -most, inf, -inf, nan})
      out.push_back(Scalar::of_float(type, x));
    return out;
  }
  const int width = bit_width(type);
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  const int64_t smallest = is_signed_integer(type) ? least >> (64 - width) : 0;
  for (const int64_t x :
       {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{-2}, int64_t{3}, int64_t{7},
        smallest, smallest + 1, ~smallest, int64_t{width - 1}, int64_t{width}})
    out.push_back(Scalar::of_int(type, x));
  return out;
}

// Values whose sums and products of three are exact in every type.
std::vector<Scalar> plain_values(DataType type) {
  if (!is_float(type)) return hard_values(type);
  std::vector<Scalar> out;
  for (const double x : {-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0, 5.0})
    out.push_back(Scalar::of_float(type, x));
  return out;
}

// Bit for bit, but that a NaN is a NaN.
bool same(const Scalar& a, const Scalar& b) {
  return a.type == b.type && to_string(a) == to_string(b);
}
bool equal(const Scalar& a, const Scalar& b) {
  return a.type == b.type && (is_float(a.type) ? a.f == b.f : a.i == b.i);
}

std::vector<DataType> types_of(const Builtin& builtin) {
  std::vector<DataType> out;
  for (int t = 0; t < kDataTypeCount; ++t)
    if (allows(builtin, static_cast<DataType>(t))) out.push_back(static_cast<DataType>(t));
  return out;
}

// A function of two operands on values of one type, which its result has, too.
struct Function {
  const Builtin& builtin;
  DataType op_type;
  DataType values() const { return operand_type(builtin, op_type, 0); }
  Scalar operator()(const Scalar& a, const Scalar& b) const {
    const Scalar pair[] = {a, b};
    return builtin.reference(op_type, pair);
  }
};

// Does the law hold for every operation type? Not if the result is of another type than the
// operands. A cast's second operand is no value.
bool holds(const Builtin& builtin, const std::function<bool(const Function&)>& law) {
  if (builtin.arity != 2 || builtin.types == TypeRule::cast) return false;
  const std::vector<DataType> types = types_of(builtin);
  return std::all_of(types.begin(), types.end(), [&](DataType type) {
    const Function f{builtin, type};
    return operand_type(builtin, type, 1) == f.values() &&
           result_type(builtin, type) == f.values() && law(f);
  });
}

bool is_unit(const Function& f, Unit unit, bool left) {
  const std::optional<Scalar> number = unit_of(unit, f.values());
  const std::vector<Scalar> all = hard_values(f.values());
  return number && std::all_of(all.begin(), all.end(), [&](const Scalar& x) {
           return same(left ? f(*number, x) : f(x, *number), x);
         });
}

// Calls visit(operands) for every choice of hard values.
void for_all_operands(const Builtin& builtin, DataType type,
                      const std::function<void(const std::vector<Scalar>&)>& visit) {
  std::vector<Scalar> operands(static_cast<size_t>(builtin.arity));
  const std::function<void(int)> choose = [&](int i) {
    if (i == builtin.arity) return visit(operands);
    for (const Scalar& value : hard_values(operand_type(builtin, type, i))) {
      operands[static_cast<size_t>(i)] = value;
      choose(i + 1);
    }
  };
  choose(0);
}

TEST(BuiltinLaws, EveryFunctionHasAResultForEveryValue) {
  for (const Builtin* b : all_builtins())
    for (const DataType type : types_of(*b))
      for_all_operands(*b, type, [&](const std::vector<Scalar>& operands) {
        const Scalar result = b->reference(type, operands.data());
        ASSERT_EQ(result.type, result_type(*b, type)) << b->name;
        ASSERT_TRUE(same(convert(result, result.type), result)) << b->name;
        ASSERT_TRUE(same(b->reference(type, operands.data()), result)) << b->name;
        // What is not total has results by a rule: that of a zero divisor is 0.
        if (!is_total(*b, type) && b->types == TypeRule::arithmetic && operands[1].i == 0) {
          ASSERT_EQ(result.i, 0) << b->name;
        }
      });
}

TEST(BuiltinLaws, WhatIsNotTotalSaysSo) {
  constexpr const char* kRules[] = {"x / 0 is 0", "x % 0 is 0", "saturate"};
  for (const Builtin* b : all_builtins()) {
    EXPECT_TRUE(is_total(*b, DataType::fp32)) << b->name;
    EXPECT_EQ(is_total(*b, DataType::u8), b->total) << b->name;
    // The rule stands in the text.
    const std::string doc = b->doc;
    const bool has_rule = std::any_of(std::begin(kRules), std::end(kRules), [&](const char* rule) {
      return doc.find(rule) != std::string::npos;
    });
    EXPECT_EQ(!b->total, has_rule) << b->name;
  }
}

TEST(BuiltinLaws, CommutativeFunctionsDoNotMindTheOrder) {
  for (const Builtin* b : all_builtins()) {
    bool differs = b->arity != 2 || b->types == TypeRule::cast;
    for (const DataType type : types_of(*b)) {
      if (differs) break;
      for_all_operands(*b, type, [&](const std::vector<Scalar>& operands) {
        const Scalar turned[] = {operands[1], operands[0]};
        differs |= !same(b->reference(type, operands.data()), b->reference(type, turned));
      });
    }
    EXPECT_EQ(b->commutative, !differs) << b->name;
  }
}

TEST(BuiltinLaws, IdempotentFunctionsGiveEqualOperandsBack) {
  for (const Builtin* b : all_builtins())
    EXPECT_EQ(b->idempotent, holds(*b,
                                   [](const Function& f) {
                                     const std::vector<Scalar> all = hard_values(f.values());
                                     return std::all_of(
                                         all.begin(), all.end(),
                                         [&](const Scalar& x) { return same(f(x, x), x); });
                                   }))
        << b->name;
}

TEST(BuiltinLaws, JoinedValuesDoNotMindTheOrder) {
  const auto joins = [](const Function& f) {
    const std::vector<Scalar> all = plain_values(f.values());
    for (const Scalar& a : all)
      for (const Scalar& b : all) {
        if (!equal(f(a, b), f(b, a))) return false;
        for (const Scalar& c : all)
          if (!equal(f(f(a, b), c), f(a, f(b, c)))) return false;
      }
    return true;
  };
  for (const Builtin* b : all_builtins()) EXPECT_EQ(b->joins, holds(*b, joins)) << b->name;
}

TEST(BuiltinLaws, UnitsLeaveTheOtherOperand) {
  for (const Builtin* b : all_builtins())
    for (const bool left : {true, false}) {
      const Unit said = left ? b->left_unit : b->right_unit;
      bool any = false;
      for (const Unit unit : {Unit::zero, Unit::negative_zero, Unit::one, Unit::all_ones}) {
        const bool found = holds(*b, [&](const Function& f) { return is_unit(f, unit, left); });
        any |= found;
        EXPECT_TRUE(found || unit != said) << b->name;
      }
      EXPECT_EQ(any, said != Unit::none) << b->name << (left ? " left" : " right");
    }
}

TEST(BuiltinLaws, ZeroWins) {
  const auto wins = [](const Function& f) {
    if (is_float(f.values())) return true;
    const Scalar zero = Scalar::of_int(f.values(), 0);
    const std::vector<Scalar> all = hard_values(f.values());
    return std::all_of(all.begin(), all.end(), [&](const Scalar& x) {
      return same(f(zero, x), zero) && same(f(x, zero), zero);
    });
  };
  // What a rule settles is no law.
  for (const Builtin* b : all_builtins())
    EXPECT_EQ(b->zero_wins, b->total && holds(*b, wins)) << b->name;
}

TEST(BuiltinLaws, UnitsAreNumbersOfEveryTypeThatHasThem) {
  EXPECT_EQ(to_string(*unit_of(Unit::negative_zero, DataType::fp16)), "-0.0");
  EXPECT_EQ(to_string(*unit_of(Unit::negative_zero, DataType::i8)), "0");
  EXPECT_EQ(to_string(*unit_of(Unit::zero, DataType::fp32)), "0.0");
  EXPECT_EQ(to_string(*unit_of(Unit::one, DataType::boolean)), "true");
  EXPECT_EQ(to_string(*unit_of(Unit::all_ones, DataType::u8)), "255");
  EXPECT_EQ(to_string(*unit_of(Unit::all_ones, DataType::i64)), "-1");
  EXPECT_FALSE(unit_of(Unit::all_ones, DataType::fp64));
  EXPECT_FALSE(unit_of(Unit::none, DataType::i32));
}

// What no processor rounds correctly in one instruction is made of many.
TEST(BuiltinLaws, FunctionsThatRoundOftenAreSlow) {
  for (const Builtin* b : all_builtins()) {
    EXPECT_EQ(b->cost == Cost::slow, b->ulp.fp64 > 0.5) << b->name;
    EXPECT_TRUE(b->cost != Cost::cheap || b->ulp.fp32 <= 0.5) << b->name;
  }
}

TEST(BuiltinLaws, CircuitsAddAndMultiply) {
  const Scalar operands[] = {Scalar::of_float(DataType::fp32, 3),
                             Scalar::of_float(DataType::fp32, 2)};
  for (const Builtin* b : all_builtins()) {
    if (b->circuit == Circuit::other) continue;
    ASSERT_EQ(b->arity, 2) << b->name;
    const double result = b->reference(DataType::fp32, operands).f;
    EXPECT_TRUE(b->circuit == Circuit::multiplier ? result == 6 : result == 5 || result == 1)
        << b->name;
  }
}

}  // namespace
}  // namespace stria
