// SPDX-License-Identifier: Apache-2.0
// Mistakes in programs that are written in C++: what does not compile, and what the others say.
#include <gtest/gtest.h>

#include <limits>

#include "text_of.h"

namespace stria::edsl {
namespace {

// ---- what C++ refuses ----

template <typename A, typename B>
concept Adds = requires(const A& a, const B& b) { a + b; };
template <typename A, typename B>
concept Compares = requires(const A& a, const B& b) { a < b; };
template <typename... Arguments>
concept HasExp = requires(const Arguments&... arguments) { exp(arguments...); };
template <typename A, typename B>
concept Sums = requires(const A& a, const B& b) { a += b; };

static_assert(Adds<Tensor, Tensor> && Adds<Tensor, Dim> && Adds<Tensor, double> &&
              Adds<int, Tensor>);
static_assert(Adds<Index, Dim> && Adds<Form, int> && Adds<Access, Access>);
static_assert(!Adds<Tensor, Index> && !Adds<Tensor, Form> && !Adds<Access, Tensor>);
static_assert(!Adds<Index, double> && !Adds<Tensor, bool> && !Adds<Tensor, const char*>);
static_assert(Compares<Index, Dim> && Compares<Form, int> && !Compares<Form, Index>);
static_assert(HasExp<Tensor> && HasExp<Dim> && !HasExp<Index> && !HasExp<Access>);
static_assert(!HasExp<Tensor, Tensor> && !HasExp<>);
static_assert(Sums<Access, Term> && Sums<Access, Access> && !Sums<Access, Tensor>);
static_assert(!std::is_convertible_v<Tensor, Dim> && !std::is_convertible_v<double, Dim>);
static_assert(!std::is_convertible_v<Index, Tensor> && !std::is_convertible_v<Access, Tensor>);
static_assert(!std::is_constructible_v<Tensor, std::string, Tensor>);

// ---- what program() says ----

class Mistakes : public testing::Test {
 protected:
  Dim N{"N"}, M{"M"};
  Index i{"i"}, j{"j"};
  Tensor A = input("A", N), B = input("B", N, M);
};

TEST_F(Mistakes, OutputWithoutAValue) {
  Tensor C("C", N);
  EXPECT_EQ(mistake_of({A}, {relu(C)}),
            "'C' has no value: it was declared with sizes, and a contraction must follow, such as "
            "C(i, j) += A(i, k) * B(k, j)");
  EXPECT_NE(mistake_of({A}, {Tensor("", N)}).find("an output without a name has no value"),
            std::string::npos);
}

TEST_F(Mistakes, OutputWithTwoValues) {
  Tensor C("C", N);
  C(i) += A(i);
  C(i) += B(i, j);
  EXPECT_EQ(
      mistake_of({A, B}, {C}),
      "'C' is given a value twice: declare another output for the second contraction, and add "
      "the two as tensors if you want their sum");
  EXPECT_EQ(C.status().code(), StatusCode::invalid_argument);
}

TEST_F(Mistakes, ValueForWhatIsNoOutput) {
  A(i) += B(i, j);
  EXPECT_EQ(
      mistake_of({A, B}, {exp(A)}),
      "'A' is an input and has its value: declare an output, Tensor C(\"C\", sizes…), for the "
      "contraction");
  Tensor E = exp(B);
  E(i, j) += B(i, j);
  EXPECT_EQ(E.status().message(),
            "the result of 'exp' is given a value by a contraction, but is none of its outputs: "
            "declare one, Tensor C(\"C\", sizes…)");
}

TEST_F(Mistakes, ConstraintsAndDefaultsWithoutAContraction) {
  Tensor C("C", N), D("D", N);
  C(i), i < 3;
  C(i) += A(i);
  EXPECT_EQ(
      C.status().message(),
      "'C' has a constraint, no_defract or default_to, but no contraction: write it before the "
      "comma, such as C(i) += A(k), i - k < N");
  D(i) += A(i), default_to(A), default_to(0);
  EXPECT_EQ(D.status().message(), "'D' has two defaults: keep one");
}

TEST_F(Mistakes, NumbersOfFormsThatDoNotFit) {
  Tensor C("C", N), D("D", N, M);
  C(i) += B(i);
  EXPECT_EQ(C.status().message(),
            "'B' has 2 dimensions, but the contraction of 'C' reads it with 1 form: give one form "
            "per dimension");
  D(i) += A(i);
  EXPECT_EQ(
      D.status().message(),
      "'D' was declared with 2 sizes, but is given a value at 1 form: give one form per size");
  EXPECT_EQ(mistake_of({A, B}, {C + 1, exp(D)}),
            C.status().message() + "\n" + D.status().message());
}

TEST_F(Mistakes, TensorMadeFromItself) {
  Tensor C("C", N);
  C(i) += C(i);
  EXPECT_EQ(C.status().message(),
            "'C' is computed from itself: a tensor gets its value once, from tensors that have "
            "theirs; declare another one for the next step");
  Tensor D("D", N), E = relu(D);
  D(i) += E(i);
  EXPECT_NE(D.status().message().find("'D' is computed from itself"), std::string::npos);
  Tensor F("F", N), G = exp(F);
  F(i) += A(i), default_to(G);
  EXPECT_NE(F.status().message().find("'F' is its own default"), std::string::npos);
}

TEST_F(Mistakes, InputsAndDimensionsOfOtherFunctions) {
  Tensor X = input("X");
  Function twice = function("twice", {X}, {named("Y", X * A)});
  EXPECT_EQ(twice.status().message(),
            "'A' is used but is not among the inputs of 'twice': list it there, or use an input of "
            "this function");
  EXPECT_EQ(mistake_of({A}, {twice(A)}), twice.status().message());
}

TEST_F(Mistakes, Inputs) {
  EXPECT_EQ(
      mistake_of({exp(A)}, {A}),
      "input 1 of 'f' is the result of 'exp': inputs are what input(…) makes, and dimensions\n"
      "'A' is used but is not among the inputs of 'f': list it there, or use an input of this "
      "function");
  EXPECT_EQ(mistake_of({A, A}, {named("R", A)}),
            "'A' stands twice among the inputs of 'f': list it once");
  EXPECT_NE(mistake_of({Tensor()}, {named("R", A)})
                .find("a Tensor, Dim or Index without a value is used"),
            std::string::npos);
  Tensor Wide = input("Wide", N + 1);
  EXPECT_EQ(
      Wide.status().message(),
      "a size of input 'Wide' is the result of 'add', but sizes of inputs are dimensions: make "
      "one, Dim N, and compute with it where it is used");
}

TEST_F(Mistakes, Results) {
  EXPECT_EQ(mistake_of({A}, {}), "'f' has no results: list what it computes");
  Tensor R = named("R", exp(A));
  EXPECT_EQ(mistake_of({A}, {R, R}),
            "'R' stands twice among the results of 'f': list it once, or give it a second name by "
            "named(\"Copy\", …)");
}

TEST_F(Mistakes, NamesUsedTwice) {
  Tensor R = named("R", exp(A)), S = named("R", R + 1);
  EXPECT_EQ(
      mistake_of({A}, {S}),
      "two things in 'f' are named 'R', one of them a tensor: use one variable for both if they "
      "are the same, or another name");
  Dim N2("N");
  Tensor C = input("C", N2);
  EXPECT_EQ(
      mistake_of({A, C}, {A + C}),
      "two things in 'f' are named 'N', one of them a dimension: use one variable for both if "
      "they are the same, or another name");
  Index i2("i");
  Tensor D("D", N);
  D(i) += B(i, i2);
  EXPECT_EQ(
      mistake_of({B}, {D}),
      "one contraction of 'f' has two indices named 'i': use one variable for both if they are "
      "the same, or another name");
  Tensor X = input("X"), Y = input("Y");
  Function first = function("g", {X}, {named("R", X + 1)}),
           second = function("g", {Y}, {named("R", Y)});
  EXPECT_EQ(mistake_of({A}, {first(A) + second(A)}),
            "two functions that the program calls are both named 'g': make one of them with "
            "another name");
}

TEST_F(Mistakes, NamesThatTileDoesNotHave) {
  EXPECT_EQ(
      mistake_of({A}, {named("small", exp(A))}),
      "'small' cannot name a tensor: such a name is a capital letter, then letters, digits and "
      "'_'");
  Tensor C = input("C", Dim("2N"));
  EXPECT_NE(mistake_of({C}, {exp(C)}).find("'2N' cannot name a dimension"), std::string::npos);
  Tensor D("D", N);
  D(Index("I")) = A(Index("I"));
  EXPECT_NE(mistake_of({A}, {D}).find("'I' cannot name an index"), std::string::npos);
  EXPECT_NE(mistake_of({A}, {exp(A)}, "no name").find("'no name' cannot name a function"),
            std::string::npos);
  EXPECT_NE(mistake_of({A}, {exp(A)}, "default").find("'default' cannot name"), std::string::npos);
  EXPECT_EQ(mistake_of({A}, {exp(A)}, "tanh"), "'tanh' is a builtin function: choose another name");
  EXPECT_NE(mistake_of({A}, {exp(A).attribute("pid", {"a b"})}).find("attribute 'pid'"),
            std::string::npos);
  A.attribute("pid", {"a"});
  EXPECT_NE(A.status().message().find("no statement makes it"), std::string::npos);
}

TEST_F(Mistakes, Calls) {
  EXPECT_EQ(mistake_of({A}, {named("R", call("exp", {A, A}))}),
            "f:2:7: error: 'exp' takes 1 argument, but 2 are given; for example: R = exp(A);\n"
            "    R = exp(A, A);\n"
            "        ^~~");
  EXPECT_NE(mistake_of({A}, {call("exq", {A})}).find("did you mean 'exp'?"), std::string::npos);
  Tensor X = input("X");
  Function both = function("both", {X}, {named("P", X + 1), named("Q", X - 1)});
  EXPECT_EQ(mistake_of({A}, {both(A)}),
            "'both' gives 2 results, but its call takes 1: write auto [A, …] = both.results<2>(…)");
  EXPECT_EQ(mistake_of({A}, {both.results<3>(A)[2]}),
            "'both' gives 2 results, but its call takes 3: write auto [A, …] = both.results<2>(…)");
  EXPECT_NE(mistake_of({A}, {both.results<2>(A, A)[0]}).find("'both' takes 1 argument"),
            std::string::npos);
  Function unnamed = function("", {X}, {named("P", X + 1)});
  EXPECT_NE(mistake_of({A}, {unnamed(A)}).find("a function without a name is called"),
            std::string::npos);
}

TEST_F(Mistakes, NumbersThatTileCannotWrite) {
  EXPECT_EQ(
      mistake_of({A}, {A * std::numeric_limits<double>::infinity()}),
      "inf is no number that Tile can write; compute it, for example as 1.0 / X of an input X");
  EXPECT_EQ(mistake_of({A}, {A * std::numeric_limits<uint64_t>::max()}),
            "the number 18446744073709551615 is beyond 9223372036854775807, the largest of Tile");
}

TEST_F(Mistakes, FormsThatAreTooLong) {
  Form form = i;
  for (int n = 0; n < 100'000; ++n) form = form + 1;
  Tensor C("C", N);
  C(form) = A(i);
  EXPECT_NE(mistake_of({A}, {C}).find("more than 200 operations"), std::string::npos);
}

TEST_F(Mistakes, WhatWasMovedFrom) {
  const std::string no_value = "a Tensor, Dim or Index without a value is used";
  const auto starts = [](const std::string& text, const std::string& with) {
    EXPECT_EQ(text.substr(0, with.size()), with);
  };
  Index k, l;
  Dim P = N;
  const Index moved_index = std::move(k);
  const Dim moved_dim = std::move(P);
  Tensor C("C", N), D("D", N), E("E", N), F("F", N), G("G", N);
  C(i) += A(i), k < N;
  starts(mistake_of({A}, {C}), no_value);
  D(i) += A(j), i - j < P;
  starts(mistake_of({A}, {D}), no_value);
  E(k) += A(i);
  starts(mistake_of({A}, {E}), no_value);
  Term term = A(i);
  const Term moved_term = std::move(term);
  F(i) += term;
  EXPECT_EQ(mistake_of({A}, {F}), "the term of 'F' was moved from: write it again");
  Default value = default_to(A);
  const Default moved_default = std::move(value);
  G(2 * l) += A(l), value;
  starts(mistake_of({A}, {G}), no_value);

  Function f = function("f", {A}, {relu(A)});
  const Function moved_function = std::move(f);
  const std::string no_function = "a Function that was moved from is used";
  EXPECT_EQ(f.status().message(), no_function);
  EXPECT_EQ(program(f).status().message(), no_function);
  EXPECT_EQ(mistake_of({A}, {f(A)}), no_function);
  EXPECT_EQ(mistake_of({A}, {f.results<2>(A)[1]}), no_function);
}

TEST_F(Mistakes, OneMistakeIsSaidOnceAndOthersFollow) {
  Tensor C("C", N), D("D", N);
  const std::string text = mistake_of({A}, {C + C, C * D});
  EXPECT_EQ(text.find("'C' has no value"), text.rfind("'C' has no value"));
  EXPECT_NE(text.find("'D' has no value"), std::string::npos);
}

TEST_F(Mistakes, OfSizesShowTheLineOfTheText) {
  Tensor C("C", N);
  C(i) += B(i, 0);
  Tensor D("D", N);
  D(i) += exp(C)(i, j);
  const Result<Program> made = program("f", {B}, {D});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_NE(made->text().find("D[i : N] = +(Exp[i, j])"), std::string::npos);
}

}  // namespace
}  // namespace stria::edsl
