// SPDX-License-Identifier: Apache-2.0
// Products on matrix units: the pipeline for GPUs keeps the values, whatever the sizes, the order
// of dimensions and what follows the product.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "stria/base/file.h"
#include "stria/builtins/evaluate.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

constexpr const char* kPipeline = STRIA_SOURCE_DIR "/plugins/vulkan/passes/gpu.json";
constexpr const char* kModel = STRIA_SOURCE_DIR "/tests/golden/passes/matrix_groups/gpu.json";

// Matrix units are faster for small products, too. One unit has large groups; few lanes in a
// subgroup hold few matrices; and with little local memory there are many steps.
const TemplateSettings kLarge = {{"OPS", "1"}, {"UNITS", "1"}};
const TemplateSettings kSmall = {{"OPS", "1"}, {"UNITS", "1"}, {"LANES", "4"}, {"LOCAL_KIB", "4"}};

// Runs the pipeline and compares. What the steps counted.
std::map<std::string, int64_t> check(const std::string& text,
                                     const std::map<std::string, tile::TensorType>& inputs,
                                     const TemplateSettings& settings = kLarge) {
  std::map<std::string, int64_t> counters;
  auto model = load_hardware_model({kModel, read_file(kModel).value()}, settings);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  auto program = make_program(text, inputs);
  EXPECT_TRUE(program.ok()) << text << program.status().to_string();
  const std::string pipeline = read_file(kPipeline).value();
  auto steps = parse_pipeline({kPipeline, pipeline}, {}, *model, pass_registry());
  EXPECT_TRUE(steps.ok()) << steps.status().to_string();
  PipelineOptions how;
  how.verify_each = true;
  const EvaluateIntrinsic evaluator = evaluate;
  how.evaluate = &evaluator;
  how.after_step = [&](int, const StepReport& report, const stripe::Program&) {
    for (const auto& [name, count] : report.counters) counters[report.step + ": " + name] += count;
  };
  stripe::Program device = program->generic;
  const auto reports = run_pipeline(device, *steps, *model, how);
  EXPECT_TRUE(reports.ok()) << text << reports.status().to_string();
  // Which step it was.
  if (reports.ok() && !wrong_values(device, *program).empty())
    ADD_FAILURE() << text << wrong_step(pipeline, {}, *model, *program);
  return counters;
}

constexpr DataType kHalf = DataType::fp16;

TEST(MatrixProducts, OrdersOfDimensions) {
  for (const char* left : {"i, k", "k, i"})
    for (const char* right : {"k, j", "j, k"})
      for (const char* result : {"i, j", "j, i"}) {
        const bool first = left[0] == 'i', second = right[0] == 'k', rows = result[0] == 'i';
        const std::string text =
            fmt::format("function (A[{}], B[{}]) -> (C) {{ C[{} : {}] = +(A[{}] * B[{}]); }}",
                        first ? "I, K" : "K, I", second ? "K, J" : "J, K", result,
                        rows ? "I, J" : "J, I", left, right);
        using Sizes = std::vector<int64_t>;
        for (const TemplateSettings& settings : {kLarge, kSmall}) {
          auto counted = check(text,
                               {{"A", {kHalf, first ? Sizes{64, 48} : Sizes{48, 64}}},
                                {"B", {kHalf, second ? Sizes{48, 64} : Sizes{64, 48}}}},
                               settings);
          EXPECT_EQ(counted["matrix_units: groups"], 1) << text;
        }
      }
}

