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
        auto counted = check(text, {{"A", {kHalf, first ? Sizes{32, 48} : Sizes{48, 32}}},
                                    {"B", {kHalf, second ? Sizes{48, 64} : Sizes{64, 48}}}});
        EXPECT_EQ(counted["matrix_units: groups"], 1) << text;
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
  auto many = check(text, {{"D", {kHalf, {16, 3, 4, 16}}}, {"K", {kHalf, {3, 3, 16, 32}}}});
  EXPECT_EQ(many["matrix_units: groups"], 1);
  auto few = check(text, {{"D", {kHalf, {2, 16, 16, 16}}}, {"K", {kHalf, {3, 3, 16, 16}}}});
  EXPECT_EQ(few["matrix_units: groups"], 0);
}

TEST(MatrixProducts, OtherTypes) {
  auto counted =
      check("function (A[I, K], B[K, J]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[k, j]); }",
            {{"A", {DataType::u8, {32, 64}}}, {"B", {DataType::i8, {64, 32}}}});
  EXPECT_EQ(counted["matrix_units: groups"], 1);
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

// The result, what follows and another use of it are all wanted.
TEST(MatrixProducts, SeveralResults) {
  check(
      "function (A[I, K], B[K, J], V[J]) -> (C, R, T) {"
      " C[i, j : I, J] = +(A[i, k] * B[k, j]); R = C + V; T[j : J] = >(R[i, j]); }",
      {{"A", {kHalf, {32, 16}}}, {"B", {kHalf, {16, 32}}}, {"V", {kHalf, {32}}}});
  check(
      "function (A[I, K], B[K, J], D[J, L]) -> (R) {"
      " C[i, j : I, J] = +(A[i, k] * B[k, j]); P = (C > 0 ? C : 0);"
      " R[i, l : I, L] = +(P[i, j] * D[j, l]); }",
      {{"A", {kHalf, {32, 16}}}, {"B", {kHalf, {16, 32}}}, {"D", {kHalf, {32, 16}}}});
}

TEST(MatrixProducts, RandomSizes) {
  std::mt19937 random(1);
  const auto one_of = [&](auto... values) {
    const std::array<int64_t, sizeof...(values)> all = {values...};
    return all[random() % all.size()];
  };
  int64_t groups = 0, pipelines = 0;
  for (int n = 0; n < 60; ++n) {
    const int64_t batch = one_of(1, 2, 3), rows = one_of(16, 32, 64, 80, 17),
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
  EXPECT_GT(groups, 15);
  EXPECT_GT(pipelines, 5);
}

}  // namespace
}  // namespace stria::passes
