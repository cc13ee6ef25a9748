// SPDX-License-Identifier: Apache-2.0
// Random choices that are the same for a seed on every machine (splitmix64).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stria::trust {

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // 0 .. n-1; n > 0.
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }
  // lower .. upper.
  int64_t between(int64_t lower, int64_t upper) {
    return lower + static_cast<int64_t>(below(static_cast<size_t>(upper - lower + 1)));
  }
  // True once in n times.
  bool once_in(size_t n) { return below(n) == 0; }
  template <typename T>
  const T& one_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace stria::trust
