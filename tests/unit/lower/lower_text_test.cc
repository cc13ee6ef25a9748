// SPDX-License-Identifier: Apache-2.0
// The form of what lowering makes: names, tags, order, constraints, and which kernels there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stria/base/file.h"
#include "stria/lower/lower.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria {
namespace {

using testing::ElementsAre;

stripe::Program lowered(const std::string& text,
                        const std::map<std::string, tile::TensorType>& inputs) {
  auto parsed = tile::parse({"test.tile", text});
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return {};
  auto bound = tile::bind_program(*parsed, "", inputs);
  EXPECT_TRUE(bound.ok()) << bound.status().message();
  if (!bound.ok()) return {};
  auto out = lower(*bound);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  Status verified = stripe::verify(*out);
  EXPECT_TRUE(verified.ok()) << verified.message() << stripe::print(*out);
  return *out;
}

// First lines of main's kernels: "#kernel #zero block [i:2]".
std::vector<std::string> kernels(const stripe::Program& program) {
  std::vector<std::string> out;
  for (const stripe::Statement& stmt : program.main()->stmts)
    out.push_back(stripe::print_line(stmt));
  return out;
}

std::vector<std::string> constraints(const stripe::Block& block) {
  std::vector<std::string> out;
  for (const Affine& form : block.constraints) out.push_back(form.to_string());
  return out;
}

const stripe::Block& kernel(const stripe::Program& program, size_t i) {
  return *program.main()->stmts[i].block();
}

TEST(LowerText, ConvolutionAndReluLookAsPublished) {
  stripe::Program program = lowered(
      R"(function layer_test7(I[X, Y, CI], K1[KX, KY, CI, CO]) -> (O3) {
           O1[x, y, co : X, Y, CO] = +(I[-1 + kx + x, -1 + ky + y, ci] * K1[kx, ky, ci, co]);
           O3 = max(O1, 0);
         })",
      {{"I", {DataType::i8, {1024, 1024, 32}}}, {"K1", {DataType::i8, {3, 3, 32, 64}}}});
  auto expected = read_file(STRIA_SOURCE_DIR "/tests/golden/stripe/stripe_top.stripe");
  ASSERT_TRUE(expected.ok());
  // The published text was bound with C2 for CO, and has a comment of its own.
  std::string text = *expected;
  text.replace(text.find("X, Y, C2"), 8, "X, Y, CO");
  std::string comment = "    // O1 is a 3x3 convolution, O3 its ReLU.\n";
  text.erase(text.find(comment), comment.size());
  EXPECT_EQ(stripe::print(program), text);
}

TEST(LowerText, RepeatedOperandsGetNamesOfTheirOwn) {
  stripe::Program program =
      lowered("function (A[N, N]) -> (R) { R[i, j : N, N] = +(A[i, k] * A[k, j]); }",
              {{"A", {DataType::fp32, {4, 4}}}});
  const stripe::Block& block = kernel(program, 0);
  ASSERT_EQ(block.refs.size(), 3u);
  EXPECT_EQ(stripe::print_line(block.refs[0]), "in A[i, k] fp32(1:4, 1:1)");
  EXPECT_EQ(stripe::print_line(block.refs[1]), "in A_0 = A[k, j] fp32(1:4, 1:1)");
  EXPECT_EQ(stripe::print_line(block.refs[2]), "out R[i, j]:add.fp32 fp32(1:4, 1:1)");
}

TEST(LowerText, SkippedElementsAreOneZeroKernelWithoutConstraints) {
  stripe::Program program = lowered("function (I[N, M]) -> (O) { O[2 * i: N] = +(I[2 * i, j]); }",
                                    {{"I", {DataType::fp32, {7, 3}}}});
  EXPECT_THAT(kernels(program),
              ElementsAre("#kernel #zero block [i:3]",
                          "#agg_op_add #comb_op_none #contraction #kernel block [i:4, j:3]"));
  EXPECT_EQ(kernel(program, 0).find_ref("O")->access[0].to_string(), "1 + 2*i");
}

TEST(LowerText, DefaultFillsByCopy) {
  stripe::Program program =
      lowered("function (I[N], D[M]) -> (O) { O[i + 1: M] = =(I[i]) default D; }",
              {{"I", {DataType::fp32, {3}}}, {"D", {DataType::fp32, {5}}}});
  EXPECT_THAT(kernels(program),
              ElementsAre("#copy #kernel block []", "#copy #kernel block []",
                          "#agg_op_assign #comb_op_none #contraction #kernel block [i:3]"));
  EXPECT_FALSE(kernel(program, 1).find_ref("O")->agg.has_value());
}

