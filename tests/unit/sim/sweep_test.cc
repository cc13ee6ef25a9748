// SPDX-License-Identifier: Apache-2.0
// More of a resource does not make programs slower, nor dearer without making them faster: each is
// mapped anew for each value of a knob of the templates, by the pipeline that `stria sim` takes.
#include <gtest/gtest.h>

#include "mapped_cycles.h"

namespace stria::sim {
namespace {

struct Sample {
  const char *name, *text;
  Inputs inputs;
};

const std::vector<Sample>& samples() {
  const char* const product =
      "function (A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[k, n]); }";
  static const std::vector<Sample> all = {
      {"product", product, {{"A", {DataType::i8, {256, 384}}}, {"B", {DataType::i8, {384, 320}}}}},
      {"long sums",
       product,
       {{"A", {DataType::fp32, {200, 1000}}}, {"B", {DataType::fp32, {1000, 96}}}}},
      {"convolution",
       "function (I[X, Y, C], K[A, B, C, M]) -> (R) {\n"
       "  R[x, y, o : X, Y, M] = +(I[x + i - 1, y + j - 1, c] * K[i, j, c, o]);\n}",
       {{"I", {DataType::i8, {28, 28, 64}}}, {"K", {DataType::i8, {3, 3, 64, 96}}}}},
      {"depthwise",
       "function (I[X, Y, C], K[A, B, C]) -> (R) {\n"
       "  R[x, y, c : X, Y, C] = +(I[x + i - 1, y + j - 1, c] * K[i, j, c]);\n}",
       {{"I", {DataType::fp32, {28, 28, 96}}}, {"K", {DataType::fp32, {3, 3, 96}}}}},
      {"attention",
       "function (Q[N, D], K[N, D], V[N, D]) -> (O) {\n"
       "  S[i, j : N, N] = +(Q[i, d] * K[j, d]);\n"
       "  M[i, 0 : N, 1] = >(S[i, j]);\n"
       "  E = exp(S - M);\n"
       "  Z[i, 0 : N, 1] = +(E[i, j]);\n"
       "  P = E / Z;\n"
       "  O[i, d : N, D] = +(P[i, j] * V[j, d]);\n}",
       {{"Q", {DataType::fp32, {128, 64}}},
        {"K", {DataType::fp32, {128, 64}}},
        {"V", {DataType::fp32, {128, 64}}}}},
      {"two layers",
       "function (X[B, I], W[I, H], C[H], V[H, O], D[O]) -> (Y) {\n"
       "  S[b, h : B, H] = +(X[b, i] * W[i, h]);\n"
       "  T = max(S + C, 0);\n"
       "  U[b, o : B, O] = +(T[b, h] * V[h, o]);\n"
       "  Y = U + D;\n}",
       {{"X", {DataType::fp32, {32, 400}}},
        {"W", {DataType::fp32, {400, 256}}},
        {"C", {DataType::fp32, {256}}},
        {"V", {DataType::fp32, {256, 64}}},
        {"D", {DataType::fp32, {64}}}}}};
  return all;
}

struct Knob {
  const char *machine, *name;
  std::vector<const char*> values;  // rising
  // By how much more may be slower. An array of R rows and C columns takes R + C - 2 cycles to fill
  // whatever it computes, so that small products gain nothing from a larger one.
  double slack = 1.02;
};
constexpr double kFill = 1.2;

class Sweep : public testing::TestWithParam<Knob> {};

// What takes as long as before, or longer, may take so much more energy. A thousandth less time is
// faster.
constexpr double kDearer = 1.05;
constexpr double kFaster = 0.999;

TEST_P(Sweep, MoreIsNotSlowerAndNotDearer) {
  const Knob& knob = GetParam();
  for (const Sample& sample : samples()) {
    std::vector<MappedRun> runs;  // of the values before
    for (const char* value : knob.values) {
      SCOPED_TRACE(std::string(sample.name) + " on " + knob.machine + " with " + knob.name + "=" +
                   value);
      const MappedRun run = mapped_run(knob.machine, {{knob.name, value}},
                                       {{knob.name, knob.values[0]}}, sample.text, sample.inputs);
      for (size_t before = 0; before < runs.size(); ++before) {
        const char* at = knob.values[before];
        EXPECT_LE(run.cycles, knob.slack * runs[before].cycles) << "and with " << at;
        if (run.cycles < kFaster * runs[before].cycles) continue;
        EXPECT_LE(run.pj, kDearer * runs[before].pj)
            << run.cycles << " cycles, and " << runs[before].cycles << " with " << at;
      }
      runs.push_back(run);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Knobs, Sweep,
    testing::Values(
        Knob{"stripe_slides", "NUM_CONV", {"1", "2", "3", "4", "8", "16"}},
        Knob{"stripe_slides", "NUM_DSP", {"1", "2", "8"}},
        Knob{"stripe_slides", "NUM_SRAM", {"2", "4", "8", "16"}},
        Knob{"stripe_slides", "SRAM_SIZE_KIB", {"8", "16", "32", "64", "256", "1024"}},
        Knob{"stripe_slides", "DRAM_BYTES", {"8", "16", "32", "64", "256"}},
        Knob{"slides_systolic", "ROWS", {"8", "16", "32", "64", "128"}, kFill},
        Knob{"slides_systolic", "COLUMNS", {"8", "16", "32", "64", "128"}, kFill},
        Knob{"slides_systolic", "SRAM_SIZE_KIB", {"32", "64", "128", "256", "512", "1024"}},
        Knob{"slides_systolic", "NUM_SRAM", {"2", "4", "8"}},
        Knob{"slides_systolic", "DRAM_BYTES", {"8", "16", "32", "64"}},
        Knob{"tpu_like", "ROWS", {"64", "128", "256", "512"}, kFill},
        Knob{"tpu_like", "COLS", {"64", "128", "256", "512"}, kFill},
        Knob{"tpu_like", "UB_KIB", {"64", "128", "256", "512", "1024", "4096"}},
        Knob{"tpu_like", "DRAM_GB_S", {"17", "34", "68", "136"}},
        Knob{"eyeriss_like", "GLB_KIB", {"27", "54", "108", "216", "432"}}),
    [](const auto& info) { return std::string(info.param.machine) + "_" + info.param.name; });

}  // namespace
}  // namespace stria::sim
