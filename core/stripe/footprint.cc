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

std::vector<Interval> reach_of_view(const Block& block, const Refinement& ref,
                                    const std::map<std::string, Interval>& box) {
  std::vector<Interval> part;
  for (const Dim& dim : ref.shape.dims) part.push_back({0, dim.size - 1});
  for (const Statement& stmt : block.stmts) {
    const Block* inner = stmt.block();
    if (!inner) continue;
    for (const Refinement& view : inner->refs) {
      if (view.dir == RefDir::none || view.from != ref.into) continue;
      const std::vector<Interval> below = reach(*inner, view, inner->index_box(box));
      for (size_t d = 0; d < part.size() && d < below.size(); ++d) {
        if (below[d].empty()) continue;
        part[d] = part[d].empty() ? below[d]
                                  : Interval{std::min(part[d].lower, below[d].lower),
                                             std::max(part[d].upper, below[d].upper)};
      }
    }
  }
  return part;
}

std::vector<Interval> reach(const Block& block, const Refinement& ref,
                            const std::map<std::string, Interval>& box) {
  std::vector<Interval> part = footprint(ref, box);
  const std::vector<Interval> view = reach_of_view(block, ref, box);
  for (size_t d = 0; d < part.size() && d < view.size(); ++d) {
    if (part[d].empty()) continue;
    part[d].lower = saturating_add(part[d].lower, view[d].lower);
    part[d].upper = saturating_add(part[d].upper, view[d].upper - (ref.shape.dims[d].size - 1));
  }
  return part;
}

bool is_loaded(const Block& block, const Refinement& ref) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
    if (auto* s = std::get_if<Load>(&stmt.op)) return s->from == ref.into;
    if (auto* s = stmt.special())
      return std::find(s->inputs.begin(), s->inputs.end(), ref.into) != s->inputs.end();
    const Block* inner = stmt.block();
    return inner &&
           std::any_of(inner->refs.begin(), inner->refs.end(), [&](const Refinement& view) {
             return view.dir != RefDir::none && view.from == ref.into &&
                    (view.dir == RefDir::in || is_loaded(*inner, view));
           });
  });
}

}  // namespace stria::stripe
