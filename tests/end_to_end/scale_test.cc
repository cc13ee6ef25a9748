// SPDX-License-Identifier: Apache-2.0
// The front end (parse, bind, lower) on programs made to be large or hard: each gives a result or
// one clear error, within counted work and bounded memory. Steps of the solver are counted by a
// budget round the whole; time decides nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <map>
#include <string>
#include <vector>

#include "stria/base/text.h"
#include "stria/lower/lower.h"
#include "stria/poly/solver_budget.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria {
namespace {

using ::testing::HasSubstr;
using Inputs = std::map<std::string, TensorType>;

// What bind and lower take of the solver together at most where a test names no other number.
constexpr int64_t kSteps = 250'000'000;

struct Answer {
  std::string error;  // "" if there is a result
  size_t statements = 0, kernels = 0;
  size_t indices = 0;  // of the last kernel
  int64_t steps = 0, questions = 0;
};

Answer front_end(const std::string& text, const Inputs& inputs, int64_t most = kSteps) {
  Answer out;
  {
    SolverBudget counter(int64_t{1} << 40);
    const Status status = [&]() -> Status {
      STRIA_ASSIGN(tile::Program program, tile::parse({"t.tile", text}));
      STRIA_ASSIGN(tile::BoundProgram bound, tile::bind_program(program, "", inputs));
      out.statements = bound.statements.size();
      STRIA_ASSIGN(stripe::Program lowered, lower(bound));
      out.kernels = lowered.main()->stmts.size();
      if (out.kernels > 0) out.indices = lowered.main()->stmts.back().block()->idxs.size();
      return {};
    }();
    out.error = status.message();
    out.steps = counter.used();
    out.questions = counter.questions();
  }
  // But for the last operation of each.
  EXPECT_LE(out.steps, most + most / 100) << out.error;
  EXPECT_THAT(out.error, ::testing::Not(HasSubstr("internal")));
  return out;
}

TensorType fp32(std::vector<int64_t> sizes) { return {DataType::fp32, std::move(sizes)}; }
TensorType i8(std::vector<int64_t> sizes) { return {DataType::i8, std::move(sizes)}; }

// `body` makes f0; the program calls it 2^levels times, one result into the next.
std::string doubled(int levels, const std::string& body) {
  std::string out = body;
  for (int i = 1; i <= levels; ++i)
    out += fmt::format("function f{0}(A) -> (R) {{ B = f{1}(A); R = f{1}(B); }}\n", i, i - 1);
  return out + fmt::format("function (A) -> (R) {{ R = f{}(A); }}\n", levels);
}

// A sum of `terms`, as deep as its logarithm.
std::string balanced_sum(const std::vector<std::string>& terms, size_t begin, size_t end) {
  if (end - begin == 1) return terms[begin];
  const size_t middle = begin + (end - begin) / 2;
  return "(" + balanced_sum(terms, begin, middle) + " + " + balanced_sum(terms, middle, end) + ")";
}

class Scale : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // More memory than this is a failure; the largest program below takes a quarter of it.
    const rlimit memory{rlim_t{4} << 30, rlim_t{4} << 30};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &memory), 0);
#endif
  }
};

TEST_F(Scale, AHundredThousandStatements) {
  constexpr size_t kStatements = 100'000;
  std::string text = "function (A[N, N], B[N, N]) -> (R) {\n  T0 = A;\n";
  for (size_t i = 1; i + 1 < kStatements; ++i)
    text += i % 10 == 0 ? fmt::format("  T{}[i, j : N, N] = +(T{}[i, k] * B[k, j]);\n", i, i - 1)
                        : fmt::format("  T{} = T{} * 0.5 + A;\n", i, i - 1);
  text += fmt::format("  R = T{};\n}}\n", kStatements - 2);
  const Answer answer = front_end(text, {{"A", fp32({64, 64})}, {"B", fp32({64, 64})}});
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.statements, kStatements);
  EXPECT_EQ(answer.kernels, kStatements);
  EXPECT_EQ(answer.questions, 0);
}

