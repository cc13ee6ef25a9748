// SPDX-License-Identifier: Apache-2.0
// Kernels run over common tiles where that is faster: networks of two layers of random sizes,
// mapped with chains and without, each timed by the simulator.
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <random>

#include "mapped_cycles.h"

namespace stria::sim {
namespace {

// What a machine gains, in the geometric mean, and what one network may lose: the time of a chain
// is predicted.
struct Gain {
  const char* machine;
  double mean, worst = 1.15;
};

class ChainsPay : public testing::TestWithParam<Gain> {};

TEST_P(ChainsPay, NetworksOfTwoLayers) {
  constexpr int kNetworks = 24;
  std::mt19937 random(7);
  const auto size = [&](size_t from) {
    const int64_t sizes[] = {1, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768};
    return sizes[from + random() % (std::size(sizes) - from)];
  };
  double logs = 0;
  for (int n = 0; n < kNetworks; ++n) {
    const int64_t batch = size(0), in = size(2), hidden = size(2), out = size(2);
    const Inputs inputs = {{"X", {DataType::i8, {batch, in}}},
                           {"W", {DataType::i8, {in, hidden}}},
                           {"C", {DataType::i8, {hidden}}},
                           {"V", {DataType::i8, {hidden, out}}},
                           {"D", {DataType::i8, {out}}}};
    const char* const text =
        "function (X[B, I], W[I, H], C[H], V[H, O], D[O]) -> (Y) {\n"
        "  S[b, h : B, H] = +(X[b, i] * W[i, h]);\n"
        "  T = relu(S + C);\n"
        "  U[b, o : B, O] = +(T[b, h] * V[h, o]);\n"
        "  Y = U + D;\n}";
    const double with = mapped_cycles(GetParam().machine, {}, text, inputs),
                 without = mapped_cycles(GetParam().machine, {}, text, inputs, false);
    logs += std::log(with / without);
    EXPECT_LE(with, GetParam().worst * without)
        << batch << " x " << in << ", " << hidden << ", " << out;
  }
  const double mean = std::exp(logs / kNetworks);
  std::printf("%-16s %.3f of the time without chains\n", GetParam().machine, mean);
  EXPECT_LE(mean, GetParam().mean);
}

INSTANTIATE_TEST_SUITE_P(Templates, ChainsPay,
                         testing::Values(Gain{"stripe_slides", 0.98}, Gain{"slides_systolic", 0.92},
                                         Gain{"tpu_like", 1}, Gain{"eyeriss_like", 0.76}),
                         [](const auto& info) { return std::string(info.param.machine); });

}  // namespace
}  // namespace stria::sim
