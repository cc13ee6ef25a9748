// SPDX-License-Identifier: Apache-2.0
// Chains of kernels over common tiles give the values of the program, whatever the sizes: each
// machine runs attention and a network of two layers with chains wherever one can be made.
#include <gtest/gtest.h>

#include "stria/base/file.h"
#include "stria/builtins/evaluate.h"
#include "stria/interp/program_values.h"
#include "stria/lower/lower.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::sim {
namespace {

using Inputs = std::map<std::string, tile::TensorType>;

Inputs attention_of(int64_t rows, int64_t columns, int64_t heads, int64_t depth) {
  return {{"Q", {DataType::fp32, {rows, heads, depth}}},
          {"K", {DataType::fp32, {columns, heads, depth}}},
          {"V", {DataType::fp32, {columns, heads, depth}}},
          {"B", {DataType::fp32, {rows, columns}}}};
}

// B is a mask. `results`: P may be one.
std::string attention(const std::string& results) {
  return "function (Q[T, H, D], K[U, H, D], V[U, H, D], B[T, U]) -> (" + results +
         ") {\n"
         "  S[h, i, j : H, T, U] = +(Q[i, h, z] * K[j, h, z]);\n"
         "  X = S * 0.125 + B;\n"
         "  M[h, i, 0 : H, T, 1] = >(X[h, i, j]);\n"
         "  E = exp(X - M);\n"
         "  N[h, i, 0 : H, T, 1] = +(E[h, i, j]);\n"
         "  P = E / N;\n"
         "  O[i, h, z : T, H, D] = +(P[h, i, j] * V[j, h, z]);\n}";
}

const char* const kLayers =
    "function (X[B, I], W[I, H], C[H], V[H, O], D[O]) -> (Y) {\n"
    "  S[b, h : B, H] = +(X[b, i] * W[i, h]);\n"
    "  T = max(S + C, 0);\n"
    "  U[b, o : B, O] = +(T[b, h] * V[h, o]);\n"
    "  Y = U + D;\n}";

class Chains : public testing::TestWithParam<const char*> {
 protected:
  // How many chains were made.
  static int64_t run(const std::string& text, const Inputs& inputs) {
    static const EvaluateIntrinsic evaluator = evaluate;
    const std::string hw = STRIA_SOURCE_DIR "/hwmodels/templates/" + std::string(GetParam()) +
                           ".json",
                      passes = STRIA_SOURCE_DIR "/plugins/sim/passes/scratchpad.json";
    const auto model = load_hardware_model({hw, read_file(hw).value()});
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    std::string json = read_file(passes).value();
    const std::string key = "\"chain_kernels\": {";
    const size_t at = json.find(key);
    EXPECT_NE(at, std::string::npos);
    json.insert(at + key.size(), " \"at_most\": 1000,");
    const auto steps = parse_pipeline({passes, json}, {}, *model, passes::pass_registry());
    EXPECT_TRUE(steps.ok()) << steps.status().to_string();
    auto parsed = tile::parse({"chain", text});
    auto program = lower(*tile::bind_program(*parsed, "", inputs));
    auto values = interp::run_on_random(*program, 1);
    EXPECT_TRUE(values.ok()) << values.status().to_string();
    PipelineOptions how;
    how.evaluate = &evaluator;
    const auto reports = run_pipeline(*program, *steps, *model, how);
    EXPECT_TRUE(reports.ok()) << reports.status().to_string();
    const Refusal wrong = interp::difference(*program, *values, interp::Same::within_bounds);
    EXPECT_FALSE(wrong) << wrong.reason();
    for (const StepReport& step : *reports)
      if (const auto chains = step.counters.find("chains"); chains != step.counters.end())
        return chains->second;
    return 0;
  }
};

TEST_P(Chains, AttentionOfSeveralHeads) {
  EXPECT_GT(run(attention("O"), attention_of(12, 10, 3, 8)), 0);
}
TEST_P(Chains, AttentionOfPrimeSizes) {
  EXPECT_GT(run(attention("O"), attention_of(7, 13, 5, 3)), 0);
}
TEST_P(Chains, AttentionOfOneHead) {
  EXPECT_GT(run(attention("O"), attention_of(24, 16, 1, 4)), 0);
}
TEST_P(Chains, OthersReadWhatIsBetween) {
  EXPECT_GT(run(attention("O, P"), attention_of(12, 10, 3, 8)), 0);
}
TEST_P(Chains, Layers) {
  run(kLayers, {{"X", {DataType::fp32, {9, 14}}},
                {"W", {DataType::fp32, {14, 15}}},
                {"C", {DataType::fp32, {15}}},
                {"V", {DataType::fp32, {15, 11}}},
                {"D", {DataType::fp32, {11}}}});
}
INSTANTIATE_TEST_SUITE_P(Machines, Chains,
                         testing::Values("stripe_slides", "slides_systolic", "tpu_like",
                                         "eyeriss_like"));

}  // namespace
}  // namespace stria::sim
