// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/interleaving.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stria::interp {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr int64_t kMostPriority = int64_t{1} << 40;

}  // namespace

std::string Interleaving::text() const {
  return fmt::format("seed {}{}{}{}", seed, late ? ", asynchronous blocks late" : "",
                     switches.empty() ? "" : ", switches at steps ", fmt::join(switches, ", "));
}

Interleaving interleaving_of(uint64_t number, int64_t steps) {
  Interleaving out;
  out.seed = number;
  out.late = number % 4 == 1;
  const uint64_t count = number < 2 ? 0 : mix(number) % 6;
  for (uint64_t i = 0; i < count; ++i)
    out.switches.push_back(static_cast<int64_t>(
        mix(number * 64 + i) % static_cast<uint64_t>(std::max<int64_t>(steps, 1))));
  std::sort(out.switches.begin(), out.switches.end());
  return out;
}

int64_t first_priority(const Interleaving& how, int agent, bool is_async) {
  if (how.late && is_async) return -agent;
  if (how.seed == 0 || how.late) return kMostPriority - agent;
  return static_cast<int64_t>(mix(how.seed * 0x10001 + static_cast<uint64_t>(agent)) >> 24);
}

}  // namespace stria::interp
