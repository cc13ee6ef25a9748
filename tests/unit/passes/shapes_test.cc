// SPDX-License-Identifier: Apache-2.0
// The kernels that the CPU's pipeline is made for, at sizes that have every kind of edge.
#include <gtest/gtest.h>

#include "stria/rewrite/index_role.h"
#include "stria/stripe/text/printer.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

constexpr DataType kFloat = DataType::fp32;

void check(const std::string& text, const std::map<std::string, tile::TensorType>& inputs,
           const std::vector<std::string>& expect = {}) {
  auto program = make_program(text, inputs);
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  for (auto [vector_bytes, registers] : {std::pair<int64_t, int64_t>{64, 32}, {16, 16}}) {
    std::map<std::string, int64_t> counters;
    EXPECT_EQ(wrong_step(cpu_pipeline(), {{"MIN_WORK", "1"}}, small_model(vector_bytes, registers),
                         *program, &counters),
              "");
    for (const std::string& counter : expect) EXPECT_GT(counters[counter], 0) << counter;
  }
}

// The CPU's steps with reductions of a few elements in a part.
TEST(Shapes, LongReductionsInParts) {
  const char* pipeline = R"([{"prune": {}}, {"pack_inputs": {"reads": 8, "memory": "DRAM"}},
      {"order_indices": {}}, {"block_reduction": {"min_steps": 2, "percent": 100, "parts_per_core": 2, "only_if_shorter": false}},
      {"tile": {"reqs": ["reduction_part"], "inner_set": ["tile"], "order": "reuse", "balance": true,
       "output_vector": {"vectors": 2, "output": [6], "other_output": 1}}},
      {"tile": {"reqs": ["tile"], "order": "stride", "output_vector": {"reduction": 1}}},
      {"vectorize": {"reduction_inside": "reduction_part"}}, {"thread": {"min_work": 1}}, {"unroll": {}},
      {"split_interior": {}}, {"agg_init": {"cut": true}}, {"prune": {}}])";
  const std::vector<std::pair<const char*, std::vector<std::vector<int64_t>>>> programs = {
      {"function (A[K, I], B[K, J]) -> (C) { C[i, j : I, J] = +(A[k, i] * B[k, j]); }",
       {{200, 15}, {200, 33}}},
      {"function (A[N, X, Y, I], B[N, X, Y, O]) -> (C) { C[u, v, i, o : 3, 3, I, O] = "
       "+(A[n, x + u - 1, y + v - 1, i] * B[n, x, y, o]); }",
       {{2, 7, 6, 5}, {2, 7, 6, 17}}},
      {"function (A[X, Y, O], B[U, V, I, O]) -> (C) { C[x + u - 1, y + v - 1, i : X, Y, I] = "
       "+(A[x, y, o] * B[u, v, i, o]); }",
       {{9, 8, 18}, {3, 3, 16, 18}}},
      {"function (A[K, I], B[K, J]) -> (C) { C[i, j : I, J] = >(A[k, i] + B[k, j]); }",
       {{77, 7}, {77, 16}}}};
  std::map<std::string, int64_t> counters;
  for (const auto& [text, sizes] : programs)
    for (DataType type : {kFloat, DataType::fp16, DataType::i32}) {
      auto program = make_program(text, {{"A", {type, sizes[0]}}, {"B", {type, sizes[1]}}});
      ASSERT_TRUE(program.ok()) << program.status().to_string();
      for (auto [vector_bytes, registers] : {std::pair<int64_t, int64_t>{64, 32}, {16, 16}})
        EXPECT_EQ(
            wrong_step(pipeline, {}, small_model(vector_bytes, registers), *program, &counters),
            "");
    }
  for (const char* must : {"block_reduction: reductions_cut", "pack_inputs: inputs_packed"})
    EXPECT_GE(counters[must], 6) << must;
}