TEST(LowerText, OnlyNeededConstraintsStay) {
  // The upper bound of the written constraint is never met; i - k >= 0 is.
  stripe::Program program = lowered("function (I[N]) -> (O) { O[i: N] = +(I[k]), i - k < N; }",
                                    {{"I", {DataType::fp32, {10}}}});
  ASSERT_EQ(kernels(program).size(), 1u);
  EXPECT_THAT(constraints(kernel(program, 0)), ElementsAre("i - k"));
}

TEST(LowerText, NegativeRangesStartAtZero) {
  stripe::Program program = lowered("function (I[N]) -> (O) { O[i: N] = +(I[i - j]), j + 2 < 3; }",
                                    {{"I", {DataType::fp32, {10}}}});
  const stripe::Block& block = kernel(program, 0);
  EXPECT_EQ(block.find_index("j")->range, 3);
  EXPECT_EQ(block.find_ref("I")->access[0].to_string(), "2 + i - j");
  EXPECT_THAT(constraints(block), ElementsAre("7 - i + j"));
}

TEST(LowerText, ABandIsFollowed) {
  stripe::Program program =
      lowered("function (A[N, N]) -> (O) { O[i: N] = +(A[i, j]), j - i < 2; }",
              {{"A", {DataType::fp32, {1000, 1000}}}});
  ASSERT_EQ(kernels(program).size(), 1u);
  int64_t points = 1;
  for (const stripe::Index& index : kernel(program, 0).idxs) points *= index.range;
  EXPECT_EQ(points, 2000);
}

TEST(LowerText, ExactDivisionNeedsNoConstraint) {
  stripe::Program program = lowered("function (I[N]) -> (O) { O[i: 2 * N] = +(I[i / 2]); }",
                                    {{"I", {DataType::fp32, {5}}}});
  EXPECT_THAT(kernels(program),
              ElementsAre("#kernel #zero block [i:5]",
                          "#agg_op_add #comb_op_none #contraction #kernel block [i:5]"));
  EXPECT_EQ(stripe::print_line(kernel(program, 1).refs[0]), "in I[i] fp32(1:1)");
  EXPECT_EQ(stripe::print_line(kernel(program, 1).refs[1]), "out O[2*i]:add.fp32 fp32(1:1)");
}

TEST(LowerText, InfeasibleConstraintsLeaveOnlyZeros) {
  stripe::Program program = lowered("function (I[N]) -> (O) { O[i: N] = >(I[i]), i - 100 < 5; }",
                                    {{"I", {DataType::fp32, {10}}}});
  EXPECT_THAT(kernels(program), ElementsAre("#kernel #zero block [i:10]"));
}

TEST(LowerText, AnExpressionIsOneKernel) {
  stripe::Program program =
      lowered("function (A[N, M], B[M], C[N, L]) -> (R) { R = exp(A * B) + A / C - 2; }",
              {{"A", {DataType::fp32, {3, 4}}},
               {"B", {DataType::fp32, {4}}},
               {"C", {DataType::fp32, {3, 1}}}});
  ASSERT_EQ(kernels(program).size(), 1u);
  const stripe::Block& block = kernel(program, 0);
  EXPECT_EQ(block.idxs.size(), 2u);
  ASSERT_EQ(block.refs.size(), 4u);  // A is loaded once
  EXPECT_EQ(stripe::print_line(block.refs[1]), "in B[i2] fp32(1:1)");
  EXPECT_EQ(stripe::print_line(block.refs[2]), "in C[i1, 0] fp32(1:1, 1:1)");
  EXPECT_TRUE(block.tags.has_all({"eltwise", "eltwise_add", "eltwise_exp", "kernel"}));
}

TEST(LowerText, RankZeroAndSizeOneHaveNoIndices) {
  stripe::Program program = lowered("function (A[N]) -> (R) { S[] = +(A[i]); R = S + 1; }",
                                    {{"A", {DataType::fp32, {1}}}});
  EXPECT_THAT(kernels(program),
              ElementsAre("#agg_op_add #comb_op_none #contraction #kernel block []",
                          "#eltwise #eltwise_add #kernel block []"));
}

TEST(LowerText, NothingToWriteMeansNoKernel) {
  stripe::Program program =
      lowered("function (A[N]) -> (R, S) { R = A * 2; T = R + 1; S[] = +(T[i]); }",
              {{"A", {DataType::fp32, {0}}}});
  EXPECT_THAT(kernels(program), ElementsAre("#kernel #zero block []"));
}

