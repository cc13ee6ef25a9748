// SPDX-License-Identifier: Apache-2.0
#include "program/held_views.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace stria::sim {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

namespace {

// Have the boxes of two views of one refinement elements in common?
bool touch_same(const Block& a, const Refinement& in_a, const Block& b, const Refinement& in_b) {
  const auto side = [](const Block& block, const Refinement& ref, size_t d) {
    int64_t low = ref.access[d].constant();
    int64_t high = low + ref.shape.dims[d].size;
    for (const stripe::Index& index : block.idxs) {
      const int64_t moves = ref.access[d].coefficient(index.name) * (index.range - 1);
      (moves < 0 ? low : high) += moves;
    }
    return std::pair(low, high);
  };
  for (size_t d = 0; d < in_a.access.size() && d < in_b.access.size(); ++d) {
    const auto [a_low, a_high] = side(a, in_a, d);
    const auto [b_low, b_high] = side(b, in_b, d);
    if (a_high <= b_low || b_high <= a_low) return false;
  }
  return true;
}

}  // namespace

int64_t value_at(const Affine& form, const IndexValues& point) {
  int64_t value = form.constant();
  for (const auto& [name, coefficient] : form.terms()) {
    const auto at = point.find(name);
    if (at != point.end()) value += coefficient * at->second;
  }
  return value;
}

bool moves_with(const Refinement& ref, const std::string& index) {
  return std::any_of(ref.access.begin(), ref.access.end(),
                     [&](const Affine& form) { return form.uses(index); });
}

UnitInstance memory_of(const Refinement& ref, const IndexValues& point, const Memories* around) {
  if (ref.location.empty()) {
    if (around && ref.dir != RefDir::none) {
      const auto at = around->find(ref.from);
      if (at != around->end()) return at->second.memory;
    }
    return {};
  }
  const stripe::LocationUnit& unit = ref.location.path.back();
  return {unit.name, unit.units.size() == 1 ? value_at(unit.units[0], point) : 0};
}

HeldView view_of(const Block& block, const Refinement& ref, const IndexValues& point,
                 const Memories* around) {
  HeldView out{memory_of(ref, point, around)};
  if (!ref.agg || !is_written(ref)) return out;
  out.points = points_before(ref, around);
  if (out.points == 0) out.points = 1;
  for (const stripe::Index& index : block.idxs)
    if (!moves_with(ref, index.name)) out.points *= static_cast<double>(index.range);
  return out;
}

double points_before(const Refinement& ref, const Memories* around) {
  if (around) {
    const auto at = around->find(ref.from);
    if (at != around->end() && at->second.points > 0) return at->second.points;
  }
  return ref.dir == RefDir::inout ? std::numeric_limits<double>::infinity() : 0;
}

std::vector<std::string> continued_sums(const Block& block, size_t s, const Memories& own) {
  std::vector<std::string> out;
  const Block* of = block.stmts[s].block();
  if (!of) return out;
  for (const Refinement& ref : of->refs) {
    if (!ref.agg || !is_written(ref)) continue;
    const auto at = own.find(ref.from);
    if (at == own.end() || at->second.points == 0) continue;
    for (size_t t = 0; t < s; ++t)
      if (const Block* earlier = block.stmts[t].block())
        for (const Refinement& other : earlier->refs)
          if (other.agg && is_written(other) && other.from == ref.from &&
              touch_same(*earlier, other, *of, ref))
            out.push_back(ref.from);
  }
  return out;
}

}  // namespace stria::sim
