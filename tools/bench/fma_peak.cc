// SPDX-License-Identifier: Apache-2.0
#include "fma_peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "measure.h"

namespace stria::bench {
namespace {

using Clock = std::chrono::steady_clock;

// 24 independent chains: enough for two 4-cycle units with any vector width, and few enough for the
// registers of AVX-512. Returns a sum so that nothing is dead.
#define STRIA_FMA_LOOP(Vector, kChains)                                             \
  Vector a[kChains], m, b;                                                          \
  for (unsigned l = 0; l < sizeof(Vector) / 4; ++l) m[l] = 0.999f, b[l] = 0.001f;   \
  for (int c = 0; c < kChains; ++c)                                                 \
    for (unsigned l = 0; l < sizeof(Vector) / 4; ++l) a[c][l] = seed + 0.01f * c;   \
  for (int i = 0; i < rounds; ++i) {                                                \
    _Pragma("GCC unroll 24") for (int c = 0; c < kChains; ++c) a[c] = a[c] * m + b; \
  }                                                                                 \
  Vector s = a[0];                                                                  \
  for (int c = 1; c < kChains; ++c) s += a[c];                                      \
  return s[0];

typedef float V16 __attribute__((vector_size(64)));
typedef float V8 __attribute__((vector_size(32)));
typedef float V4 __attribute__((vector_size(16)));

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
__attribute__((target("avx512f,fma,prefer-vector-width=512"), optimize("O3"))) float rounds_512(
    int rounds, float seed) {
  STRIA_FMA_LOOP(V16, 24)
}
__attribute__((target("avx2,fma"), optimize("O3"))) float rounds_256(int rounds, float seed) {
  STRIA_FMA_LOOP(V8, 12)
}
float rounds_128(int rounds, float seed) { STRIA_FMA_LOOP(V4, 12) }
#pragma GCC diagnostic pop

struct Kernel {
  float (*run)(int, float);
  double flops_per_round;
  const char* name;
};

Kernel best_kernel() {
  if (__builtin_cpu_supports("avx512f")) return {rounds_512, 24.0 * 16 * 2, "512-bit"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {rounds_256, 12.0 * 8 * 2, "256-bit"};
  return {rounds_128, 12.0 * 4 * 2, "128-bit"};
}

}  // namespace

const char* fma_vector_name() { return best_kernel().name; }

FmaPeak fma_peak(int threads, int milliseconds) {
  const Kernel kernel = best_kernel();
  constexpr int kRounds = 20000;
  std::vector<double> rate(static_cast<size_t>(threads)), share(static_cast<size_t>(threads));
  std::vector<std::thread> workers;
  std::atomic<int> ready{0};
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      volatile float sink = kernel.run(kRounds, 1.0f);
      ++ready;
      while (ready < threads) {
      }
      auto begin = Clock::now();
      const double had = thread_seconds();
      auto end = begin + std::chrono::milliseconds(milliseconds);
      double rounds = 0;
      while (Clock::now() < end) {
        sink = kernel.run(kRounds, sink);
        rounds += kRounds;
      }
      double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      share[static_cast<size_t>(t)] = (thread_seconds() - had) / seconds;
      rate[static_cast<size_t>(t)] = rounds * kernel.flops_per_round / seconds * 1e-9;
    });
  }
  for (std::thread& worker : workers) worker.join();
  return {std::accumulate(rate.begin(), rate.end(), 0.0),
          *std::min_element(share.begin(), share.end())};
}

double fma_peak_gflops(int threads, int milliseconds) {
  return fma_peak(threads, milliseconds).gflops;
}

double fma_probe_gflops() {
  const Kernel kernel = best_kernel();
  constexpr int kRounds = 20000;
  const double begin = thread_seconds();
  volatile float sink = kernel.run(kRounds, 1.0f);
  (void)sink;
  return kRounds * kernel.flops_per_round / (thread_seconds() - begin) * 1e-9;
}

}  // namespace stria::bench
