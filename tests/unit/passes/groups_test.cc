// SPDX-License-Identifier: Apache-2.0
// Kernels in groups of lanes: operands staged near them, sums in registers, barriers, an interior
// without tests. Every step keeps the values, at sizes with every kind of edge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/base/file.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

constexpr DataType kFloat = DataType::fp32;

HardwareModel group_model() {
  auto model = load_hardware_model({"groups", R"({
      "mem_units": {"DRAM": {"size_KiB": 1024}, "LOCAL": {"size_KiB": 48}, "REG": {"count": 1}},
      "exec_units": {"CU": {"count": 4}, "ITEM": {"count": 1}}})"});
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
                                                     "thread: groups_threaded",
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
              threads, {"thread: groups_threaded"});
}

TEST(Groups, RowsThatLanesReadByColumnsAreSwizzled) {
  auto program =
      make_program("function (A[I, K], B[J, K]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[j, k]); }",
                   {{"A", {kFloat, {64, 64}}}, {"B", {kFloat, {32, 64}}}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  std::map<std::string, int64_t> counters;
  EXPECT_EQ(wrong_step(pipeline(),
                       {{"TILE", R"({"i": 32, "j": 32, "k": 32})"},
                        {"THREADS", "64"},
                        {"LAYOUT", "packed"}},
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
            {"cache: sums_cached", "thread: groups_threaded"});
}

TEST(Groups, ASumThatGroupsWouldShareStaysWhole) {
  auto program =
      make_program("function (A[K]) -> (S) { S[] = +(A[k]); }", {{"A", {kFloat, {100}}}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  EXPECT_EQ(wrong_step(pipeline(), {{"TILE", R"({"k": 16})"}, {"THREADS", "16"}}, group_model(),
                       *program),
            "");
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
              {"rollup: sums_rolled_up", "thread: groups_threaded", "barrier: barriers_removed"});
}

}  // namespace
}  // namespace stria::passes
