// SPDX-License-Identifier: Apache-2.0
// Every function and operator of Tile from C++: the text it prints is the call that a program has.
// That functions.h has one for each record is the golden test of docs.
#include <gtest/gtest.h>

#include <type_traits>

#include "stria/builtins/builtin.h"
#include "stria/builtins/composite.h"
#include "stria/builtins/special.h"
#include "stria/tile/syntax/operators.h"
#include "text_of.h"

namespace stria::edsl {
namespace {

// What stands behind "R = ".
std::string written(const Tensor& value, const std::vector<Input>& inputs) {
  const std::string text = text_of(inputs, {named("R", value)});
  const size_t begin = text.find("R = ");
  return begin == std::string::npos ? text
                                    : text.substr(begin + 4, text.find(';', begin) - begin - 4);
}

TEST(EdslFunctions, OperatorsAreTheBuiltinsOfTheirSign) {
  Tensor A = input("A"), B = input("B");
  const std::vector<std::pair<const char*, Tensor>> made = {
      {"||", A || B}, {"&&", A && B}, {"^", A ^ B},   {"|", A | B}, {"&", A & B},   {"==", A == B},
      {"!=", A != B}, {">", A > B},   {">=", A >= B}, {"<", A < B}, {"<=", A <= B}, {"<<", A << B},
      {">>", A >> B}, {"+", A + B},   {"-", A - B},   {"*", A * B}, {"/", A / B},   {"%", A % B}};
  EXPECT_EQ(made.size(), std::size(tile::kBinaryOperators));
  for (const auto& [sign, value] : made) {
    ASSERT_NE(tile::binary_by_sign(sign), nullptr) << sign;
    EXPECT_EQ(written(value, {A, B}), std::string("A ") + sign + " B");
  }
  const std::vector<std::pair<const char*, Tensor>> unary = {{"-", -A}, {"~", ~A}, {"!", !A}};
  EXPECT_EQ(unary.size(), std::size(tile::kUnaryOperators));
  for (const auto& [sign, value] : unary) EXPECT_EQ(written(value, {A}), std::string(sign) + "A");
  EXPECT_EQ(written(cond(A, B, 1), {A, B}), "A ? B : 1");
}

TEST(EdslFunctions, OperatorsOfDimensionsAreTheSame) {
  Dim N("N"), M("M");
  Tensor A = input("A", N, M);
  const std::vector<std::pair<const char*, Dim>> made = {
      {"||", N || M}, {"&&", N && M}, {"^", N ^ M},   {"|", N | M}, {"&", N & M},   {"==", N == M},
      {"!=", N != M}, {">", N > M},   {">=", N >= M}, {"<", N < M}, {"<=", N <= M}, {"<<", N << M},
      {">>", N >> M}, {"+", N + M},   {"-", N - M},   {"*", N * M}, {"/", N / M},   {"%", N % M}};
  EXPECT_EQ(made.size(), std::size(tile::kBinaryOperators));
  for (const auto& [sign, value] : made)
    EXPECT_EQ(written(value, {A}), std::string("N ") + sign + " M");
  EXPECT_EQ(written(-N, {A}), "-N");
  EXPECT_EQ(written(~N, {A}), "~N");
  EXPECT_EQ(written(!N, {A}), "!N");
  EXPECT_EQ(written(cond(N > M, N, 7), {A}), "N > M ? N : 7");
  EXPECT_EQ(written(max(N, 3), {A}), "max(N, 3)");
  EXPECT_EQ(written(broadcast(N, M), {A}), "broadcast(N, M)");
}

TEST(EdslFunctions, SizeIsADimension) {
  Tensor A = input("A");
  Index i("i");
  const Dim rows = size(A, 0);
  EXPECT_EQ(written(rows * 2, {A}), "size(A, 0) * 2");
  // The size of an output; within a form, where only names can stand, with a statement of its own.
  Tensor B = input("B", Dim("N"));
  Tensor O("O", size(B, 0));
  O(i) += B(size(B, 0) - 1 - i);
  const std::string text = text_of({B}, {O});
  EXPECT_NE(text.find("O[i : "), std::string::npos) << text;
  EXPECT_NE(text.find(" = size(B, 0);"), std::string::npos) << text;
}

// Calls a function with as many of A, B and C as it takes; casts of a width get 8.
template <typename Function>
std::pair<Tensor, std::string> called(const Function& function, const Tensor& A, const Tensor& B,
                                      const Tensor& C) {
  using T = const Tensor&;
  if constexpr (std::is_invocable_v<Function, T>) {
    return {function(A), "A"};
  } else if constexpr (std::is_invocable_v<Function, T, T>) {
    return {function(A, B), "A, B"};
  } else if constexpr (std::is_invocable_v<Function, T, int64_t>) {
    return {function(A, int64_t{8}), "A, 8"};
  } else {
    return {function(A, B, C), "A, B, C"};
  }
}

// Each record's function by its own name, as functions.h has it.
TEST(EdslFunctions, EveryBuiltinPrintsByItsName) {
  Tensor A = input("A"), B = input("B"), C = input("C");
  size_t seen = 0;
#define STRIA_BUILTIN(name)                                                              \
  {                                                                                      \
    const auto function = [](const auto&... arguments) -> decltype(name(arguments...)) { \
      return name(arguments...);                                                         \
    };                                                                                   \
    const auto [value, arguments] = called(function, A, B, C);                           \
    if (find_builtin(#name)->spelling == nullptr) {                                      \
      EXPECT_EQ(written(value, {A, B, C}), #name "(" + arguments + ")");                 \
    } else {                                                                             \
      EXPECT_NE(written(value, {A, B, C}).find(find_builtin(#name)->spelling[0]),        \
                std::string::npos)                                                       \
          << #name;                                                                      \
    }                                                                                    \
    ++seen;                                                                              \
  }
#include "stria/builtins/all_builtins.def"
#undef STRIA_BUILTIN
  EXPECT_EQ(seen, all_builtins().size());
}

TEST(EdslFunctions, SpecialsAndCompositesPrintByTheirNames) {
  Dim N("N"), M("M");
  Tensor A = input("A"), B = input("B"), C = input("C"), D = input("D", N, M);
  const std::vector<Input> inputs = {A, B, C, D};
  EXPECT_EQ(written(gather(A, B), inputs), "gather(A, B)");
  EXPECT_EQ(written(scatter(A, B, C), inputs), "scatter(A, B, C)");
  EXPECT_EQ(written(index(A, 1), inputs), "index(A, 1)");
  EXPECT_EQ(written(shape(A), inputs), "shape(A)");
  EXPECT_EQ(written(reshape(A, {N * 2, M}), inputs), "reshape(A, N * 2, M)");
  EXPECT_EQ(written(reshape(A, {}), inputs), "reshape(A)");
  EXPECT_EQ(written(match(N, M), inputs), "match(N, M)");
  EXPECT_EQ(written(mad(A, B, 2), inputs), "mad(A, B, 2)");
  EXPECT_EQ(written(reverse_grad(A, 0.5), inputs), "reverse_grad(A, 0.5)");
  EXPECT_EQ(written(builtin_softmax(D, N, M), inputs), "builtin_softmax(D, N, M)");
  EXPECT_EQ(written(builtin_logsoftmax(D, N, M), inputs), "builtin_logsoftmax(D, N, M)");
  EXPECT_EQ(written(builtin_binary_crossentropy(A, B, 1.0), inputs),
            "builtin_binary_crossentropy(A, B, 1.0)");
}

}  // namespace
}  // namespace stria::edsl