TEST_F(Scale, InlinedCallsAskTheSolverOnce) {
  const std::string body =
      "function f0(A[N]) -> (R) { R[2 * i + 3 * j : N] = +(A[i + 5 * j]), i - j < 17; }\n";
  const Answer one = front_end(doubled(0, body), {{"A", fp32({1000})}});
  const Answer many = front_end(doubled(12, body), {{"A", fp32({1000})}});
  EXPECT_EQ(one.error, "");
  EXPECT_EQ(many.error, "");
  EXPECT_EQ(many.statements, 4096u);
  EXPECT_EQ(many.kernels, 4096 * one.kernels);
  EXPECT_GT(one.questions, 0);
  EXPECT_EQ(many.questions, one.questions);
  EXPECT_EQ(many.steps, one.steps);
}

TEST_F(Scale, ConvolutionsDoNotAskForTheirBorders) {
  // All of them different, so that nothing is known from before.
  std::string text = "function (A[N], K[W]) -> (R) {\n  T0 = A;\n";
  for (int i = 1; i <= 2000; ++i)
    text += fmt::format("  T{}[x : N] = +(T{}[x + w - {}] * K[w]);\n", i, i - 1, 5000 + i % 2000);
  text += "  R = T2000;\n}\n";
  const Answer answer = front_end(text, {{"A", fp32({100'000})}, {"K", fp32({10'001})}});
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.kernels, 2002u);
}

TEST_F(Scale, EachContractionHasAShareOfItsOwn) {
  // Transposed convolutions: each asks for its residues and for what it leaves unwritten.
  std::string parameters, results, text;
  Inputs inputs{{"A", fp32({1, 30, 40, 8})}};
  int made = 0;
  size_t kernels = 0;
  for (int stride : {2, 3})
    for (int size = 3; size < 8; ++size)
      for (int pad = 0; pad < 5; ++pad, ++made) {
        const std::string kernel = fmt::format("K{}", made), result = fmt::format("R{}", made);
        const std::string statement = fmt::format(
            "  R{0}[n, {1} * x + k - {2}, {1} * y + l - {2}, c : 1, {3}, {4}, 8] = "
            "+(A[n, x, y, d] * K{0}[k, l, d, c]);\n",
            made, stride, pad, 30 * stride, 40 * stride);
        parameters += ", " + kernel;
        results += (made > 0 ? ", " : "") + result;
        text += statement;
        inputs[kernel] = fp32({size, size, 8, 8});
        kernels +=
            front_end("function (A, " + kernel + ") -> (" + result + ") {\n" + statement + "}\n",
                      {{"A", inputs["A"]}, {kernel, inputs[kernel]}})
                .kernels;
      }
  ASSERT_EQ(made, 50);
  const Answer answer =
      front_end(fmt::format("function (A{}) -> ({}) {{\n{}}}\n", parameters, results, text), inputs,
                700'000'000);
  EXPECT_EQ(answer.error, "");
  // The last one has as much as it has alone: no search for better indices is given up.
  EXPECT_EQ(answer.kernels, kernels);
  EXPECT_GT(answer.kernels, 250u);
  EXPECT_GT(answer.steps, 100'000'000);
}

TEST_F(Scale, AReshapeOfEightPrimes) {
  const Answer answer =
      front_end("function (A) -> (R) { R = reshape(A, 7, 11, 13, 17, 19, 23, 29, 31); }",
                {{"A", fp32({31, 29, 23, 19, 17, 13, 11, 7})}}, 700'000'000);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.kernels, 1u);
}

TEST_F(Scale, DifferentHardSetsEndInAnErrorThatNamesTheStatement) {
  std::string text = "function (A[N, N]) -> (R) {\n  T0 = A;\n";
  for (int i = 1; i <= 4096; ++i)
    text += fmt::format(
        "  T{}[2 * i + 3 * j + 7 * k, i - l : N, N] = +(T{}[i + 5 * j - 11 * k, l + 2 * j - k]), "
        "i - j < 17, j - k < {}, i + l - 3 * k < 29;\n",
        i, i - 1, 22 + i);
  const Answer answer = front_end(text + "  R = T4096;\n}\n", {{"A", fp32({100, 100})}});
  EXPECT_THAT(answer.error, HasSubstr("t.tile:"));
  EXPECT_THAT(answer.error, HasSubstr("could not be decided: questions about integer sets need "
                                      "more than 200000000 solver steps together"));
  EXPECT_THAT(answer.error, HasSubstr("[2 * i + 3 * j + 7 * k, i - l : N, N]"));
  // The same ones on every run.
  EXPECT_EQ(front_end(text + "  R = T4096;\n}\n", {{"A", fp32({100, 100})}}).error, answer.error);
}