// The slides' stencils, one that takes all indices, and ends of every kind.
TEST(Shapes, TilesOfStencils) {
  const char* pipeline = R"([{"prune": {}}, {"tensorize": {"reqs": ["agg_op_add", "comb_op_mul"],
      "outer_set": ["CONV"], "inner_set": ["CONV_inner"], "stencils": [
      {"idxs": [{"name": "i1", "size": SIZE, "outs": [-1], "ins": [-1, 0]},
                {"name": "c", "size": -1, "outs": [0], "ins": [-1, -1]}]},
      {"startup_cost": 7, "idxs": [{"name": "i1", "size": 4, "outs": [-1], "ins": [-1, 0]},
                {"name": "i2", "size": 4, "outs": [-1], "ins": [0, -1]},
                {"name": "c", "size": -1, "outs": [0], "ins": [-1, -1]}]}]}},
      {"agg_init": {}}, {"prune": {}}])";
  const std::vector<std::pair<const char*, std::vector<std::vector<int64_t>>>> programs = {
      {"function (A[I, K], B[K, J]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[k, j]); }",
       {{13, 6}, {6, 10}}},
      {"function (A[K, I], B[J, K]) -> (C) { C[i, j : I, J] = +(B[j, k] * A[k, i]); }",
       {{5, 32}, {8, 5}}},
      {"function (A[I, K], B[K]) -> (C) { C[i : I] = +(A[i, k] * B[k]); }", {{13, 6}, {6}}},
      {"function (A[X, Y, I], B[U, V, I, O]) -> (C) { C[x, y, o : X, Y, O] = "
       "+(A[x + u - 1, y + v - 1, i] * B[u, v, i, o]); }",
       {{9, 6, 3}, {3, 3, 3, 5}}}};
  for (const auto& [text, sizes] : programs)
    for (const char* size : {"4", "32"}) {
      std::map<std::string, tile::TensorType> inputs;
      for (size_t i = 0; i < sizes.size(); ++i)
        inputs[std::string(1, static_cast<char>('A' + i))] = {kFloat, sizes[i]};
      auto program = make_program(text, inputs);
      ASSERT_TRUE(program.ok()) << program.status().to_string();
      std::string steps = pipeline;
      steps.replace(steps.find("SIZE"), 4, size);
      std::map<std::string, int64_t> counters;
      EXPECT_EQ(wrong_step(steps, {}, small_model(16, 8), *program, &counters), "") << text;
      EXPECT_EQ(
          counters["tensorize: stencil 'stencils/0'"] + counters["tensorize: stencil 'stencils/1'"],
          1)
          << text;
    }
}