TEST(LowerText, ReshapeByWholeDimsHasNoConstraints) {
  stripe::Program program =
      lowered("function (A[N, M, K]) -> (R) { R = reshape(A, N * M / 4, 4, K); }",
              {{"A", {DataType::fp32, {10, 12, 7}}}});
  ASSERT_EQ(kernels(program).size(), 1u);
  EXPECT_TRUE(kernel(program, 0).constraints.empty());
  int64_t points = 1;
  for (const stripe::Index& index : kernel(program, 0).idxs) points *= index.range;
  EXPECT_EQ(points, 840);
}

TEST(LowerText, AnOutputThatIsAnInputIsCopied) {
  stripe::Program program =
      lowered("function (A[N]) -> (R) { R = A; }", {{"A", {DataType::i16, {3}}}});
  ASSERT_EQ(kernels(program).size(), 1u);
  EXPECT_EQ(kernel(program, 0).stmts.size(), 2u);
}

std::vector<std::string> warnings_of(const std::string& text,
                                     const std::map<std::string, tile::TensorType>& inputs) {
  auto parsed = tile::parse({"test.tile", text});
  auto bound = tile::bind_program(*parsed, "", inputs);
  EXPECT_TRUE(bound.ok()) << bound.status().message();
  std::vector<Diagnostic> warnings;
  EXPECT_TRUE(lower(*bound, &warnings).ok());
  std::vector<std::string> out;
  for (const Diagnostic& d : warnings) {
    EXPECT_EQ(d.severity, Severity::warning);
    out.push_back(text.substr(d.span.begin, d.span.end - d.span.begin) + ": " + d.message);
  }
  return out;
}

TEST(Lower, WarnsOfOutputsThatAreNotWhollyWritten) {
  const std::map<std::string, tile::TensorType> inputs = {{"A", {DataType::fp32, {4}}}};
  EXPECT_THAT(warnings_of("function (A[N]) -> (R) { R[i : N] = +(A[i]); }", inputs), ElementsAre());
  EXPECT_THAT(warnings_of("function (A[N]) -> (R) { R[2 * i : 2 * N] = +(A[i]); }", inputs),
              ElementsAre("R[2 * i : 2 * N]: 4 of the 8 elements of 'R' are never written and stay "
                          "0, for example R[1]; "
                          "if that is meant, say so with 'default'"));
  EXPECT_THAT(
      warnings_of(
          "function (A[N]) -> (R, S) { R[i : N + 1] = >(A[i]); S[i : 3] = +(A[i]), i - 4 < 9; }",
          inputs),
      ElementsAre("R[i : N + 1]: 1 of the 5 elements of 'R' is never written and stays 0, for "
                  "example R[4]; "
                  "if that is meant, say so with 'default'",
                  "S[i : 3]: no index set is valid: 'S' is 0 everywhere; if that is meant, say so "
                  "with 'default'"));
  EXPECT_THAT(warnings_of("function (A[N]) -> (R) { Z = 0; R[2 * i : 2 * N] = +(A[i]) default Z; }",
                          inputs),
              ElementsAre());
  // Once for a function that is called twice, at its call for a composed one.
  EXPECT_EQ(warnings_of("function f(A[N]) -> (R) { R[2 * i : N] = +(A[i]); }\n"
                        "function (A) -> (R) { R = f(A) + f(A * 2); }",
                        inputs)
                .size(),
            1u);
}

// Rule M18.
TEST(Lower, DoesNotWarnOfZerosInADerivative) {
  const std::map<std::string, tile::TensorType> inputs = {{"A", {DataType::fp32, {4}}}};
  const std::string function =
      "function d(A[N]) -> (DA) {\n"
      "  DA_1[2 * i : N] = +(A[i]);\n  [[derivative(A)]] DA = DA_1 + A;\n}\n";
  EXPECT_THAT(warnings_of(function, inputs), ElementsAre());
  const std::string caller = "function (A[N]) -> (R) { D = d(A); R[2 * i : N] = +(D[i]); }";
  EXPECT_EQ(warnings_of(function + caller, inputs).size(), 1u);  // of R
}

TEST(Lower, TheAttributePidNamesKernels) {
  stripe::Program program = lowered(
      "function (A[N]) -> (R, S, T) { [[pid(sum)]] R[2 * i : N] = +(A[i]); [[pid(sum)]] S = A; T = "
      "A; }",
      {{"A", {DataType::fp32, {4}}}});
  EXPECT_EQ(kernel(program, 0).name, "sum");  // fills what the next one leaves
  EXPECT_EQ(kernel(program, 1).name, "sum_0");
  EXPECT_EQ(kernel(program, 2).name, "sum_1");
  EXPECT_EQ(kernel(program, 3).name, "kernel_3");
}

}  // namespace
}  // namespace stria
