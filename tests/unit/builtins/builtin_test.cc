// SPDX-License-Identifier: Apache-2.0
// The checklist of every record, the semantics of integer and float edge cases, and the type and
// shape rules of calls.
#include "stria/builtins/builtin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace stria {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();

Scalar call(std::string_view name, DataType type, std::vector<Scalar> operands) {
  const Builtin* b = find_builtin(name);
  EXPECT_NE(b, nullptr) << name;
  EXPECT_TRUE(allows(*b, type)) << name;
  EXPECT_EQ(static_cast<int>(operands.size()), b->arity) << name;
  for (int i = 0; i < b->arity; ++i) operands[i] = convert(operands[i], operand_type(*b, type, i));
  Scalar result = b->reference(type, operands.data());
  EXPECT_EQ(result.type, result_type(*b, type)) << name;
  return result;
}
int64_t ints(std::string_view name, DataType type, int64_t a, int64_t b) {
  return call(name, type, {Scalar::of_int(type, a), Scalar::of_int(type, b)}).i;
}
int64_t int1(std::string_view name, DataType type, int64_t a) {
  return call(name, type, {Scalar::of_int(type, a)}).i;
}
double floats(std::string_view name, double a, double b, DataType type = DataType::fp64) {
  return call(name, type, {Scalar::of_float(type, a), Scalar::of_float(type, b)}).f;
}
double float1(std::string_view name, double a, DataType type = DataType::fp64) {
  return call(name, type, {Scalar::of_float(type, a)}).f;
}

TEST(Builtin, EveryRecordIsComplete) {
  std::set<std::string> names, spellings;
  for (const Builtin* b : all_builtins()) {
    SCOPED_TRACE(b->name);
    EXPECT_TRUE(names.insert(b->name).second);
    EXPECT_GE(b->arity, 1);
    EXPECT_LE(b->arity, 3);
    ASSERT_NE(b->reference, nullptr);
    EXPECT_GE(std::string(b->doc).size(), 10u);
    EXPECT_EQ(std::string(b->doc).back(), '.');
    EXPECT_EQ(std::string(b->example).rfind("R = ", 0), 0u);
    EXPECT_EQ(std::string(b->example).back(), ';');
    if (b->spelling && b->arity == 2) {
      EXPECT_TRUE(spellings.insert(b->spelling).second);
    }
    int derivatives = 0;
    for (int i = 0; i < 3; ++i) {
      derivatives += b->gradient.of[i] != nullptr;
      EXPECT_TRUE(i < b->arity || !b->gradient.of[i]);
    }
    EXPECT_EQ(derivatives > 0, b->gradient.why_not == nullptr);
    EXPECT_GE(b->ulp.fp32, 0);
    EXPECT_GE(b->ulp.fp64, 0);
    EXPECT_EQ(find_builtin(b->name), b);
    // The reference gives the promised type for every type it allows.
    for (int t = 0; t < kDataTypeCount; ++t) {
      auto type = static_cast<DataType>(t);
      if (!allows(*b, type)) continue;
      call(b->name, type, std::vector<Scalar>(b->arity, Scalar::of_int(DataType::i32, 1)));
    }
  }
  EXPECT_EQ(builtin_names().size(), names.size());
  EXPECT_GE(names.size(), 49u);
  EXPECT_EQ(find_builtin("nonsense"), nullptr);
  EXPECT_EQ(find_builtin(""), nullptr);
}

TEST(Builtin, IntegersWrap) {
  EXPECT_EQ(ints("add", DataType::i8, 127, 1), -128);
  EXPECT_EQ(ints("sub", DataType::u8, 0, 1), 255);
  EXPECT_EQ(ints("mul", DataType::i16, 300, 300), static_cast<int16_t>(90000));
  EXPECT_EQ(ints("mul", DataType::i64, kMin64, -1), kMin64);
  EXPECT_EQ(ints("add", DataType::i64, std::numeric_limits<int64_t>::max(), 1), kMin64);
  EXPECT_EQ(int1("neg", DataType::i64, kMin64), kMin64);
  EXPECT_EQ(int1("abs", DataType::i8, -128), -128);
  EXPECT_EQ(int1("abs", DataType::u8, 200), 200);
  EXPECT_EQ(ints("add", DataType::boolean, 1, 1), 1);
}