// Zeros around what is read: borders of taps, ends of sums, for integers of any value.
TEST(Shapes, PaddedSums) {
  const std::string pipeline = R"([{"prune": {}},
      {"pad": {"reqs": ["agg_op_add", "comb_op_mul"], "max_growth": 1000, "multiples": {"u": 4, "k": 3, "j": 4},
               "copy_inputs": COPY, "min_reads": 1}},
      {"constraint_reduction": {}}, {"agg_init": {}}, {"prune": {}}])";
  struct Program {
    const char* text;
    std::vector<std::vector<int64_t>> sizes;
    std::vector<DataType> types;
    bool inputs;  // grows without copies of the program's tensors
  };
  const std::vector<DataType> integers = {DataType::i8, DataType::i32, DataType::u16};
  const std::vector<Program> programs = {
      {"function (A[X, Y, I], B[U, V, I, O]) -> (C) { T = A + A; C[x, y, o : X, Y, O] = "
       "+(T[x + u - 1, y + v - 1, i] * B[u, v, i, o]); }",
       {{9, 6, 3}, {3, 3, 3, 5}},
       integers,
       true},
      {"function (A[X], B[U]) -> (C) { T = A * A; C[x : X] = +(T[2*x + u - 3] * B[u]); }",
       {{20}, {5}},
       integers,
       true},
      {"function (A[X], B[U]) -> (C) { T = A * A; C[x : X] = +(B[u] * T[5 - x + u]); }",
       {{7}, {5}},
       integers,
       true},
      {"function (A[X]) -> (C) { T = A + A; C[x : X] = +(T[x + u] * T[x - u]), u < 4; }",
       {{11}},
       {DataType::i32},
       true},
      {"function (A[I, K], B[K, J]) -> (C) { T = A + A; U = B * B; C[i, j : I, J] = "
       "+(T[i, k] * U[k, j]); }",
       {{4, 37}, {37, 5}},
       {DataType::fp32, DataType::i16, DataType::fp16},
       true},
      {"function (A[I, K], B[K, J]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[k, j]); }",
       {{4, 37}, {37, 5}},
       {DataType::fp32, DataType::i16},
       false},
      {"function (A[X], B[U]) -> (C) { C[x : 2*X] = +(A[x - 3*u] * B[u]); }",
       {{7}, {5}},
       integers,
       false},
      // The output's tensor grows; what comes after reads its part of it, or zeros around it.
      {"function (A[I, K], B[K, J]) -> (D) { U = B * B; C[i, j : I, J] = +(A[i, k] * U[k, j]); "
       "D = C + C; }",
       {{4, 6}, {6, 5}},
       {DataType::fp32, DataType::i16, DataType::fp16},
       true},
      {"function (A[I, K], B[K, J]) -> (D) { U = B * B; C[i, j : I, J] = +(A[i, k] * U[k, j]); "
       "D[i, x : I, J] = +(C[i, x + u - 1] * B[u, x]); }",
       {{4, 6}, {6, 5}},
       integers,
       true}};
  for (const Program& each : programs)
    for (const DataType type : each.types)
      for (const char* copies : {"false", "true"}) {
        std::map<std::string, tile::TensorType> inputs;
        for (size_t i = 0; i < each.sizes.size(); ++i)
          inputs[std::string(1, static_cast<char>('A' + i))] = {type, each.sizes[i]};
        auto program = make_program(each.text, inputs);
        ASSERT_TRUE(program.ok()) << program.status().to_string();
        std::string steps = pipeline;
        steps.replace(steps.find("COPY"), 4, copies);
        std::map<std::string, int64_t> counters;
        EXPECT_EQ(wrong_step(steps, {}, small_model(16, 8), *program, &counters), "") << each.text;
        const bool grew = counters["pad: tensors_enlarged"] + counters["pad: inputs_copied"] > 0;
        EXPECT_EQ(grew, each.inputs || copies == std::string("true"))
            << each.text << " " << name_of(type) << " " << copies;
      }
}

