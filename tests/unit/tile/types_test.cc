// SPDX-License-Identifier: Apache-2.0
// The rules T1… of docs/semantics/types.md; each test quotes the rule it checks.
#include <gmock/gmock.h>

#include "programs.h"

namespace stria::tile {
namespace {

using ::testing::HasSubstr;
constexpr int kCount = kDataTypeCount;

DataType type_at(int i) { return static_cast<DataType>(i); }

Inputs two(DataType a, DataType b) { return {{"A", {a, {4}}}, {"B", {b, {4}}}}; }

// Type of R = expression with A and B of these types; the message if it is refused.
std::string type_of(const std::string& expression, DataType a, DataType b = DataType::fp32) {
  Result<BoundProgram> bound =
      bind_text("function (A, B) -> (R) { R = " + expression + "; }", two(a, b));
  if (!bound.ok()) return bound.status().message();
  return std::string(name_of(tensor_of(*bound, "R").type));
}

const BoundElementwise& last_of(const BoundProgram& p) {
  return std::get<BoundElementwise>(p.statements.back().form);
}

// out, aggregation, value, combination
std::string contraction_types_of(const std::string& sign, const std::string& comb, DataType a,
                                 DataType b) {
  std::string body = comb.empty() ? "A[i]" : "A[i] " + comb + " B[i]";
  Result<BoundProgram> bound =
      bind_text("function (A[N], B[N]) -> (R) { R[" + std::string(sign == "=" ? "i : N" : "") +
                    "] = " + sign + "(" + body + "); }",
                two(a, b));
  if (!bound.ok()) return bound.status().message();
  const BoundContraction& c = contraction_of(*bound);
  return fmt::format("{} {} {} {}", name_of(tensor_of(*bound, "R").type),
                     name_of(c.aggregation_type), name_of(c.value_type),
                     name_of(c.combination_type));
}

TEST(Types, T1CommonTypeIsSymmetricAndHoldsBothSides) {
  for (int i = 0; i < kCount; ++i) {
    for (int j = 0; j < kCount; ++j) {
      DataType a = type_at(i), b = type_at(j);
      std::string expected;
      if (a == DataType::boolean && b == DataType::boolean) {
        expected = "bool";
      } else if (is_float(a) && is_float(b)) {
        expected = a == b                                       ? name_of(a)
                   : a == DataType::fp64 || b == DataType::fp64 ? "fp64"
                                                                : "fp32";
      } else if (is_float(a) || is_float(b)) {
        expected = name_of(is_float(a) ? a : b);
      } else {
        int bits = std::max(a == DataType::boolean ? 0 : bit_width(a),
                            b == DataType::boolean ? 0 : bit_width(b));
        auto unsigned_wide = [&](DataType t) {
          return is_unsigned_integer(t) && bit_width(t) == bits;
        };
        expected = fmt::format("{}{}", unsigned_wide(a) || unsigned_wide(b) ? "u" : "i", bits);
      }
      EXPECT_EQ(type_of("max(A, B)", a, b), expected) << name_of(a) << " " << name_of(b);
      EXPECT_EQ(type_of("A + B", a, b), expected == "bool" ? "i32" : expected);
      EXPECT_EQ(type_of("A < B", a, b), "bool");
      EXPECT_EQ(type_of("A ? B : A", a, b), expected);
      EXPECT_EQ(type_of("A && B", a, b), "bool");
    }
  }
}

TEST(Types, T2OperationsOnStorageTypesAreDoneInFp32) {
  auto bound =
      bind_text("function (A, B) -> (R) { R = A * B; }", two(DataType::fp16, DataType::fp16));
  ASSERT_TRUE(bound.ok());
  const BoundNode& node = last_of(*bound).nodes.back();
  EXPECT_EQ(node.operation_type, DataType::fp32);
  EXPECT_EQ(node.type, DataType::fp16);
  EXPECT_EQ(tensor_of(*bound, "R").type, DataType::fp16);
}

TEST(Types, T3FunctionsByRule) {
  EXPECT_EQ(type_of("exp(A)", DataType::i32), "fp32");
  EXPECT_EQ(type_of("exp(A)", DataType::bf16), "bf16");
  EXPECT_EQ(type_of("exp(A)", DataType::fp64), "fp64");
  EXPECT_EQ(type_of("-A", DataType::boolean), "i32");
  EXPECT_EQ(type_of("-A", DataType::u8), "u8");
  EXPECT_EQ(type_of("~A", DataType::boolean), "bool");
  EXPECT_EQ(type_of("A & B", DataType::u8, DataType::i32), "i32");
  EXPECT_THAT(type_of("A & B", DataType::u8, DataType::fp32),
              HasSubstr("bit_and works on integers"));
  EXPECT_EQ(type_of("as_float(A, 16)", DataType::i32), "fp16");
  EXPECT_EQ(type_of("as_bfloat(A, 16)", DataType::fp32), "bf16");
  EXPECT_EQ(type_of("as_uint(A, 8)", DataType::fp32), "u8");
  EXPECT_EQ(type_of("as_bool(A)", DataType::fp32), "bool");
  EXPECT_THAT(type_of("as_int(A, 24)", DataType::fp32),
              HasSubstr("the widths are 2, 4, 8, 16, 32, 64"));
}

TEST(Types, T4LiteralsTakeTheTypeOfTheTensorsTheyMeet) {
  for (int i = 1; i < kCount; ++i) {
    EXPECT_EQ(type_of("A + 1", type_at(i)), name_of(type_at(i)));
    EXPECT_EQ(type_of("2 * (1 + A)", type_at(i)), name_of(type_at(i)));
    EXPECT_EQ(type_of("A > 0 ? A : 0", type_at(i)), name_of(type_at(i)));
    EXPECT_EQ(type_of("A * 0.5", type_at(i)), is_float(type_at(i)) ? name_of(type_at(i)) : "fp32");
  }
  EXPECT_EQ(type_of("A + 1", DataType::boolean), "i32");
  EXPECT_EQ(type_of("A + 0.5", DataType::boolean), "fp32");
  EXPECT_THAT(type_of("A + 300", DataType::u8), HasSubstr("300 does not fit u8"));
  EXPECT_THAT(type_of("A > -1", DataType::u8), HasSubstr("-1 does not fit u8"));
  EXPECT_THAT(type_of("A * 1e300", DataType::fp32), HasSubstr("beyond the range of fp32"));
  // The division is done in fp32, so 100000 does not overflow fp16.
  EXPECT_EQ(type_of("A / 100000", DataType::fp16), "fp16");
}

TEST(Types, T5ConstantsAloneAreComputedInI64AndFp64) {
  auto value_of = [](const std::string& expression) {
    Result<BoundProgram> bound = bind_text("function (A[N, M]) -> (R) { R = " + expression + "; }",
                                           {{"A", {DataType::fp32, {7, 3}}}});
    if (!bound.ok()) return bound.status().message();
    const BoundNode& node = last_of(*bound).nodes.back();
    return fmt::format("{} {}", name_of(node.type), to_string(node.value));
  };
  EXPECT_EQ(value_of("3"), "i32 3");
  EXPECT_EQ(value_of("0.5"), "fp32 0.5");
  EXPECT_EQ(value_of("-3 / 2"), "i32 -1");
  EXPECT_EQ(value_of("-3 % 2"), "i32 -1");
  EXPECT_EQ(value_of("N / M"), "i32 2");
  EXPECT_EQ(value_of("N / 2.0"), "fp32 3.5");
  EXPECT_EQ(value_of("3000000000"), "i64 3000000000");
  EXPECT_EQ(value_of("sqrt(4)"), "fp32 2.0");
  EXPECT_EQ(value_of("N > M ? 1 : 0.5"), "fp32 1.0");
  EXPECT_EQ(value_of("N > M"), "bool true");
  EXPECT_EQ(value_of("max(N, M) << 2"), "i32 28");
  EXPECT_THAT(value_of("9223372036854775807 + N"), HasSubstr("beyond the range of i64"));
  EXPECT_THAT(value_of("N / (M - 3)"), HasSubstr("division of 7 by zero"));
  EXPECT_EQ(value_of("1.0 / 0"), "fp32 inf");
}

TEST(Types, T6NamedConstantsStayWithoutType) {
  auto bound = bind_text(
      "function (A[N]) -> (R) { Half = 0.5; Size = (N + 1) / 2; S = A * Half; R[i : Size] = +(S[i "
      "+ k]), k < Size; }",
      {{"A", {DataType::fp64, {5}}}});
  ASSERT_TRUE(bound.ok()) << bound.status().to_string();
  EXPECT_EQ(tensor_of(*bound, "S").type, DataType::fp64);
  EXPECT_EQ(tensor_of(*bound, "R").sizes, std::vector<int64_t>{3});
  EXPECT_EQ(bound->statements.size(), 2u);
}

TEST(Types, T7CastsGiveConstantsAType) {
  EXPECT_EQ(type_of("A + as_float(1, 64)", DataType::fp32), "fp64");
  EXPECT_EQ(type_of("A + as_int(1, 64)", DataType::i8), "i64");
  auto bound =
      bind_text("function (A) -> (R) { R = A & as_uint(-1, 32); }", {{"A", {DataType::u8, {}}}});
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(last_of(*bound).nodes[1].value.i, 4294967295);
}

TEST(Types, T8SumsAndProductsWidenSmallIntegers) {
  auto sum = [](DataType t) { return contraction_types_of("+", "", t, t); };
  EXPECT_EQ(sum(DataType::boolean), "i32 i32 bool bool");
  EXPECT_EQ(sum(DataType::i8), "i32 i32 i8 i8");
  EXPECT_EQ(sum(DataType::i16), "i32 i32 i16 i16");
  EXPECT_EQ(sum(DataType::u8), "u32 u32 u8 u8");
  EXPECT_EQ(sum(DataType::u16), "u32 u32 u16 u16");
  EXPECT_EQ(sum(DataType::i32), "i32 i32 i32 i32");
  EXPECT_EQ(sum(DataType::u64), "u64 u64 u64 u64");
  EXPECT_EQ(sum(DataType::fp64), "fp64 fp64 fp64 fp64");
  EXPECT_EQ(contraction_types_of("*", "", DataType::u8, DataType::u8), "u32 u32 u8 u8");
}

TEST(Types, T9FloatStorageTypesKeepTheirTypeAndAccumulateInFp32) {
  EXPECT_EQ(contraction_types_of("+", "*", DataType::fp16, DataType::fp16), "fp16 fp32 fp32 fp32");
  EXPECT_EQ(contraction_types_of("+", "*", DataType::bf16, DataType::bf16), "bf16 fp32 fp32 fp32");
  EXPECT_EQ(contraction_types_of("+", "*", DataType::bf16, DataType::fp16), "fp32 fp32 fp32 fp32");
  EXPECT_EQ(contraction_types_of(">", "", DataType::fp16, DataType::fp16), "fp16 fp32 fp16 fp16");
}

TEST(Types, T5IntegersThatOverflowAreErrors) {
  auto failure = [](const std::string& constant) {
    return failure_of("function (A) -> (R) { R = A + " + constant + "; }",
                      {{"A", {DataType::i64, {}}}});
  };
  EXPECT_THAT(failure("pow(10, 19)"),
              HasSubstr("the power of 10 and 19 is beyond the range of i64"));
  EXPECT_THAT(failure("pow(-2, 64)"),
              HasSubstr("the power of -2 and 64 is beyond the range of i64"));
  EXPECT_THAT(failure("abs(-9223372036854775807 - 1)"),
              HasSubstr("the absolute value of -9223372036854775808"));
  for (const char* fine :
       {"pow(-2, 63)", "pow(10, 18)", "pow(0, 99)", "pow(-1, 9223372036854775807)", "pow(2, -1)"})
    EXPECT_TRUE(bind_text(fmt::format("function (A) -> (R) {{ R = A + {}; }}", fine),
                          {{"A", {DataType::i64, {}}}})
                    .ok())
        << fine;
}

TEST(Types, M8AnIntegerConstantIsRoundedOnce) {
  auto bound = bind_text("function (A) -> (R) { R = A + 1152921573326323713; }",
                         {{"A", {DataType::fp32, {}}}});
  ASSERT_TRUE(bound.ok()) << bound.status().to_string();
  std::vector<double> constants;
  for (const BoundNode& node : std::get<BoundElementwise>(bound->statements[0].form).nodes)
    if (node.kind == BoundNode::Kind::constant) constants.push_back(node.value.f);
  EXPECT_EQ(constants, (std::vector<double>{static_cast<float>(int64_t{1152921573326323713})}));
}

TEST(Types, T10CombinationOfSmallIntegersIsDoneIn32Bits) {
  EXPECT_EQ(contraction_types_of("+", "*", DataType::i8, DataType::i8), "i32 i32 i32 i32");
  EXPECT_EQ(contraction_types_of("+", "*", DataType::u8, DataType::u8), "u32 u32 u32 u32");
  EXPECT_EQ(contraction_types_of("+", "*", DataType::u8, DataType::i8), "i32 i32 i32 i32");
  EXPECT_EQ(contraction_types_of("+", "*", DataType::u16, DataType::i8), "i32 i32 i32 i32");
  EXPECT_EQ(contraction_types_of(">", "+", DataType::i8, DataType::u8), "i32 i32 i32 i32");
  EXPECT_EQ(contraction_types_of("+", "*", DataType::i8, DataType::fp32), "fp32 fp32 fp32 fp32");
  EXPECT_EQ(contraction_types_of("+", "*", DataType::u8, DataType::i32), "i32 i32 i32 i32");
}

TEST(Types, T11MaxMinAndAssignKeepTheType) {
  for (int i = 0; i < kCount; ++i)
    for (const char* sign : {">", "<", "="}) {
      DataType t = type_at(i);
      std::string n(name_of(t));
      EXPECT_EQ(contraction_types_of(sign, "", t, t),
                fmt::format("{} {} {} {}", n, name_of(compute_type(t)), n, n));
    }
}

TEST(Types, T12EqualCombinationGivesBool) {
  EXPECT_EQ(contraction_types_of("+", "==", DataType::i8, DataType::fp32), "i32 i32 bool fp32");
  EXPECT_EQ(contraction_types_of(">", "==", DataType::i8, DataType::i8), "bool bool bool i8");
  auto bound = bind_text(
      "function (A[N], B[N], C[N]) -> (R) { R[] = +(A[i] == B[i] ? C[i]); }",
      {{"A", {DataType::i32, {4}}}, {"B", {DataType::i8, {4}}}, {"C", {DataType::fp16, {4}}}});
  ASSERT_TRUE(bound.ok());
  const BoundContraction& c = contraction_of(*bound);
  EXPECT_EQ(c.combination_type, DataType::i32);
  EXPECT_EQ(c.value_type, DataType::fp16);
  EXPECT_EQ(c.aggregation_type, DataType::fp32);
  EXPECT_EQ(tensor_of(*bound, "R").type, DataType::fp16);
}

TEST(Types, T13ConstantOperandsOfContractionsFollowTheOthers) {
  auto bound = bind_text("function (A[N]) -> (R) { Half = 0.5; R[i : N] = +(A[i] * Half[]); }",
                         {{"A", {DataType::fp64, {4}}}});
  ASSERT_TRUE(bound.ok()) << bound.status().to_string();
  EXPECT_EQ(tensor_of(*bound, "R").type, DataType::fp64);
  EXPECT_EQ(bound->statements.size(), 2u);
}

// As a caller sees R, and as it is held.
std::string outside_and_held(const std::string& expression, DataType a,
                             DataType b = DataType::fp32) {
  Result<BoundProgram> bound =
      bind_text("function (A, B) -> (R) { R = " + expression + "; }", two(a, b));
  if (!bound.ok()) return bound.status().message();
  const BoundTensor& r = tensor_of(*bound, "R");
  return fmt::format("{} {}", name_of(r.outside_type()), name_of(r.type));
}

TEST(Types, T14ElementsOfPackedTypesAreHeldInOthers) {
  const std::pair<DataType, DataType> kTypes[] = {
      {DataType::i4, DataType::i8},         {DataType::i2, DataType::i8},
      {DataType::u4, DataType::u8},         {DataType::u2, DataType::u8},
      {DataType::fp8_e4m3, DataType::fp32}, {DataType::fp8_e5m2, DataType::fp32},
      {DataType::fp4, DataType::fp32}};
  for (const auto& [packed, held] : kTypes) {
    const std::string p(name_of(packed)), h(name_of(held));
    EXPECT_EQ(held_type(packed), held);
    EXPECT_EQ(outside_and_held("A + B", packed, packed), h + " " + h);
    EXPECT_EQ(outside_and_held("0 ? B : A", packed, packed), h + " " + h);
    EXPECT_EQ(outside_and_held("reshape(A, 2, 2)", packed), h + " " + h);
    EXPECT_EQ(outside_and_held("A", packed), p + " " + h);
    const std::string cast = is_float(packed)
                                 ? fmt::format("as_{}", p)
                                 : fmt::format("as_{}int", is_signed_integer(packed) ? "" : "u");
    const std::string width = is_float(packed) ? "" : fmt::format(", {}", bit_width(packed));
    for (DataType from : {DataType::boolean, DataType::u64, DataType::fp16, DataType::fp64, packed})
      EXPECT_EQ(outside_and_held(fmt::format("{}(A{})", cast, width), from), p + " " + h);
    // A constant is cast when the program is bound.
    EXPECT_EQ(outside_and_held(fmt::format("{}(1{})", cast, width), DataType::i8), p + " " + h);
    EXPECT_EQ(outside_and_held(fmt::format("{}(A{}) * 2", cast, width), DataType::i8), h + " " + h);
    EXPECT_EQ(contraction_types_of("+", "*", packed, packed),
              contraction_types_of("+", "*", held, held));
  }
  // A result of a function of the file is what the function made.
  const auto bound =
      bind_text("function f(X) -> (Y) { Y = as_int(X, 4); } function (A) -> (R) { R = f(A); }",
                {{"A", {DataType::i32, {3}}}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_EQ(tensor_of(*bound, "R").packed, DataType::i4);
}

TEST(Types, RoundBinaryIsAFunctionOfFloats) {
  EXPECT_EQ(type_of("round_binary(A, 3, -6, 8)", DataType::i8), "fp32");
  EXPECT_EQ(type_of("round_binary(A, 3, -6, 8)", DataType::fp64), "fp64");
  EXPECT_THAT(type_of("round_binary(A, 11, -6, 8)", DataType::fp32),
              HasSubstr("11 binary places: 0 to 10 are possible"));
  EXPECT_THAT(type_of("round_binary(A, 3, -31, 8)", DataType::fp32),
              HasSubstr("exponent -31: -30 to 30 are possible"));
  EXPECT_THAT(type_of("round_binary(A, 3, 2, 1)", DataType::fp32),
              HasSubstr("the highest exponent 1 is below the lowest one, 2"));
}

}  // namespace
}  // namespace stria::tile
