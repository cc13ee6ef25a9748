// SPDX-License-Identifier: Apache-2.0
#include "copy_limit.h"

#include <immintrin.h>

#include "stria/base/text.h"

namespace stria::bench {
namespace {

// Sums of the streams, so that everything is read; with a store, their sum is written. Vectors of
// 32 bytes, in two halves where the processor has no more: memory is slower than either.
#define STRIA_STREAM(kReads, kStore)                                                   \
  const float* in[kReads];                                                             \
  for (int r = 0; r < kReads; ++r) in[r] = streams + r * count;                        \
  [[maybe_unused]] float* out = streams + kReads * count;                              \
  __m256 sums[4] = {};                                                                 \
  for (int64_t i = 0; i + 32 <= count; i += 32)                                        \
    for (int v = 0; v < 4; ++v) {                                                      \
      __m256 sum = _mm256_load_ps(in[0] + i + 8 * v);                                  \
      for (int r = 1; r < kReads; ++r)                                                 \
        sum = _mm256_add_ps(sum, _mm256_load_ps(in[r] + i + 8 * v));                   \
      kStore(out + i + 8 * v, sum, sums[v]);                                           \
    }                                                                                  \
  const __m256 all =                                                                   \
      _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3])); \
  _mm_sfence();                                                                        \
  return all[0];

#define STRIA_KEEP(at, value, sum) sum = _mm256_add_ps(sum, value)
#define STRIA_CACHED(at, value, sum) _mm256_store_ps(at, value)
#define STRIA_AROUND(at, value, sum) _mm256_stream_ps(at, value)

template <int kReads>
__attribute__((target("avx2"), optimize("O3"))) float read_only(float* streams, int64_t count) {
  STRIA_STREAM(kReads, STRIA_KEEP)
}
template <int kReads>
__attribute__((target("avx2"), optimize("O3"))) float cached(float* streams, int64_t count) {
  STRIA_STREAM(kReads, STRIA_CACHED)
}
template <int kReads>
__attribute__((target("avx2"), optimize("O3"))) float around(float* streams, int64_t count) {
  STRIA_STREAM(kReads, STRIA_AROUND)
}

template <int kReads>
std::vector<CopyWay> ways_of(bool writes, float* streams, int64_t count) {
  const std::string reads = fmt::format("{} read", kReads);
  if (!writes)
    return {{reads, [=] {
               volatile float sum = read_only<kReads>(streams, count);
               (void)sum;
             }}};
  return {{reads + ", 1 written", [=] { (void)cached<kReads>(streams, count); }},
          {reads + ", 1 written around the caches", [=] { (void)around<kReads>(streams, count); }}};
}

}  // namespace

std::vector<CopyWay> copy_ways(const Mix& mix, std::byte* memory, uint64_t bytes) {
  STRIA_CHECK(__builtin_cpu_supports("avx2"), "the copy limit needs AVX2");
  STRIA_CHECK(mix.reads >= 1 && mix.reads <= 3 && mix.writes >= 0 && mix.writes <= 1,
              "no streams for {} reads and {} writes", mix.reads, mix.writes);
  const auto streams = static_cast<uint64_t>(mix.reads + mix.writes);
  const auto count = static_cast<int64_t>(bytes / streams / 128 * 32);
  auto* floats = reinterpret_cast<float*>(memory);
  if (mix.reads == 1) return ways_of<1>(mix.writes == 1, floats, count);
  if (mix.reads == 2) return ways_of<2>(mix.writes == 1, floats, count);
  return ways_of<3>(mix.writes == 1, floats, count);
}

}  // namespace stria::bench