TEST(MatrixProducts, Convolutions) {
  const std::string text =
      "function (D[N, X, Y, CI], K[I, J, CI, CO]) -> (O) {"
      " O[n, x, y, co : N, X, Y, CO] = +(D[n, x+i-1, y+j-1, ci] * K[i, j, ci, co]); }";
  // Rows of matrices are pixels, or images where the border is in the way.
  auto one = check(
      "function (D[N, X, Y, CI], K[CI, CO]) -> (O) {"
      " O[n, x, y, co : N, X, Y, CO] = +(D[n, x, y, ci] * K[ci, co]); }",
      {{"D", {kHalf, {2, 3, 16, 32}}}, {"K", {kHalf, {32, 48}}}});
  EXPECT_EQ(one["matrix_units: groups"], 1);
  // Windows that stay inside of the image; rows of matrices go on beyond its end.
  auto inside = check(
      "function (D[N, X, Y, CI], K[I, J, CI, CO]) -> (O) {"
      " O[n, x, y, co : N, X - 2, Y - 2, CO] = +(D[n, x+i, y+j, ci] * K[i, j, ci, co]); }",
      {{"D", {kHalf, {1, 4, 23, 16}}}, {"K", {kHalf, {3, 3, 16, 32}}}});
  EXPECT_EQ(inside["matrix_units: groups"], 1);
  auto many = check(text, {{"D", {kHalf, {16, 3, 4, 16}}}, {"K", {kHalf, {3, 3, 16, 32}}}});
  EXPECT_EQ(many["matrix_units: groups"], 1);
  auto few = check(text, {{"D", {kHalf, {2, 16, 16, 16}}}, {"K", {kHalf, {3, 3, 16, 16}}}});
  EXPECT_EQ(few["matrix_units: groups"], 1);  // two rows of 16 are faster than none
}

// Sums of the type in which they are stored, of which one subgroup could not hold all.
TEST(MatrixProducts, OtherTypes) {
  for (const TemplateSettings& settings : {kLarge, kSmall}) {
    auto counted =
        check("function (A[I, K], B[K, J]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[k, j]); }",
              {{"A", {DataType::u8, {64, 64}}}, {"B", {DataType::i8, {64, 64}}}}, settings);
    EXPECT_EQ(counted["matrix_units: groups"], 1);
  }
}

// Lanes convert what they stage, but round nothing.
TEST(MatrixProducts, FactorsOfTwoTypes) {
  struct Case {
    DataType left, right;
    int64_t groups;
  };
  for (const auto& [left, right, groups] :
       {Case{DataType::i8, kHalf, 1}, Case{kHalf, DataType::u8, 1},
        Case{DataType::boolean, kHalf, 1}, Case{DataType::i16, kHalf, 0},
        Case{DataType::fp32, kHalf, 0}})
    for (const TemplateSettings& settings : {kLarge, kSmall})
      for (const char* right_access : {"k, j", "j, k"}) {
        auto counted =
            check(fmt::format(
                      "function (A[I, K], B[{}]) -> (C) {{ C[i, j : I, J] = +(A[i, k] * B[{}]); }}",
                      right_access[0] == 'k' ? "K, J" : "J, K", right_access),
                  {{"A", {left, {64, 48}}},
                   {"B",
                    {right, right_access[0] == 'k' ? std::vector<int64_t>{48, 32}
                                                   : std::vector<int64_t>{32, 48}}}},
                  settings);
        EXPECT_EQ(counted["matrix_units: groups"], groups) << name_of(left) << name_of(right);
        EXPECT_EQ(counted["matrix_operands: steps"], groups);
      }
}

// A part of the sums, so that the operands go on beyond its end, of which one may be converted.
TEST(MatrixProducts, EndsInsideOfTensors) {
  for (const char* text : {"C[i, j : I, J] = +(A[i, k] * B[k, j]), k < 24;",
                           "C[i, j : I - 3, J - 8] = +(A[i + 1, k + 16] * B[k, j + 8]), k < 24;",
                           "C[i, j : 33, J] = +(A[i, k] * B[k + 5, j]), k < 40;"})
    for (const DataType right : {kHalf, DataType::i8}) {
      auto counted = check(fmt::format("function (A[I, K], B[K, J]) -> (C) {{ {} }}", text),
                           {{"A", {kHalf, {40, 48}}}, {"B", {right, {48, 48}}}});
      EXPECT_EQ(counted["matrix_units: groups"], 1) << text << name_of(right);
    }
}

// What follows the product C, in a program that has V[J], W[I], E[I, J] and S[] too.
struct Tail {
  const char* text;
  int64_t fused;  // kernels that run in the product's
};