// Neighbours as one block: what goes between them by points, by tiles, and with a border that is
// made twice.
TEST(Shapes, FusedNeighbours) {
  const std::vector<std::pair<const char*, std::vector<std::vector<int64_t>>>> programs = {
      // Epilogue.
      {"function (A[I, K], B[K, J]) -> (R) { C[i, j : I, J] = +(A[i, k] * B[k, j]); R = (C > 0 ? C "
       ": 0); }",
       {{7, 5}, {5, 9}}},
      // Prologue.
      {"function (A[I, K], B[K, J]) -> (C) { N = -A; C[i, j : I, J] = +(N[i, k] * B[k, j]); }",
       {{6, 5}, {5, 4}}},
      // Two convolutions, the second one with a halo, padded.
      {"function (A[X, Y], B[I, J]) -> (C) { T[x, y : X, Y] = +(A[x + i - 1, y + j - 1] * B[i, j]);"
       " C[x, y : X, Y] = +(T[x + i - 1, y + j - 1] * B[i, j]); }",
       {{9, 7}, {3, 3}}},
      // The second one takes every other row, and the first one's border is not needed.
      {"function (A[X, Y], B[I, J]) -> (C) { T[x, y : X, Y] = +(A[x + i - 1, y] * B[i, j]);"
       " C[x, y : (X - 1) / 2, Y] = +(T[2*x + i, y] * B[i, j]); }",
       {{11, 4}, {3, 2}}},
      // Row statistics behind the values that they are of.
      {"function (A[I, K], B[K]) -> (R) { T = A * B; S[i : I] = +(T[i, k]); R = S * S; }",
       {{5, 6}, {6}}},
      // A transposed reader, and one that reads a part.
      {"function (A[I, J], B[J, I]) -> (C) { T = A + A; C[j, i : J, I] = +(T[i, j] * B[j, i]); }",
       {{4, 6}, {6, 4}}},
      {"function (A[I, J], B[J]) -> (C) { T = A * B; C[i : I] = >(T[i, 2] + T[i, 0]); }",
       {{4, 6}, {6}}}};
  const std::string tile = R"({"output": [3, 2], "other_output": 2})";
  const std::string tiles = R"({"tile": {"scalar": )" + tile + R"(, "output_vector": )" + tile +
                            R"(, "reduction_vector": )" + tile + "}}, ";
  std::map<std::string, int64_t> counters;
  for (const auto& [text, sizes] : programs)
    for (DataType type : {kFloat, DataType::i32, DataType::fp16}) {
      auto program = make_program(text, {{"A", {type, sizes[0]}}, {"B", {type, sizes[1]}}});
      ASSERT_TRUE(program.ok()) << program.status().to_string();
      for (const std::string& before : {std::string(), tiles})
        for (const char* options :
             {R"("recompute": "always")", R"("local": true, "recompute": "always")",
              R"("reductions": true, "recompute": "always", "local": true)",
              R"("recompute": "never")"}) {
          const std::string pipeline = "[" + before + R"({"fusion": {)" + options +
                                       R"(}}, {"localize": {}}, {"agg_init": {}}, {"prune": {}}])";
          EXPECT_EQ(wrong_step(pipeline, {}, small_model(16, 8), *program, &counters), "")
              << text << "\n"
              << pipeline;
        }
    }
  EXPECT_GT(counters["fusion: pairs_fused"], 100);
}

TEST(Shapes, MatrixProducts) {
  const char* text =
      "function (A[I, K], B[K, J]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[k, j]); }";
  for (auto [i, j, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {1, 64, 3},
                         {14, 32, 8},
                         {29, 67, 5},
                         {15, 33, 17},
                         {64, 1, 40},
                         {3, 200, 1}}) {
    std::vector<std::string> expect;
    if (j >= 4) expect = {"vectorize: kernels_vectorized"};
    check(text, {{"A", {kFloat, {i, k}}}, {"B", {kFloat, {k, j}}}}, expect);
  }
}

TEST(Shapes, MatrixProductsOfOtherTypes) {
  const char* text =
      "function (A[I, K], B[K, J]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[k, j]); }";
  for (DataType type :
       {DataType::i8, DataType::fp16, DataType::bf16, DataType::fp64, DataType::u32})
    check(text, {{"A", {type, {15, 9}}}, {"B", {type, {9, 37}}}},
          {"vectorize: kernels_vectorized"});
}

TEST(Shapes, TransposedProducts) {
  check("function (A[I, K], B[J, K]) -> (C) { C[i, j : I, J] = +(A[i, k] * B[j, k]); }",
        {{"A", {kFloat, {13, 50}}}, {"B", {kFloat, {9, 50}}}},
        {"vectorize: reductions_vectorized"});
  check("function (A[K, I], B[J, K]) -> (C) { C[i, j : I, J] = +(A[k, i] * B[j, k]); }",
        {{"A", {kFloat, {11, 13}}}, {"B", {kFloat, {9, 11}}}});
  check("function (A[K, I], B[K, J]) -> (C) { C[i, j : I, J] = >(A[k, i] + B[k, j]); }",
        {{"A", {kFloat, {11, 13}}}, {"B", {kFloat, {11, 21}}}}, {"vectorize: kernels_vectorized"});
}

