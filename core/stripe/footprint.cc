// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/footprint.h"

#include <algorithm>
#include <limits>

namespace stria::stripe {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? kMax : std::numeric_limits<int64_t>::min();
}

// Number of integers in the interval, saturating.
int64_t extent(const Interval& range) {
  if (range.empty()) return 0;
  int64_t width = 0;
  if (__builtin_sub_overflow(range.upper, range.lower, &width)) return kMax;
  return saturating_add(width, 1);
}

bool same_dims(const Refinement& a, const Refinement& b) {
  return a.access == b.access && a.shape.dims == b.shape.dims;
}

}  // namespace

std::vector<Interval> footprint(const Refinement& ref, const std::map<std::string, Interval>& box) {
  bool runs =
      std::none_of(box.begin(), box.end(), [](const auto& range) { return range.second.empty(); });
  bool touches = runs && std::none_of(ref.shape.dims.begin(), ref.shape.dims.end(),
                                      [](const Dim& d) { return d.size <= 0; });
  std::vector<Interval> part;
  for (size_t i = 0; i < ref.access.size() && i < ref.shape.dims.size(); ++i) {
    if (!touches) {
      part.push_back(Interval());
      continue;
    }
    Interval start = interval_of(ref.access[i], box);
    part.push_back({start.lower, saturating_add(start.upper, ref.shape.dims[i].size - 1)});
  }
  return part;
}

TensorShape exterior_shape(const Refinement& ref, const std::map<std::string, Interval>& box) {
  TensorShape shape{ref.shape.type, {}};
  std::vector<Interval> part = footprint(ref, box);
  for (size_t i = 0; i < part.size(); ++i)
    shape.dims.push_back({extent(part[i]), ref.shape.dims[i].stride});
  return shape;
}

int64_t footprint_bytes(const Refinement& ref, const std::map<std::string, Interval>& box) {
  int64_t bytes = byte_size(ref.shape.type);
  for (const Interval& range : footprint(ref, box)) {
    int64_t size = extent(range);
    if (size == 0) return 0;
    if (__builtin_mul_overflow(bytes, size, &bytes)) bytes = kMax;
  }
  return bytes;
}

Overlap overlap(const Refinement& a, const std::map<std::string, Interval>& box_a,
                const Refinement& b, const std::map<std::string, Interval>& box_b) {
  if (a.from != b.from) return Overlap::disjoint;
  std::vector<Interval> part_a = footprint(a, box_a);
  std::vector<Interval> part_b = footprint(b, box_b);
  for (size_t i = 0; i < part_a.size() && i < part_b.size(); ++i) {
    int64_t lower = std::max(part_a[i].lower, part_b[i].lower);
    if (part_a[i].empty() || part_b[i].empty() ||
        lower > std::min(part_a[i].upper, part_b[i].upper))
      return Overlap::disjoint;
  }
  return same_dims(a, b) && box_a == box_b ? Overlap::same : Overlap::partial;
}

}  // namespace stria::stripe