constexpr Tail kTails[] = {
    {"R = C + V;", 1},
    {"R = (C + V > 0 ? C + V : 0);", 1},
    {"R = C * S + E;", 1},
    {"R = exp(C) / (1 + exp(C));", 1},
    {"Q = C + V; R = Q * Q;", 1},
    {"R = C + index(C, 1);", 0},
    {"R[j, i : J, I] = +(C[i, j]);", 0},
    {"R[i : I] = +(C[i, j]);", 0},
};

TEST(MatrixProducts, WhatFollows) {
  for (const Tail& tail : kTails) {
    const std::string text = fmt::format(
        "function (A[I, K], B[K, J], V[J], E[I, J], S[]) -> (R) {{"
        " C[i, j : I, J] = +(A[i, k] * B[k, j]); {} }}",
        tail.text);
    auto counted = check(text, {{"A", {kHalf, {48, 32}}},
                                {"B", {kHalf, {32, 64}}},
                                {"V", {kHalf, {64}}},
                                {"E", {kHalf, {48, 64}}},
                                {"S", {kHalf, {}}}});
    EXPECT_EQ(counted["matrix_units: groups"], 1) << text;
    EXPECT_EQ(counted["matrix_tails: pairs_fused"], tail.fused) << text;
  }
}

// Each step of a recurrence reads one row of a product of many. The first step follows the product
// at once, and must not make the groups of all rows those of its own.
TEST(MatrixProducts, ReadersOfOneRowAreKernelsOfTheirOwn) {
  constexpr int kSteps = 32;
  std::string text =
      "function (A[I, K], B[K, J], U[J, J], V[J], P0[J]) -> (P32) {"
      " C[i, j : I, J] = +(A[i, k] * B[k, j]); T = C + V; M0 = P0;";
  for (int step = 0; step < kSteps; ++step) {
    if (step > 0) text += fmt::format(" M{0}[j : J] = +(P{0}[l] * U[l, j]);", step);
    text += fmt::format(" F{0}[j : J] = =(T[{0}, j]); S{0} = F{0} + M{0}; P{1} = S{0} * S{0};",
                        step, step + 1);
  }
  for (const DataType type : {kHalf, DataType::fp32}) {
    auto counted = check(text + " }",
                         {{"A", {type, {kSteps, 32}}},
                          {"B", {type, {32, 128}}},
                          {"U", {type, {128, 128}}},
                          {"V", {type, {128}}},
                          {"P0", {type, {128}}}},
                         {{"OPS", "1"}, {"UNITS", "16"}});
    const bool matrices = type == kHalf;
    EXPECT_EQ(counted["matrix_units: groups"], matrices ? 1 : 0);
    EXPECT_EQ(counted["matrix_tails: pairs_fused"], matrices ? 1 : 0);
    // The products of the other steps, each with what follows.
    EXPECT_EQ(counted["epilogues: pairs_fused"], kSteps - 1);
  }
}

