// SPDX-License-Identifier: Apache-2.0
// Folding of expressions: what the builder relies on to keep unrolled code small, and what must not
// fold.
#include "stria/semtree/tree/expr.h"

#include <gtest/gtest.h>

#include "stria/semtree/tree/print.h"

namespace stria::semtree {
namespace {

ExprRef i32(int64_t value) { return integer(DataType::i32, value); }
ExprRef var(DataType type = DataType::i32) { return variable(0, {type, 1}); }

TEST(Expr, IntegersFoldAndWrap) {
  EXPECT_TRUE(is_integer_constant(binary(Op::add, i32(2147483647), i32(1)), -2147483648LL));
  EXPECT_TRUE(is_integer_constant(
      binary(Op::mul, integer(DataType::u8, 200), integer(DataType::u8, 2)), 144));
  EXPECT_TRUE(is_integer_constant(binary(Op::floor_div, i32(-7), i32(2)), -4));
  EXPECT_TRUE(is_integer_constant(binary(Op::floor_div, i32(7), i32(2)), 3));
  EXPECT_TRUE(is_integer_constant(binary(Op::lt, i32(-1), i32(0)), 1));
  EXPECT_TRUE(is_integer_constant(
      binary(Op::lt, integer(DataType::u32, -1), integer(DataType::u32, 0)), 0));
  EXPECT_TRUE(is_integer_constant(
      binary(Op::max, integer(DataType::u64, -1), integer(DataType::u64, 1)), -1));
}

TEST(Expr, NeutralElementsVanish) {
  EXPECT_EQ(binary(Op::add, var(), i32(0))->kind, ExprKind::variable);
  EXPECT_EQ(binary(Op::mul, i32(1), var())->kind, ExprKind::variable);
  EXPECT_TRUE(is_integer_constant(binary(Op::mul, var(), i32(0)), 0));
  EXPECT_EQ(binary(Op::bit_and, var(DataType::boolean), constant(Scalar::of_bool(true)))->kind,
            ExprKind::variable);
  EXPECT_EQ(select(constant(Scalar::of_bool(false)), i32(3), var())->kind, ExprKind::variable);
}

TEST(Expr, FloatsKeepTheirMeaning) {
  // x + 0 is not x for -0, and x * 0 is not 0 for NaN.
  ExprRef zero = constant(Scalar::of_float(DataType::fp32, 0));
  EXPECT_EQ(binary(Op::add, var(DataType::fp32), zero)->kind, ExprKind::operation);
  EXPECT_EQ(binary(Op::mul, var(DataType::fp32), zero)->kind, ExprKind::operation);
  EXPECT_EQ(binary(Op::sub, var(DataType::fp32), zero)->kind, ExprKind::operation);
}

TEST(Expr, LargerAndSmallerFloatsAreFoundAgain) {
  const ExprRef a = variable(0, {DataType::fp32, 4}), b = variable(1, {DataType::fp32, 4});
  for (Op op : {Op::max, Op::min}) {
    const std::optional<FloatExtreme> found = as_float_extreme(*float_extreme(op, a, b));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->op, op);
    EXPECT_EQ(found->a, a);
    EXPECT_EQ(found->b, b);
  }
  // What looks like it but is not: which zero comes out is decided here.
  EXPECT_FALSE(
      as_float_extreme(*select(binary(Op::ne, a, a), a, select(binary(Op::lt, b, a), a, b))));
}

TEST(Expr, ConstantsConvertByTheRules) {
  ExprRef nan =
      constant(Scalar::of_float(DataType::fp32, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(is_integer_constant(convert_to(DataType::i8, nan), 0));
  EXPECT_TRUE(is_integer_constant(
      convert_to(DataType::u8, constant(Scalar::of_float(DataType::fp32, 300))), 255));
  EXPECT_TRUE(is_integer_constant(convert_to(DataType::i8, i32(200)), -56));
}

TEST(Expr, BitsAreReadAsAnotherNumber) {
  const auto fp32 = [](double value) { return constant(Scalar::of_float(DataType::fp32, value)); };
  EXPECT_TRUE(is_integer_constant(reinterpret(DataType::i32, fp32(1)), 0x3f800000));
  EXPECT_TRUE(is_integer_constant(reinterpret(DataType::i32, fp32(-0.0)), INT32_MIN));
  EXPECT_TRUE(is_integer_constant(reinterpret(DataType::u32, i32(-1)), 0xffffffff));
  EXPECT_TRUE(same(reinterpret(DataType::fp32, i32(0x40490fdb)), fp32(0x1.921fb6p1)));
  // Which NaN it is, a constant does not say.
  const ExprRef nan = reinterpret(DataType::fp32, i32(0x7fc00001));
  EXPECT_EQ(nan->kind, ExprKind::reinterpret);
  EXPECT_TRUE(is_integer_constant(reinterpret(DataType::i32, nan), 0x7fc00001));
  const ExprRef bits = reinterpret(DataType::u64, variable(0, {DataType::fp64, 4}));
  EXPECT_EQ(bits->type, (Type{DataType::u64, 4}));
  EXPECT_EQ(reinterpret(DataType::fp64, bits)->kind, ExprKind::variable);
  EXPECT_EQ(reinterpret(DataType::i64, bits)->args[0]->kind, ExprKind::variable);
  Function function;
  function.vars = {{"x", {DataType::fp64, 4}}};
  EXPECT_EQ(print(bits, function), "bits_u64(x)");
}

TEST(Expr, ScalarsBroadcastBesideVectors) {
  ExprRef sum = binary(Op::add, variable(1, {DataType::i32, 8}), i32(5));
  EXPECT_EQ(sum->type, (Type{DataType::i32, 8}));
  EXPECT_EQ(sum->args[1]->type, (Type{DataType::i32, 8}));
  EXPECT_EQ(reduce(Op::add, sum)->type, (Type{DataType::i32, 1}));
}

TEST(Expr, SameComparesTrees) {
  ExprRef a = binary(Op::add, var(), i32(5)), b = binary(Op::add, var(), i32(5)),
          c = binary(Op::sub, var(), i32(5));
  EXPECT_TRUE(same(a, b));
  EXPECT_FALSE(same(a, c));
  EXPECT_FALSE(same(constant(Scalar::of_float(DataType::fp32, 0.0)),
                    constant(Scalar::of_float(DataType::fp32, -0.0))));
}

}  // namespace
}  // namespace stria::semtree