TEST(Builtin, DivisionNeverTraps) {
  for (DataType t : {DataType::i8, DataType::i32, DataType::i64, DataType::u8, DataType::u64}) {
    EXPECT_EQ(ints("div", t, 7, 0), 0);
    EXPECT_EQ(ints("mod", t, 7, 0), 0);
  }
  EXPECT_EQ(ints("div", DataType::i8, -128, -1), -128);
  EXPECT_EQ(ints("mod", DataType::i8, -128, -1), 0);
  EXPECT_EQ(ints("div", DataType::i64, kMin64, -1), kMin64);
  EXPECT_EQ(ints("mod", DataType::i64, kMin64, -1), 0);
  EXPECT_EQ(ints("div", DataType::i32, -7, 2), -3);
  EXPECT_EQ(ints("mod", DataType::i32, -7, 2), -1);
  EXPECT_EQ(ints("div", DataType::u64, -1, 2), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(floats("div", 1, 0), kInf);
  EXPECT_EQ(floats("mod", -7.5, 2), -1.5);
  EXPECT_TRUE(std::isnan(floats("mod", 1, 0)));
}

TEST(Builtin, ShiftCountsAreTakenModuloTheWidth) {
  EXPECT_EQ(ints("bit_left", DataType::i32, 1, 33), 2);
  EXPECT_EQ(ints("bit_left", DataType::u8, 0x81, 1), 2);
  EXPECT_EQ(ints("bit_right", DataType::i8, -128, 1), -64);
  EXPECT_EQ(ints("bit_right", DataType::u8, 128, 1), 64);
  EXPECT_EQ(ints("bit_right", DataType::i64, kMin64, 63), -1);
  EXPECT_EQ(ints("bit_right", DataType::u64, kMin64, 63), 1);
  EXPECT_EQ(ints("bit_left", DataType::i16, 1, -1), -32768);
  EXPECT_EQ(ints("bit_left", DataType::boolean, 1, 1), 1);
  EXPECT_EQ(int1("bit_not", DataType::u8, 1), 254);
  EXPECT_EQ(int1("bit_not", DataType::boolean, 1), 0);
}

TEST(Builtin, NanPropagatesThroughMaxMinRelu) {
  for (const char* name : {"max", "min"}) {
    EXPECT_TRUE(std::isnan(floats(name, kNan, 1)));
    EXPECT_TRUE(std::isnan(floats(name, 1, kNan)));
    EXPECT_TRUE(std::isnan(floats(name, kNan, kInf)));
  }
  EXPECT_EQ(floats("max", -kInf, 3), 3);
  EXPECT_EQ(floats("min", -kInf, 3), -kInf);
  EXPECT_EQ(ints("max", DataType::u64, -1, 1), -1);
  EXPECT_EQ(ints("max", DataType::i64, -1, 1), 1);
  EXPECT_TRUE(std::isnan(float1("relu", kNan)));
  EXPECT_EQ(float1("relu", -1), 0);
  EXPECT_EQ(int1("relu", DataType::i8, -5), 0);
}

TEST(Builtin, ComparisonsFollowTheTypeAndNan) {
  EXPECT_EQ(ints("cmp_lt", DataType::i64, -1, 1), 1);
  EXPECT_EQ(ints("cmp_lt", DataType::u64, -1, 1), 0);
  EXPECT_FALSE(
      call("cmp_eq", DataType::fp32,
           {Scalar::of_float(DataType::fp32, kNan), Scalar::of_float(DataType::fp32, kNan)})
          .i);
  EXPECT_TRUE(call("cmp_ne", DataType::fp32,
                   {Scalar::of_float(DataType::fp32, kNan), Scalar::of_float(DataType::fp32, kNan)})
                  .i);
  EXPECT_FALSE(call("cmp_ge", DataType::fp64,
                    {Scalar::of_float(DataType::fp64, kNan), Scalar::of_float(DataType::fp64, 0)})
                   .i);
  Scalar half = Scalar::of_float(DataType::fp32, 0.5), zero = Scalar::of_float(DataType::fp32, 0);
  EXPECT_EQ(call("cond", DataType::i32, {half, Scalar::of_int(DataType::i32, 1), zero}).i, 1);
  EXPECT_EQ(call("logical_and", DataType::fp32, {half, half}).i, 1);
  EXPECT_EQ(call("logical_or", DataType::fp32, {zero, zero}).i, 0);
  EXPECT_EQ(call("logical_not", DataType::fp32, {half}).i, 0);
}

TEST(Builtin, CastsSaturateAndRoundHalfToEven) {
  Scalar big = Scalar::of_float(DataType::fp32, 300), nan = Scalar::of_float(DataType::fp32, kNan);
  EXPECT_EQ(call("ident", DataType::i8, {big}).i, 127);
  EXPECT_EQ(call("ident", DataType::u8, {Scalar::of_float(DataType::fp32, -3)}).i, 0);
  EXPECT_EQ(call("ident", DataType::i32, {nan}).i, 0);
  EXPECT_EQ(call("ident", DataType::i8, {Scalar::of_int(DataType::i32, 300)}).i, 44);
  EXPECT_EQ(float1("round", 2.5), 2);
  EXPECT_EQ(float1("round", -3.5), -4);
  EXPECT_EQ(float1("floor", -0.5), -1);
  EXPECT_EQ(float1("ceil", -0.5), 0);
  EXPECT_EQ(int1("round", DataType::i64, kMin64), kMin64);
  EXPECT_EQ(float1("exp", 1, DataType::fp32), static_cast<float>(std::exp(1.0)));
}

TEST(Builtin, IntegerPower) {
  EXPECT_EQ(ints("pow", DataType::i32, 3, 4), 81);
  EXPECT_EQ(ints("pow", DataType::i32, 2, 31), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(ints("pow", DataType::i32, 2, 40), 0);
  EXPECT_EQ(ints("pow", DataType::i32, 0, 0), 1);
  EXPECT_EQ(ints("pow", DataType::i32, 2, -1), 0);
  EXPECT_EQ(ints("pow", DataType::i32, -1, -3), -1);
  EXPECT_EQ(ints("pow", DataType::i32, -1, -2), 1);
  EXPECT_EQ(ints("pow", DataType::i32, 1, -9), 1);
  EXPECT_EQ(ints("pow", DataType::i32, 0, -1), 0);
}

TEST(Builtin, CallTypes) {
  auto types = [](const char* name, std::vector<DataType> in) {
    return call_types(*find_builtin(name), in);
  };
  EXPECT_EQ(types("add", {DataType::i32, DataType::fp16})->result, DataType::fp16);
  EXPECT_EQ(types("add", {DataType::i32, DataType::fp16})->operation, DataType::fp32);
  EXPECT_EQ(types("add", {DataType::boolean, DataType::boolean})->result, DataType::i32);
  EXPECT_EQ(types("add", {DataType::u8, DataType::i8})->result, DataType::u8);
  EXPECT_EQ(types("add", {DataType::u8, DataType::i16})->result, DataType::i16);
  EXPECT_EQ(types("mul", {DataType::fp16, DataType::bf16})->result, DataType::fp32);
  EXPECT_EQ(types("exp", {DataType::i64})->result, DataType::fp32);
  EXPECT_EQ(types("cmp_lt", {DataType::i8, DataType::i8})->result, DataType::boolean);
  EXPECT_EQ(types("cmp_lt", {DataType::i8, DataType::i8})->operation, DataType::i8);
  EXPECT_EQ(types("cond", {DataType::fp64, DataType::i8, DataType::i8})->result, DataType::i8);
  EXPECT_EQ(types("bit_and", {DataType::fp32, DataType::i8}).status().message(),
            "bit_and works on integers and bool, not on fp32");
  EXPECT_EQ(types("add", {DataType::i8}).status().message(), "add takes 2 operands, got 1");
}

TEST(Builtin, CastTypes) {
  EXPECT_EQ(*cast_type(*find_builtin("as_float"), 16), DataType::fp16);
  EXPECT_EQ(*cast_type(*find_builtin("as_uint"), 8), DataType::u8);
  EXPECT_EQ(*cast_type(*find_builtin("as_bfloat"), 16), DataType::bf16);
  EXPECT_FALSE(cast_type(*find_builtin("as_bfloat"), 32).ok());
  EXPECT_EQ(*cast_type(*find_builtin("as_bool"), 0), DataType::boolean);
  EXPECT_FALSE(cast_type(*find_builtin("as_bool"), 8).ok());
  EXPECT_EQ(cast_type(*find_builtin("as_float"), 8).status().message(),
            "as_float to 8 bits: write as_fp8_e4m3(x) or as_fp8_e5m2(x)");
  EXPECT_EQ(cast_type(*find_builtin("as_float"), 12).status().message(),
            "as_float to 12 bits: the widths are 16, 32, 64");
  EXPECT_EQ(*cast_type(*find_builtin("as_int"), 4), DataType::i4);
  EXPECT_EQ(*cast_type(*find_builtin("as_uint"), 2), DataType::u2);
  EXPECT_EQ(*cast_type(*find_builtin("as_fp8_e4m3"), 0), DataType::fp8_e4m3);
  EXPECT_EQ(*cast_type(*find_builtin("as_fp4"), 0), DataType::fp4);
  EXPECT_EQ(cast_type(*find_builtin("as_uint"), 3).status().message(),
            "as_uint to 3 bits: the widths are 2, 4, 8, 16, 32, 64");
  EXPECT_FALSE(cast_type(*find_builtin("as_int"), -8).ok());
}

TEST(Builtin, Broadcast) {
  using Sizes = std::vector<int64_t>;
  auto broadcast = [](std::vector<Sizes> in) { return broadcast_sizes(in); };
  EXPECT_EQ(*broadcast({{2, 1, 3}, {4, 1}}), (Sizes{2, 4, 3}));
  EXPECT_EQ(*broadcast({{}, {5}}), (Sizes{5}));
  EXPECT_EQ(*broadcast({{0}, {1}}), (Sizes{0}));
  EXPECT_EQ(*broadcast({}), (Sizes{}));
  EXPECT_EQ(broadcast({{2, 3}, {4, 3}}).status().message(),
            "sizes [2, 3] and [4, 3] do not broadcast: 2 against 4 in dimension 2 from the end");
}

}  // namespace
}  // namespace stria