TEST(Shapes, ConvolutionOverChannels) {
  const char* text = R"(function (D[N, X, Y, CI], K[I, J, CO, CI]) -> (R) {
      O[n, x, y, co : N, X, Y, CO] = +(D[n, x + i - 1, y + j - 1, ci] * K[i, j, co, ci]);
      R = (O > 0 ? O : 0);
  })";
  for (auto [x, y, co, ci] : {std::tuple<int64_t, int64_t, int64_t, int64_t>{5, 9, 8, 32},
                              {3, 4, 5, 20},
                              {1, 1, 1, 16},
                              {2, 13, 4, 7}})
    check(text, {{"D", {kFloat, {1, x, y, ci}}}, {"K", {kFloat, {3, 3, co, ci}}}},
          {"vectorize: reductions_vectorized"});
}

TEST(Shapes, StridedAndDilatedConvolution) {
  check(
      "function (I[N, H, W, CI], K[KH, KW, CI, CO]) -> (O) { O[n, y, x, co : N, H / 3, W / 3, CO] "
      "= "
      "+(I[n, 3*y + 2*j, 3*x + 2*i, ci] * K[j, i, ci, co]); }",
      {{"I", {kFloat, {1, 9, 10, 3}}}, {"K", {kFloat, {3, 3, 3, 20}}}},
      {"vectorize: kernels_vectorized"});
  check("function (O[X], K[A]) -> (I) { I[2*x + a : 2 * X + 3] = +(O[x] * K[a]); }",
        {{"O", {kFloat, {40}}}, {"K", {kFloat, {3}}}});
}

TEST(Shapes, BlurAndReductions) {
  check("function (P[H, W]) -> (B) { B[y, x : H, W] = +(P[y + i - 2, x + j - 2]), i < 5, j < 5; }",
        {{"P", {kFloat, {17, 70}}}}, {"vectorize: kernels_vectorized"});
  check("function (P[H, W]) -> (L, G) { L[] = <(P[y, x]); G[] = >(P[y, x]); }",
        {{"P", {kFloat, {17, 70}}}}, {"vectorize: reductions_vectorized"});
  check("function (P[H, W]) -> (S) { S[y : H] = +(P[y, x]); }", {{"P", {kFloat, {17, 70}}}},
        {"vectorize: reductions_vectorized"});
  check("function (P[H, W]) -> (S) { S[x : W] = +(P[y, x]); }", {{"P", {kFloat, {17, 70}}}},
        {"vectorize: kernels_vectorized"});
  check("function (P[H, W]) -> (S) { S[x : W] = +(P[y, x]), x - y < 3; }",
        {{"P", {kFloat, {17, 70}}}});
}

TEST(Shapes, ElementwiseAndDefaults) {
  check("function (A[N, M], B[M]) -> (C) { C = (A + B) * A; }",
        {{"A", {kFloat, {7, 45}}}, {"B", {kFloat, {45}}}}, {"vectorize: kernels_vectorized"});
  check("function (A[N]) -> (C) { C = exp(A); }", {{"A", {kFloat, {1000}}}},
        {"thread: kernels_threaded"});
  check("function (A[N, M]) -> (C) { C[i, j : N, M] = =(A[i, j + 1]) default A; }",
        {{"A", {kFloat, {7, 45}}}});
  check("function (A[N, M]) -> (C) { C[j, i : M, N] = =(A[i, j]); }", {{"A", {kFloat, {7, 45}}}});
}

TEST(Shapes, RangesOfIndicesEndWithInt64) {
  stripe::Block block;
  block.idxs = {{"x", 10, Affine(INT64_MAX - 3)}, {"y", 10, Affine(-4)}, {"z", 0, {}}};
  auto ranges = index_ranges(block);
  EXPECT_EQ(ranges["x"], (Interval{INT64_MAX - 3, INT64_MAX}));
  EXPECT_EQ(ranges["y"], (Interval{-4, 5}));
  EXPECT_EQ(ranges["z"], (Interval{0, 0}));
}

}  // namespace
}  // namespace stria::passes
