// SPDX-License-Identifier: Apache-2.0
// Kernels in groups of lanes: operands staged near them, sums in registers, barriers, an interior
// without tests. Every step keeps the values, at sizes with every kind of edge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/base/file.h"
#include "stria/lower/lower.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/text/printer.h"
#include "stria/tile/syntax/parser.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

constexpr DataType kFloat = DataType::fp32;

HardwareModel group_model() {
  auto model = load_hardware_model({"groups", R"({
      "mem_units": {"DRAM": {"size_KiB": 1024}, "LOCAL": {"size_KiB": 48}, "REG": {"count": 1}},
      "exec_units": {"CU": {"count": 4}, "LANE": {"count": 1}}})"});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return std::move(model).value();
}

std::string pipeline() {
  auto text = read_file(STRIA_SOURCE_DIR "/tests/unit/passes/group_pipeline.json");
  STRIA_CHECK(text.ok(), "{}", text.status().to_string());
  return *text;
}

void check(const std::string& text, const std::map<std::string, tile::TensorType>& inputs,
           const std::string& tile, int64_t threads,
           const std::vector<std::string>& expect = {"cache: sums_cached", "cache: tensors_fetched",
                                                     "thread_lanes: groups_threaded",
                                                     "barrier: barriers_removed"}) {
  auto program = make_program(text, inputs);
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  std::map<std::string, int64_t> counters;
  for (const char* depth : {"1", "2", "3"})
    EXPECT_EQ(wrong_step(pipeline(),
                         {{"TILE", tile}, {"THREADS", std::to_string(threads)}, {"DEPTH", depth}},
                         group_model(), *program, &counters),
              "");
  for (const std::string& counter : expect) EXPECT_GT(counters[counter], 0) << counter;
}

TEST(Groups, MatrixProducts) {
  const char* text =
      "function (A[I, K], B[K, J]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[k, j]); }";
  for (auto [i, j, k] : {std::tuple<int64_t, int64_t, int64_t>{16, 16, 16},
                         {17, 9, 5},
                         {8, 33, 20},
                         {1, 16, 7},
                         {30, 3, 1}})
    for (DataType type : {kFloat, DataType::fp16, DataType::i32})
      for (int64_t threads : {4, 32, 64})
        check(text, {{"A", {type, {i, k}}}, {"B", {type, {k, j}}}}, R"({"i": 8, "j": 8, "k": 4})",
              threads, {"thread_lanes: groups_threaded"});
}

