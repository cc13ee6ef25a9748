// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo a prime. Sizes that are not known yet get values there, by their names. Forms
// with the same value are taken to be the same (FlatFunction::value_of).
#pragma once

#include <cstdint>

namespace stria::tile {

inline constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

inline uint64_t times(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b % kPrime);
}

inline uint64_t minus(uint64_t a, uint64_t b) { return (a + kPrime - b) % kPrime; }

inline uint64_t inverse(uint64_t a) {
  uint64_t out = 1;
  for (uint64_t rest = kPrime - 2; rest > 0; rest >>= 1, a = times(a, a))
    if (rest & 1) out = times(out, a);
  return out;
}

}  // namespace stria::tile