TEST_F(Scale, OneHardSet) {
  // Half of each weight: a market split problem.
  std::string indices, sums[4];
  for (int i = 0; i < 20; ++i) {
    indices += fmt::format("{}k{:02}", i > 0 ? ", " : "", i);
    for (int s = 0; s < 4; ++s)
      sums[s] += fmt::format("{}{} * k{:02}", i > 0 ? " + " : "",
                             (i * i * 31 + s * 77 * i + 13) % 97 + 1, i);
  }
  std::string text = "function (A) -> (R) {\n  R[] = +(A[" + indices + "])";
  for (const std::string& sum : sums) text += ", " + sum + " - 480 < 1";
  const Answer answer = front_end(text + ";\n}\n", {{"A", fp32(std::vector<int64_t>(20, 2))}});
  EXPECT_THAT(answer.error, HasSubstr("t.tile:2:3: error: the ranges of the indices could not be "
                                      "decided"));
  EXPECT_THAT(answer.error, HasSubstr("more than 70000000 solver steps"));
}

TEST_F(Scale, RanksAboveSixteen) {
  for (size_t rank : {17u, 33u, 64u, 2000u}) {
    std::string sizes, indices;
    for (size_t d = 0; d < rank; ++d) {
      sizes += fmt::format("{}N{}", d > 0 ? ", " : "", d);
      indices += fmt::format("{}i{:04}", d > 0 ? ", " : "", d);
    }
    std::vector<int64_t> shape(rank, 1);
    shape.back() = shape.front() = 3;
    const Answer answer =
        front_end(fmt::format("function (A[{0}]) -> (R, S, T) {{ R[{1} : {0}] = +(A[{1}]); "
                              "S = A * A + R; T[] = +(A[{1}]); }}",
                              sizes, indices),
                  {{"A", fp32(shape)}});
    EXPECT_EQ(answer.error, "") << rank;
    EXPECT_EQ(answer.kernels, 3u) << rank;
  }
}

TEST_F(Scale, SizesNearTheLargest) {
  const std::string plus = "function (A[N]) -> (R) { R = A + A; }";
  EXPECT_EQ(front_end(plus, {{"A", i8({INT64_MAX})}}).error, "");
  EXPECT_THAT(front_end("function (A[N]) -> (R) { R[i : N] = +(A[i + j]), j < N; }",
                        {{"A", i8({INT64_MAX})}})
                  .error,
              HasSubstr("tensor 'R' of i32[9223372036854775807] needs 2^63 bytes or more"));
  EXPECT_THAT(front_end("function (A[N]) -> (R) { R[] = +(A[i / 9]), i < N; }",
                        {{"A", i8({int64_t{1} << 61})}})
                  .error,
              HasSubstr("beyond the range of i64"));
  EXPECT_EQ(
      front_end("function (A[N, M]) -> (R) { R[i, j : N, M] = >(A[i + j, i - j]), i + 3 * j < "
                "100000; }",
                {{"A", i8({1 << 30, 1 << 30})}})
          .error,
      "");
  EXPECT_EQ(front_end("function (A) -> (R) { R = reshape(A, 3037000493, 3037000453); }",
                      {{"A", i8({3037000453, 3037000493})}})
                .error,
            "");
}

