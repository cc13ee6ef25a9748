// SPDX-License-Identifier: Apache-2.0
// Chains of kernels over common tiles give the values of the program, whatever the sizes: each
// machine runs attention and a network of two layers with chains wherever one can be made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <regex>

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
  struct Made {
    int64_t chains = 0, steps = 0, sums = 0;
  };
  // What chains were made. Every step leaves a legal program, without a race that the verifier
  // finds or leaves open.
  // `small`: with memories in which little fits.
  static Made run(const std::string& text, const Inputs& inputs, bool small = false) {
    static const EvaluateIntrinsic evaluator = evaluate;
    const std::string hw = STRIA_SOURCE_DIR "/hwmodels/templates/" + std::string(GetParam()) +
                           ".json",
                      passes = STRIA_SOURCE_DIR "/plugins/sim/passes/scratchpad.json";
    TemplateSettings settings;
    if (small)
      settings[GetParam()[0] == 's'   ? "SRAM_SIZE_KIB"
               : GetParam()[0] == 't' ? "UB_KIB"
                                      : "GLB_KIB"] = "4";
    const auto model = load_hardware_model({hw, read_file(hw).value()}, settings);
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    std::string json = read_file(passes).value();
    const std::regex margin("\"at_most\": [0-9.]+");
    EXPECT_GE(std::distance(std::sregex_iterator(json.begin(), json.end(), margin), {}), 1);
    json = std::regex_replace(json, margin, "\"at_most\": 1000");
    const auto steps = parse_pipeline({passes, json}, {}, *model, passes::pass_registry());
    EXPECT_TRUE(steps.ok()) << steps.status().to_string();
    auto parsed = tile::parse({"chain", text});
    auto program = lower(*tile::bind_program(*parsed, "", inputs));
    auto values = interp::run_on_random(*program, 1);
    EXPECT_TRUE(values.ok()) << values.status().to_string();
    PipelineOptions how;
    how.evaluate = &evaluator;
    how.verify_each = true;
    const auto reports = run_pipeline(*program, *steps, *model, how);
    EXPECT_TRUE(reports.ok()) << reports.status().to_string();
    const Refusal wrong = interp::difference(*program, *values, interp::Same::within_bounds);
    EXPECT_FALSE(wrong) << wrong.reason() << "\n" << text;
    EXPECT_THAT(reports->back().undecided, testing::IsEmpty()) << text;
    Made out;
    for (const StepReport& step : *reports) {
      const auto count = [&](const char* name) {
        const auto at = step.counters.find(name);
        return at == step.counters.end() ? 0 : at->second;
      };
      out.chains += count("chains");
      out.steps += count("sums in steps");
      out.sums += count("sums over common indices");
    }
    return out;
  }
};

TEST_P(Chains, AttentionOfSeveralHeads) {
  EXPECT_GT(run(attention("O"), attention_of(12, 10, 3, 8)).chains, 0);
}
TEST_P(Chains, AttentionOfPrimeSizes) {
  EXPECT_GT(run(attention("O"), attention_of(7, 13, 5, 3)).chains, 0);
}
TEST_P(Chains, AttentionOfOneHead) {
  EXPECT_GT(run(attention("O"), attention_of(24, 16, 1, 4)).chains, 0);
}
TEST_P(Chains, OthersReadWhatIsBetween) {
  EXPECT_GT(run(attention("O, P"), attention_of(12, 10, 3, 8)).chains, 0);
}
// Layers of random sizes and types, with constraints and windows. Some are cut along the hidden
// layer, which the last product sums up.
class RandomLayers {
 public:
  explicit RandomLayers(uint32_t seed) : random_(seed) {
    const bool floats = coin();
    const DataType in = floats   ? DataType::fp32
                        : coin() ? DataType::i8
                                 : DataType::i32,
                   sum = floats ? DataType::fp32 : DataType::i32;
    const auto size = [&] {
      const int64_t sizes[] = {1, 2, 3, 5, 7, 8, 11, 12, 13, 16, 18, 23, 24};
      return sizes[random_() % std::size(sizes)];
    };
    const int64_t batch = size(), from = size() + 1, hidden = 2 * size() + 3, to = size(),
                  last = size();
    const bool window = coin(), biased = coin(), third = random_() % 3 == 0;
    const std::string row = window ? "b + k - 1" : "b", k = window ? "k, " : "";
    text_ = "function (X[B, I], W[" + std::string(window ? "K, " : "") + "I, H], C[H], V[H, O]" +
            (third ? ", U[O, P]" : "") + ", D[" + (third ? "P" : "O") + "]) -> (Y) {\n";
    text_ += "  S[b, h : B, H] = +(X[" + row + ", i] * W[" + k + "i, h])" +
             (coin() ? ", i + h < " + std::to_string(from + hidden / 2) : "") + ";\n";
    text_ += biased ? "  T = max(S + C, 0);\n" : "  T = S * S + C;\n";
    text_ += "  R[b, o : B, O] = +(T[b, h] * V[h, o])" +
             std::string(coin() ? ", b + h < " + std::to_string(batch + hidden / 2) : "") + ";\n";
    if (third) text_ += "  Q = max(R, 1);\n  Z[b, p : B, P] = +(Q[b, o] * U[o, p]);\n";
    text_ += std::string("  Y = ") + (third ? "Z" : "R") + (coin() ? " + D;\n}" : " * D;\n}");
    inputs_["X"] = {in, {batch, from}};
    inputs_["W"] = {
        in, window ? std::vector<int64_t>{3, from, hidden} : std::vector<int64_t>{from, hidden}};
    inputs_["C"] = {sum, {hidden}};
    inputs_["V"] = {in, {hidden, to}};
    if (third) inputs_["U"] = {in, {to, last}};
    inputs_["D"] = {sum, {third ? last : to}};
  }
  const std::string& text() const { return text_; }
  const Inputs& inputs() const { return inputs_; }

 private:
  bool coin() { return random_() % 2 == 0; }
  std::mt19937 random_;
  std::string text_;
  Inputs inputs_;
};

TEST_P(Chains, RandomLayers) {
  Made all;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLayers layers(seed);
    const Made made = run(layers.text(), layers.inputs(), seed % 2 > 0);
    if (HasFailure()) return;
    all.chains += made.chains;
    all.steps += made.steps;
    all.sums += made.sums;
  }
  EXPECT_GT(all.chains, 60);
  EXPECT_GT(all.steps, 0);
  // Slices of small layers fill an array of 32 by 32 anew each time: there other chains are better.
  if (GetParam() != std::string("slides_systolic")) {
    EXPECT_GT(all.sums, 0);
  }
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
