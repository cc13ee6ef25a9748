// SPDX-License-Identifier: Apache-2.0
// What a program that is written in C++ prints as.
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "stria/tile/syntax/parser.h"
#include "text_of.h"

namespace stria::edsl {
namespace {

TEST(Edsl, PrintsAMatrixProductWithInventedNames) {
  Dim M, N, K;
  Index i, j, k;
  Tensor A = input("A", M, K), B = input("B", K, N);
  Tensor C("C", M, N);
  C(i, j) += A(i, k) * B(k, j);
  const Program matmul = program("matmul", {A, B}, {relu(C)}).value();
  EXPECT_EQ(matmul.name(), "matmul");
  EXPECT_EQ(matmul.text(),
            "function matmul(A[M, N], B[N, K]) -> (Relu) {\n"
            "  C[i, j : M, K] = +(A[i, k] * B[k, j]);\n"
            "  Relu = relu(C);\n"
            "}\n");
  EXPECT_EQ(matmul.inputs()[1].text(), "B[N, K]");
  EXPECT_EQ(matmul.outputs(), std::vector<std::string>{"Relu"});
  // It reads back as the same program.
  EXPECT_EQ(Program::from_tile({"matmul.tile", matmul.text()}).value().text(), matmul.text());
}

TEST(Edsl, WritesEveryPartOfAContraction) {
  auto [N, M] = dims("N", "M");
  auto [i, j] = indices("i", "j");
  Tensor A = input("A", N), B = input("B", N), C = input("C", M), D = input("D", N);
  Tensor S("S", N), P("P", N), G("G", N), L("L", N), E("E", N), X("X", N), Q("Q", N), T("T");
  S(i) += A(j), i - j < N, j < M, no_defract, default_to(D);
  P(i) *= A(i) * B(i);
  G(2 * i + 1) >= A(i) + B(i), default_to(0);
  L(i) <= (A(i) == B(i));
  E(i / 2 - 1) = A(i);
  X(N - 1 - i) = A(i) * C(j);
  Q(i) += cond(A(i) == B(i), C(j));
  T() += A(i), Constraint{Form(3), N};
  EXPECT_EQ(text_of({A, B, C, D}, {S, P, G, L, E, X, Q, T}),
            "function f(A[N], B[N], C[M], D[N]) -> (S, P, G, L, E, X, Q, T) {\n"
            "  S[i : N] = +(A[j]), i - j < N, j < M no_defract default D;\n"
            "  P[i : N] = *(A[i] * B[i]);\n"
            "  Number = 0;\n"
            "  G[2 * i + 1 : N] = >(A[i] + B[i]) default Number;\n"
            "  L[i : N] = <(A[i] == B[i]);\n"
            "  E[i / 2 - 1 : N] = =(A[i]);\n"
            "  X[N - 1 - i : N] = =(A[i] * C[j]);\n"
            "  Q[i : N] = +(A[i] == B[i] ? C[j]);\n"
            "  T[] = +(A[i]), 3 < N;\n"
            "}\n");
}

TEST(Edsl, ListsOfSizesAndFormsMayBeMadeWhileRunning) {
  std::vector<Dim> sizes = std::vector<Dim>(3);
  std::vector<Index> at(3);
  Tensor I = input("I", sizes);
  Tensor O("O", sizes);
  O.at({at[0], at[1], at[2]}) = I.at({at[2], at[1], at[0]});
  EXPECT_EQ(text_of({I}, {O}),
            "function f(I[M, N, K]) -> (O) {\n"
            "  O[i, j, k : M, N, K] = =(I[k, j, i]);\n"
            "}\n");
}

TEST(Edsl, ExpressionsWithoutNamesAreWrittenWhereTheyAreUsedOnce) {
  Tensor X = input("X");
  Tensor E = exp(X), S = X * X;
  // E is used once, S twice; the statements stand in the order in which they were written.
  EXPECT_EQ(text_of({X}, {named("R", S + E / (S - 1)), named("T", -X)}),
            "function f(X) -> (R, T) {\n"
            "  Mul = X * X;\n"
            "  R = Mul + exp(X) / (Mul - 1);\n"
            "  T = -X;\n"
            "}\n");
}

TEST(Edsl, InventedNamesMakeWayAndSayWhatIsMade) {
  Dim N("N");
  Index i, j;
  Tensor A = input("", N), B = input("", N), Mine = input("Sum", N);
  Tensor S("", N), P("", N), G("", N), L("", N), C("", N), T("", N);
  S(i) += A(i);
  P(i) *= A(i);
  G(i) >= A(i);
  L(i) <= A(i);
  C(i) = A(i);
  T(i) += B(i) * Mine(i);
  EXPECT_EQ(text_of({A, B, Mine}, {S, P, G, L, C, T, cmp_lt(A, B), 2.5}),
            "function f(X[N], X2[N], Sum[N]) -> (Sum2, Product, Max, Min, Moved, Sum3, CmpLt, "
            "Number) {\n"
            "  Sum2[i : N] = +(X[i]);\n"
            "  Product[i : N] = *(X[i]);\n"
            "  Max[i : N] = >(X[i]);\n"
            "  Min[i : N] = <(X[i]);\n"
            "  Moved[i : N] = =(X[i]);\n"
            "  Sum3[i : N] = +(X2[i] * Sum[i]);\n"
            "  CmpLt = X < X2;\n"
            "  Number = 2.5;\n"
            "}\n");
}

TEST(Edsl, IndicesAreNamedContractionByContraction) {
  Dim N("N");
  Index a, b, c("i");
  Tensor A = input("A", N, N);
  Tensor R("R", N), S("S", N);
  R(a) += A(a, b);
  S(b) += A(b, c);
  EXPECT_EQ(text_of({A}, {R, S}),
            "function f(A[N, N]) -> (R, S) {\n"
            "  R[i : N] = +(A[i, j]);\n"
            "  S[j : N] = +(A[j, i]);\n"
            "}\n");
}

TEST(Edsl, ANamedOutputOrCallTakesTheNameInsteadOfACopy) {
  Dim N("N");
  Index i;
  Tensor A = input("A", N), S("", N);
  S(i) += A(i);
  Tensor K = input("K");
  Function both = function("both", {K}, {named("A", K + 1), named("B", K - 1)});
  auto [P, Q] = both.results<2>(A);
  Tensor Named("Mine", N);
  Named(i) += A(i);
  EXPECT_EQ(text_of({A}, {named("Total", S), named("Up", P), Q, named("Copy", Named), A}),
            "function both(K) -> (A, B) {\n"
            "  A = K + 1;\n"
            "  B = K - 1;\n"
            "}\n"
            "\n"
            "function f(A[N]) -> (Total, Up, B, Copy, Copy2) {\n"
            "  Total[i : N] = +(A[i]);\n"
            "  (Up, B) = both(A);\n"
            "  Mine[i : N] = +(A[i]);\n"
            "  Copy = Mine;\n"
            "  Copy2 = A;\n"
            "}\n");
}

TEST(Edsl, ResultsOfCallsThatNobodyWantsHaveNamesToo) {
  Tensor K = input("K");
  Function both = function("both", {K}, {named("A", K + 1), named("B", K - 1)});
  Tensor X = input("X");
  Tensor second = both.results<2>(X)[1];
  EXPECT_NE(text_of({X}, {named("R", second * 2)}).find("  (A, B) = both(X);\n  R = B * 2;\n"),
            std::string::npos);
}

TEST(Edsl, FunctionsCallFunctionsAndStandBeforeThem) {
  Tensor X = input("X"), Y = input("Y"), Z = input("Z");
  Function once = function("once", {X}, {named("R", X + 1)});
  Function twice = function("twice", {Y}, {named("R", once(once(Y)))});
  EXPECT_EQ(text_of({Z}, {named("R", twice(Z) * once(Z))}, "main"),
            "function once(X) -> (R) {\n  R = X + 1;\n}\n\n"
            "function twice(Y) -> (R) {\n  R = once(once(Y));\n}\n\n"
            "function main(Z) -> (R) {\n  R = twice(Z) * once(Z);\n}\n");
}

TEST(Edsl, DimensionsMayBeInputsAndValues) {
  Dim First("First"), N("N");
  Index i;
  Tensor X = input("X", N);
  Tensor O("O", N - First);
  O(i) = X(i + First * max(First, 1));
  EXPECT_EQ(text_of({X, First}, {O, named("R", N * 2 + 0.5), First}),
            "function f(X[N], First) -> (O, R, Copy) {\n"
            "  Max = max(First, 1);\n"  // no form holds it
            "  O[i : N - First] = =(X[i + First * Max]);\n"
            "  R = N * 2 + 0.5;\n"
            "  Copy = First;\n"
            "}\n");
}

TEST(Edsl, ADimensionMayBeASizeAndAnInput) {
  Dim Rows, Columns;
  Tensor X = input("X", {Rows, Columns});
  Function scaled = function("scaled", {X, Rows, Columns}, {named("R", X * Rows)});
  auto [P, Q] = dims("P", "Q");
  Tensor Y = input("Y", P, Q);
  EXPECT_EQ(text_of({Y}, {named("R", scaled(Y, P, Q))}),
            "function scaled(X[M, N], M, N) -> (R) {\n  R = X * M;\n}\n\n"
            "function f(Y[P, Q]) -> (R) {\n  R = scaled(Y, P, Q);\n}\n");
}

TEST(Edsl, WritesNumbersAsTileCan) {
  Tensor X = input("X");
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(text_of({X}, {named("A", X * -3), named("B", X + -2.5), named("C", X * lowest),
                          named("D", X * 1e300), named("E", X * 0.1f), named("G", -0.0 * X),
                          named("H", X - uint8_t{255}), named("I", 5e-324 * X)}),
            "function f(X) -> (A, B, C, D, E, G, H, I) {\n"
            "  A = X * -3;\n"
            "  B = X + -2.5;\n"
            "  C = X * (-9223372036854775807 - 1);\n"
            "  D = X * 1e+300;\n"
            "  E = X * 0.10000000149011612;\n"
            "  G = -0.0 * X;\n"
            "  H = X - 255;\n"
            "  I = 5e-324 * X;\n"
            "}\n");
}

TEST(Edsl, RandomNumbersTakeTheirSteps) {
  Dim N("N");
  Tensor S = input("S", N, Dim("W"));
  Tensor step = prng_step(S, {N, 4});
  EXPECT_EQ(text_of({S}, {named("V", prng_value(step)), named("Next", prng_state(step))}),
            "function f(S[N, W]) -> (V, Next) {\n"
            "  PrngStep = prng_step(S, N, 4);\n"
            "  V = prng_value(PrngStep);\n"
            "  Next = prng_state(PrngStep);\n"
            "}\n");
}

TEST(Edsl, AttributesStandBeforeTheStatement) {
  Dim N("N");
  Index i;
  Tensor X = input("X", N);
  Tensor S("S", N);
  S(i) += X(i);
  S.attribute("pid", {"sums"});
  Tensor E = exp(S).attribute("pid", {"e"});
  Function both = function("both", {X}, {named("A", X), named("B", X + 1)});
  Tensor P = both.results<2>(E)[0].attribute("pid", {"both"});
  const std::string text =
      text_of({X}, {named("R", E).attribute("mark", {"a", "7"}), named("P", P)});
  EXPECT_NE(text.find("  [[pid(sums)]] S[i : N] = +(X[i]);\n"
                      "  [[pid(e)]] Exp = exp(S);\n"
                      "  [[pid(both)]] (P, B) = both(Exp);\n"
                      "  [[mark(a, 7)]] R = Exp;\n"),
            std::string::npos)
      << text;
}

TEST(Edsl, LongExpressionsAreCutIntoStatements) {
  Tensor X = input("X");
  Tensor sum = X;
  for (int i = 0; i < 50'000; ++i) sum = sum * 2 - X;
  const Program made = program("f", {X}, {named("R", sum)}).value();
  const tile::Program read = tile::parse({"f", made.text()}).value();
  EXPECT_GT(read.functions[0].statements.size(), 500u);
  EXPECT_LT(read.functions[0].statements.size(), 1500u);
}

TEST(Edsl, SharedDimensionsDoNotGrowWithoutEnd) {
  Dim N("N");
  Tensor X = input("X", N);
  Dim size = N;
  for (int i = 0; i < 200; ++i) size = size / 2 + size % 2;
  Tensor O("O", size);
  Index i;
  O(i) += X(i);
  EXPECT_LT(text_of({X}, {O}).size(), 200'000u);
}

TEST(Edsl, WhatNoResultNeedsIsNotWritten) {
  Tensor X = input("X"), Y = input("Y");
  Tensor unused = named("Unused", X * Y);
  EXPECT_EQ(text_of({X, Y}, {named("R", X)}), "function f(X, Y) -> (R) {\n  R = X;\n}\n");
}

TEST(Edsl, ThreadsMayShareTensors) {
  Dim N("N");
  Index i;
  Tensor A = input("A", N);
  Tensor shared = named("S", exp(A) * A);
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string& text : texts)
    threads.emplace_back([&] {
      Tensor O("O", N);
      O(i) += shared(i) * A(i);
      text = text_of({A}, {O});
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
}

}  // namespace
}  // namespace stria::edsl