TEST_F(Scale, InfeasibleUnboundedAndEmpty) {
  const Answer infeasible =
      front_end("function (A[N]) -> (R) { R[i : N] = +(A[2 * i + 4 * j]), 2 * i + 4 * j - 1 < 1; }",
                {{"A", fp32({100})}});
  EXPECT_EQ(infeasible.error, "");
  EXPECT_EQ(infeasible.kernels, 1u);  // zeros
  EXPECT_THAT(front_end("function (A[N]) -> (R) { R[] = +(A[2 * i + 4 * j + 6 * k]); }",
                        {{"A", fp32({100})}})
                  .error,
              HasSubstr("nothing bounds index 'i' (nor 'j', 'k')"));
  const Answer zero = front_end(
      "function (A[N, M]) -> (R, S, T, U) { R[i : N] = +(A[i, j]); S = A + 1; "
      "T = reshape(A, 0, 7); U[] = >(A[i, j]); }",
      {{"A", i8({0, INT64_MAX})}});
  EXPECT_EQ(zero.error, "");
  EXPECT_EQ(zero.kernels, 1u);  // only U has an element
}

TEST_F(Scale, ThousandsOfConstraints) {
  for (int count : {1000, 20'000}) {
    std::string text = "function (A[N], B[M]) -> (R) {\n  R[i : N] = +(A[i] * B[j])";
    for (int k = 1; k <= count; ++k) text += fmt::format(", i + {} * j < {}", k, k * 2000 + 1000);
    const Answer answer = front_end(text + ";\n}\n", {{"A", fp32({1000})}, {"B", fp32({1000})}});
    EXPECT_EQ(answer.error, "") << count;
    EXPECT_EQ(answer.kernels, 1u);
  }
  // These cut corners off, and all at the same time.
  std::string text = "function (A[N], B[M]) -> (R) {\n  R[i : N] = +(A[i] * B[j])";
  for (int k = 1; k <= 20'000; ++k)
    text += fmt::format(", i + {0} * j - {0} < {1}", k, k * 100 + 7);
  EXPECT_THAT(front_end(text + ";\n}\n", {{"A", fp32({1000})}, {"B", fp32({1000})}}).error,
              HasSubstr("solver steps"));
}

TEST_F(Scale, IndicesOfItsOwnForMoreThan64Constraints) {
  auto answer_of = [](int constraints) {
    std::string text = "function (A[N], B[M]) -> (R) {\n  R[2 * i + j : 3 * N] = +(A[i] * B[j])";
    for (int k = 1; k <= constraints; ++k) text += fmt::format(", i + {} * j < {}", k, 19 * k + 10);
    return front_end(text + ";\n}\n", {{"A", fp32({100})}, {"B", fp32({20})}});
  };
  const Answer some = answer_of(60), many = answer_of(65);
  EXPECT_EQ(some.error, "");
  EXPECT_EQ(many.error, "");
  EXPECT_EQ(some.indices, 3u);  // those of the output and a residue
  EXPECT_EQ(many.indices, 2u);  // the program's
  EXPECT_LT(2 * many.questions, some.questions);
}

TEST_F(Scale, StatementsThatShareOneLimit) {
  // Each of the reshapes alone has its answer.
  const char* const orders[] = {"29, 7, 31, 11, 23, 13, 19, 17", "7, 11, 13, 17, 19, 23, 29, 31",
                                "17, 31, 7, 29, 13, 11, 23, 19"};
  std::string text = "function (A) -> (R) {\n  T0 = A;\n";
  for (int i = 0; i < 12; ++i)
    text += fmt::format("  T{} = reshape(T{}, {});\n", i + 1, i, orders[i % 3]);
  const Answer answer = front_end(text + "  R = T12;\n}\n",
                                  {{"A", fp32({31, 29, 23, 19, 17, 13, 11, 7})}}, 500'000'000);
  EXPECT_THAT(answer.error,
              HasSubstr("error: the index sets of this statement could not be decided: the index "
                        "sets of all statements need more than 400000000 solver steps together"));
  EXPECT_THAT(answer.error, HasSubstr(" = reshape(T"));
}

TEST_F(Scale, ManyIndicesInOneForm) {
  std::vector<std::string> indices;
  std::string limits;
  for (int i = 0; i < 10'000; ++i) {
    indices.push_back(fmt::format("i{}", i));
    limits += fmt::format(", i{} < 2", i);
  }
  const Answer answer =
      front_end("function (A[N]) -> (R) {\n  R[] = +(A[" +
                    balanced_sum(indices, 0, indices.size()) + "])" + limits + ";\n}\n",
                {{"A", fp32({1'000'000})}});
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.questions, 0);
}

TEST_F(Scale, DeepNesting) {
  auto many = [](const char* piece) {
    std::string out;
    for (int i = 0; i < 100'000; ++i) out += piece;
    return out;
  };
  const std::string nested[] = {many("(") + "A" + many(")"), many("-") + "A",
                                many("A ? A : ") + "A", many("exp(") + "A" + many(")")};
  for (const std::string& value : nested)
    EXPECT_THAT(front_end("function (A) -> (R) { R = " + value + "; }", {{"A", fp32({2})}}).error,
                HasSubstr("more than 250 brackets, signs or '?:' are open here"));
  EXPECT_THAT(
      front_end("function (A) -> (R) { R = " + many("A + ") + "A; }", {{"A", fp32({2})}}).error,
      HasSubstr("more than 1000 operations deep"));
}

TEST_F(Scale, CallsThatMultiplyWhatTheyDo) {
  const Inputs inputs = {{"A", fp32({2})}};
  // Expressions.
  const std::vector<std::string> terms(10'000, "A");
  EXPECT_THAT(front_end(doubled(50, "function f0(A) -> (R) { R = " +
                                        balanced_sum(terms, 0, terms.size()) + "; }\n"),
                        inputs)
                  .error,
              HasSubstr("error: the program has more than 4000000 operations, names and dimensions "
                        "once its calls are inlined"));
  // Numbers, which make no statement.
  std::string numbers = "function f0(A) -> (R) { B0 = 1; ";
  for (int i = 1; i < 1000; ++i) numbers += fmt::format("B{} = B{} + 1; ", i, i - 1);
  EXPECT_THAT(front_end(doubled(50, numbers + "R = B999; }\n"), inputs).error,
              HasSubstr("more than 4000000 operations, names and dimensions"));
  // Names.
  const std::string name(20'000, 'N');
  EXPECT_THAT(
      front_end(
          doubled(50, fmt::format("function f0(A) -> (R) {{ {0} = A + 1; R = {0}; }}\n", name)),
          inputs)
          .error,
      HasSubstr("have more than 32000000 characters once its calls are inlined"));
  // Attributes.
  std::string body = "function f0(A) -> (R) { R0 = A; ", attributes;
  for (int i = 1; i < 1000; ++i) body += fmt::format("R{} = R{} + 1; ", i, i - 1);
  for (int i = 0; i < 10'000; ++i) attributes += fmt::format("[[pid(a{})]] ", i);
  EXPECT_THAT(
      front_end(body + "R = R999; }\nfunction (A) -> (R) { " + attributes + "R = f0(A); }", inputs)
          .error,
      HasSubstr("have more than 32000000 characters"));
}

TEST_F(Scale, RankTimesStatements) {
  std::string dims, text;
  for (int d = 0; d < 5000; ++d) dims += fmt::format("{}N{}", d > 0 ? ", " : "", d);
  for (int i = 1; i < 20'000; ++i) text += fmt::format("T{} = T{} + 1; ", i, i - 1);
  EXPECT_THAT(front_end("function (A[" + dims + "]) -> (R) { T0 = A; " + text + "R = T19999; }",
                        {{"A", fp32(std::vector<int64_t>(5000, 1))}})
                  .error,
              HasSubstr("more than 4000000 operations, names and dimensions"));
}

TEST_F(Scale, UnwrittenPartsThatMultiply) {
  // Each dimension leaves several pieces, and the whole their product.
  std::string out, sizes, in;
  for (int d = 0; d < 12; ++d) {
    out += fmt::format("{}2 * i{} + 3 * j{}", d > 0 ? ", " : "", d, d);
    sizes += d > 0 ? ", 16" : "16";
    in += fmt::format("{}i{}, j{}", d > 0 ? ", " : "", d, d);
  }
  const Answer answer = front_end(
      fmt::format("function (A) -> (R) {{ R[{} : {}] = +(A[{}]) no_defract; }}", out, sizes, in),
      {{"A", fp32(std::vector<int64_t>(24, 4))}});
  EXPECT_THAT(answer.error,
              HasSubstr("t.tile:1:23: error: the elements of its output fall into more than 1000 "
                        "sets that need a kernel each"));
}

}  // namespace
}  // namespace stria