// Programs with A[I, K], B[K, I], E[I, I] and W[I], of 32 and 48.
constexpr const char* kPrograms[] = {
    // The result and what follows it are both wanted.
    "-> (C, R) { C[i, j : I, I] = +(A[i, k] * B[k, j]); R = C + W; }",
    "-> (C, R, T) { C[i, j : I, I] = +(A[i, k] * B[k, j]); R = C + W; T[j : I] = >(R[i, j]); }",
    // A product of a product, with something between.
    "-> (R) { C[i, j : I, I] = +(A[i, k] * B[k, j]); P = (C > 0 ? C : 0);"
    " R[i, l : I, I] = +(P[i, j] * E[j, l]); }",
    // Two products in one sum; one of them is written with columns first.
    "-> (R) { C[i, j : I, I] = +(A[i, k] * B[k, j]); D[i, j : I, I] = +(A[j, k] * B[k, i]);"
    " R = C + D; }",
    "-> (R) { C[i, j : I, I] = +(A[i, k] * B[k, j]); D[i, j : I, I] = +(E[i, k] * E[j, k]);"
    " R = C * D - C; }",
    // One tensor is both operands.
    "-> (R) { C[i, j : I, I] = +(A[i, k] * A[j, k]); R = C + E; }",
    "-> (C) { C[k, l : K, K] = +(A[i, k] * A[i, l]); }",
    // What follows reads the result across, or a column of it.
    "-> (R) { C[i, j : I, I] = +(A[i, k] * B[k, j]); T[i, j : I, I] = +(C[j, i]); R = C + T; }",
    "-> (R) { C[i, j : I, I] = +(A[i, k] * B[k, j]); T[i : I] = +(C[i, 3]); R = C + T; }",
    // One value for each row.
    "-> (R) { C[i, j : I, I] = +(A[i, k] * B[k, j]); V[i, j : I, 1] = +(W[i]); R = C * V; }",
    // Rows and columns of what follows are those of a larger tensor.
    "-> (R) { C[i, j : I, 2*I] = +(A[i, k] * B[k, j]); R = (C > 0 ? C : 0); }",
    // A part of the sums, beginning inside a tensor.
    "-> (C) { C[i, j : I, I] = +(A[i, k] * B[k, j]), k < 16; }",
    "-> (C) { C[i, j : I, I] = +(A[i, k + 16] * B[k + 8, j]), k < 16; }",
    "-> (C) { C[i, j : 2*I, I] = +(A[i, k] * B[k, j]); }",
    "-> (C) { C[2*i, j : 2*I, I] = +(A[i, k] * B[k, j]); }",
    "-> (C) { C[i, j + 16 : I, I + 16] = +(A[i, k] * B[k, j]); }",
    "-> (C) { C[i, j + 3 : I, I + 3] = +(A[i, k] * B[k, j]); }",
    // The operands are what something else computed.
    "-> (C) { P = A * 2; Q = exp(B); C[i, j : I, I] = +(P[i, k] * Q[k, j]); }",
};

TEST(MatrixProducts, AmongOtherKernels) {
  int64_t groups = 0;
  for (const char* program : kPrograms)
    for (const TemplateSettings& settings : {kLarge, kSmall})
      groups += check(std::string("function (A[I, K], B[K, I], E[I, I], W[I]) ") + program,
                      {{"A", {kHalf, {32, 48}}},
                       {"B", {kHalf, {48, 32}}},
                       {"E", {kHalf, {32, 32}}},
                       {"W", {kHalf, {32}}}},
                      settings)["matrix_units: groups"];
  EXPECT_GT(groups, 30);
}

TEST(MatrixProducts, RandomSizes) {
  std::mt19937 random(1);
  const auto one_of = [&](auto... values) {
    const std::array<int64_t, sizeof...(values)> all = {values...};
    return all[random() % all.size()];
  };
  int64_t groups = 0, pipelines = 0;
  for (int n = 0; n < 60; ++n) {
    const int64_t batch = one_of(1, 2, 3), rows = one_of(16, 32, 64, 80, 17, 3, 129),
                  columns = one_of(16, 32, 64, 96, 20), depth = one_of(16, 32, 48, 64, 24);
    const bool across = n % 2 == 0;
    const std::string text = fmt::format(
        "function (A[B, I, K], D[B, {0}], V[J]) -> (R) {{"
        " C[b, i, j : B, I, J] = +(A[b, i, k] * D[b, {1}]); R = C + V; }}",
        across ? "J, K" : "K, J", across ? "j, k" : "k, j");
    using Sizes = std::vector<int64_t>;
    auto counted =
        check(text,
              {{"A", {kHalf, {batch, rows, depth}}},
               {"D", {kHalf, across ? Sizes{batch, columns, depth} : Sizes{batch, depth, columns}}},
               {"V", {kHalf, {columns}}}},
              n % 3 == 0 ? kLarge : kSmall);
    groups += counted["matrix_units: groups"];
    pipelines += counted["matrix_ahead: loops_pipelined"];
  }
  EXPECT_EQ(groups, 60);
  EXPECT_GT(pipelines, 5);
}

}  // namespace
}  // namespace stria::passes