TEST(Groups, RowsThatLanesReadByColumnsAreSwizzled) {
  auto program =
      make_program("function (A[I, K], B[J, K]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[j, k]); }",
                   {{"A", {kFloat, {64, 64}}}, {"B", {kFloat, {32, 64}}}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  std::map<std::string, int64_t> counters;
  EXPECT_EQ(
      wrong_step(
          pipeline(),
          {{"TILE", R"({"i": 32, "j": 32, "k": 32})"}, {"THREADS", "64"}, {"LAYOUT", "packed"}},
          group_model(), *program, &counters),
      "");
  EXPECT_GT(counters["swizzle: layouts_swizzled"], 0);
}

TEST(Groups, Convolutions) {
  const std::string same =
      "function (D[N, X, Y, CI], K[I, J, CO, CI]) -> (O) {"
      " O[n, x, y, co : N, X, Y, CO] = +(D[n, x+i-1, y+j-1, ci] * K[i, j, co, ci]); }";
  const std::string strided =
      "function (D[N, X, Y, CI], K[I, J, CO, CI]) -> (O) {"
      " O[n, x, y, co : N, (X + 1) / 2, (Y + 1) / 2, CO] ="
      " +(D[n, 2*x+i-1, 2*y+j-1, ci] * K[i, j, co, ci]); }";
  const char* tile = R"({"ci": 4, "co": 8, "i": 2, "j": 3, "n": 2, "x": 2, "y": 2})";
  for (const std::string& text : {same, strided})
    for (auto [x, y, ci, co] :
         {std::tuple<int64_t, int64_t, int64_t, int64_t>{6, 6, 8, 8}, {5, 7, 6, 9}, {2, 3, 4, 8}})
      check(text, {{"D", {kFloat, {3, x, y, ci}}}, {"K", {kFloat, {3, 3, co, ci}}}}, tile, 32,
            {"cache: sums_cached", "thread_lanes: groups_threaded"});
}

TEST(Groups, WhatFollowsPointByPoint) {
  const std::string bias =
      "function (A[I, K], B[K, J], V[J]) -> (R) { C[i, j : I, J] = +(A[i, k] * B[k, j]);"
      " R = (C + V > 0 ? C + V : 0); }";
  for (auto [i, j, k] : {std::tuple<int64_t, int64_t, int64_t>{32, 16, 16}, {17, 9, 5}})
    check(bias, {{"A", {kFloat, {i, k}}}, {"B", {kFloat, {k, j}}}, {"V", {kFloat, {j}}}},
          R"({"i": 8, "j": 8, "k": 4})", 32,
          {"fusion: pairs_fused", "thread_lanes: groups_threaded"});
}

TEST(Groups, ASumThatGroupsWouldShareStaysWhole) {
  auto program =
      make_program("function (A[K]) -> (S) { S[] = +(A[k]); }", {{"A", {kFloat, {100}}}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  EXPECT_EQ(wrong_step(pipeline(), {{"TILE", R"({"k": 16})"}, {"THREADS", "16"}}, group_model(),
                       *program),
            "");
}

// The kernel of PlaidML's text on kernel generation, from its settings alone: the numbers that the
// text prints, in what the passes say and make.
TEST(Groups, NumbersOfTheTextOnKernelGeneration) {
  auto parsed = tile::parse({"kernel.tile",
                             "function (D[N, X, Y, CI], K[I, J, CO, CI]) -> (R) {"
                             " O[n, x, y, co : N, X, Y, CO] ="
                             " +(D[n, x+i-1, y+j-1, ci] * K[i, j, co, ci]);"
                             " R = (O > 0 ? O : 0); }"});
  ASSERT_TRUE(parsed.ok());
  auto bound = tile::bind_program(
      *parsed, "", {{"D", {kFloat, {32, 224, 224, 64}}}, {"K", {kFloat, {3, 3, 64, 64}}}});
  ASSERT_TRUE(bound.ok()) << bound.status().to_string();
  auto program = lower(*bound);
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  auto model = load_hardware_model({"settings", R"({
      "mem_units": {"LOCAL": {"size_KiB": 48}, "REG": {"count": 1}},
      "exec_units": {"CU": {"count": 4}, "LANE": {"count": 1}},
      "settings": {"threads": 256, "mem_width": 32, "max_mem": 18432, "max_regs": 18432,
                   "goal_groups": 20, "goal_flops_per_byte": 20}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  auto steps =
      parse_pipeline({"groups", pipeline()}, {{"THREADS", "256"}}, *model, pass_registry());
  ASSERT_TRUE(steps.ok()) << steps.status().to_string();
  PipelineOptions options;
  options.verify_each = true;
  options.explain = "autotile";
  auto reports = run_pipeline(*program, *steps, *model, options);
  ASSERT_TRUE(reports.ok()) << reports.status().to_string();
  std::string said;
  for (const StepReport& report : *reports) said += report.to_string(true) + "\n";
  const std::string made = stripe::print(*program);
  using testing::HasSubstr;
  EXPECT_THAT(said, HasSubstr("552 tiles looked at by ascend"));
  EXPECT_THAT(said, HasSubstr("1. [ci:8, co:32, i:2, j:3, n:16, x:2, y:2]"));
  EXPECT_THAT(said, HasSubstr("operations=236760072192 groups=50176 inner_tiles=16 "
                              "shared_bytes=12648 register_bytes=8192 read_bytes=12288 "
                              "written_bytes=8192 lanes_at_work=256 merging_steps=0"));
  EXPECT_THAT(said, HasSubstr("groups in a grid [112, 112, 4]"));
  EXPECT_THAT(said, HasSubstr("lanes co 8 x y 2 x x 2 x n 8"));
  EXPECT_THAT(said, HasSubstr("lanes i3 8 x i0 16 x i2 2"));  // ci, n, j_y of D
  EXPECT_THAT(said, HasSubstr("lanes i3 8 x i2 32"));         // ci, co of K
  EXPECT_THAT(said, HasSubstr("8 slots in each lane"));
  EXPECT_THAT(said, HasSubstr("2 of 6 barriers are needed"));
  // 1 + 2 x 1 + 15 x 3 + 7 x 49 + 3 x 393 + 1 = 1572, 1 + 31 + 7 x 33 + 5 x 265 + 2 = 1590.
  EXPECT_THAT(made, HasSubstr("D_scratch[0, 0, 0, 0] fp32(16:3, 3:1, 4:393, 8:49)"));
  EXPECT_THAT(made, HasSubstr("K_scratch[0, 0, 0, 0] fp32(2:795, 3:265, 32:1, 8:33)"));
}

TEST(Groups, AModelThatKnowsNothing) {
  auto program =
      make_program("function (A[I, K], B[K, J]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[k, j]); }",
                   {{"A", {kFloat, {16, 16}}}, {"B", {kFloat, {16, 16}}}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  EXPECT_EQ(wrong_step(pipeline(),
                       {{"TILE", R"({"i": 8, "j": 8, "k": 4})"}, {"THREADS", "32"}, {"DEPTH", "2"}},
                       *load_hardware_model({"empty", "{}"}), *program),
            "");
}

TEST(Groups, FewOutputsShareTheirReductionOut) {
  for (const char* text : {"function (A[I, K]) -> (S) { S[i : I] = +(A[i, k]); }",
                           "function (A[I, K]) -> (S) { S[i : I] = >(A[i, k]); }"})
    for (int64_t k : {64, 100, 7})
      for (DataType type : {kFloat, DataType::i32})
        check(text, {{"A", {type, {5, k}}}}, R"({"i": 2, "k": 32})", 32,
              {"rollup: sums_rolled_up", "thread_lanes: groups_threaded",
               "barrier: barriers_removed"});
}

}  // namespace
}  // namespace stria::passes
