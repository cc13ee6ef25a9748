// SPDX-License-Identifier: Apache-2.0
// A time that is expected, and how sure that is.
#pragma once

namespace stria {

// Plain value. Nine of ten are measured between `least` and `most`.
struct TimeRange {
  double seconds = 0;
  double least = 0, most = 0;
  bool overlaps(const TimeRange& other) const { return least <= other.most && other.least <= most; }
};

// One after the other, where each may be wrong for reasons of its own.
inline TimeRange operator+(const TimeRange& a, const TimeRange& b) {
  return {a.seconds + b.seconds, a.least + b.least, a.most + b.most};
}
inline TimeRange operator*(double times, const TimeRange& a) {
  return {times * a.seconds, times * a.least, times * a.most};
}

}  // namespace stria
