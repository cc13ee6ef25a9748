// SPDX-License-Identifier: Apache-2.0
// Points that may be under way at once do not touch one element, except to read it or to combine
// into it in one aggregation: points of parallel indices (S2), the lanes of a vector (S8), and all
// points of a pipelined block (S13). A dimension that tells points apart by its stride decides
// first, integer sets what that leaves open.
#include <algorithm>
#include <set>

#include "stria/base/text.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/verify/access_rules.h"

namespace stria::stripe {
namespace {

constexpr size_t kTerms = 64;

std::vector<std::string> all_variables(const Level& level) {
  std::vector<std::string> names;
  for (const auto& variable : level.variables) names.push_back(variable.first);
  return names;
}

std::vector<std::string> parallel_variables(const Level& level) {
  return level.block->tags.has(tag::kParallel) ? all_variables(level) : located_variables(level);
}

// The variable is one of the access's level or of a level around it.
Interval range_of(const Access& access, const std::string& name) {
  for (const Level* level = access.level.get(); level; level = level->around.get())
    for (const auto& [variable, range] : level->variables)
      if (variable == name) return range;
  return Interval{-kLargestNumber, kLargestNumber};
}

// A dimension whose step along one of the variables is larger than all else in it can vary tells
// the points of that variable apart; then that variable counts as equal in the other dimensions.
bool apart_by_strides(const std::vector<std::string>& variables, const AccessPair& pair,
                      const Access& a, const Access& b) {
  std::set<std::string> open(variables.begin(), variables.end());
  size_t before = open.size() + 1;
  while (!open.empty() && open.size() < before) {
    before = open.size();
    for (size_t i = 0; i < a.view.start->size(); ++i) {
      const Affine& form_a = (*a.view.start)[i];
      const Affine& form_b = (*b.view.start)[i];
      std::string widest;
      int64_t step = 0;
      for (const std::string& name : open) {
        int64_t size = std::abs(form_a.coefficient(name));
        if (size > step) {
          step = size;
          widest = name;
        }
      }
      if (step == 0 || form_a.coefficient(widest) != form_b.coefficient(widest)) continue;
      // Everything else: the difference form_b - form_a without `widest`.
      __int128 low = form_b.constant() - form_a.constant(), high = low;
      low -= a.extent[i] - 1;
      high += b.extent[i] - 1;
      auto vary = [&](const Access& access, int sign) {
        const Affine& form = (*access.view.start)[i];
        for (const auto& [name, coefficient] : form.terms()) {
          bool equal = name == widest || pair.is_shared(name) ||
                       (std::count(variables.begin(), variables.end(), name) && !open.count(name));
          if (equal && form_a.coefficient(name) == form_b.coefficient(name)) continue;
          Interval range = range_of(access, name);
          __int128 x = static_cast<__int128>(sign) * coefficient * range.lower;
          __int128 y = static_cast<__int128>(sign) * coefficient * range.upper;
          low += std::min(x, y);
          high += std::max(x, y);
        }
      };
      if (form_a.terms().size() + form_b.terms().size() > kTerms)
        continue;  // sums stay within 128 bits
      vary(a, -1);
      vary(b, 1);
      if (low > -step && high < step) open.erase(widest);
    }
  }
  return open.empty();
}

// Whether accesses at points of `level` that differ in one of the variables never meet.
Result<bool> points_apart(const std::vector<std::string>& variables, const Level* shared,
                          const Access& a, const Access& b) {
  const AccessPair pair(a, b, shared);
  if (!pair.exact()) return too_large();
  if (apart_by_strides(variables, pair, a, b)) return true;
  IntegerSet meeting = pair.meeting();
  for (const std::string& variable : variables) {
    const Affine step = Affine::of(variable + 'b') - Affine::of(variable + 'a');
    for (const Affine& apart : {step - 1, Affine(-1) - step}) {
      IntegerSet set = meeting;
      set.add_ge(apart);
      STRIA_ASSIGN(bool empty, set.is_empty());
      if (!empty) return false;
    }
    meeting.add_eq(step);
  }
  return true;
}

// `points` says which: "points of its parallel indices".
void check_points(const Place& place, const std::vector<std::string>& variables,
                  std::string_view points, const Level& level, const std::vector<Access>& inside,
                  Verdicts& verdicts) {
  std::set<std::string> told;
  for (size_t i = 0; i < inside.size(); ++i)
    for (size_t j = i; j < inside.size(); ++j) {
      const Access& a = inside[i];
      const Access& b = inside[j];
      if (a.view.allocation != b.view.allocation || a.view.depth >= place.depth) continue;
      if (!a.writes && !b.writes) continue;
      const bool both_combine = a.writes && b.writes && a.ref->agg && a.ref->agg == b.ref->agg;
      // One running aggregation takes its values in any order. One that opens below starts at each
      // point on its own, and so does that of another view.
      if (run_in_one_aggregation(a, b, place.depth)) continue;
      const std::string& name = a.view.allocation->into;
      if (told.count(name)) continue;
      Result<bool> apart = points_apart(variables, level.around.get(), a, b);
      if (apart.ok() && *apart) continue;
      told.insert(name);
      const std::string what =
          fmt::format("different {} {} {} one element of '{}'", points, plain_names(variables),
                      a.writes && b.writes ? "write" : "read and write", name);
      if (!apart.ok()) {
        verdicts.undecided(place, what, apart.status());
        continue;
      }
      verdicts.findings.add(place, what + (both_combine ? ", each in an aggregation of its own"
                                           : a.ref->agg || b.ref->agg ? ""
                                                                      : " without an aggregation"));
    }
}

}  // namespace

void check_races(const Place& place, const Level& level, const std::vector<Access>& inside,
                 Verdicts& verdicts) {
  const Tags& tags = level.block->tags;
  const AccessRules& asked = verdicts.options.accesses;
  const std::vector<std::string> parallel = parallel_variables(level);
  if (asked.races && !parallel.empty())
    check_points(place, parallel, "points of its parallel indices", level, inside, verdicts);
  const std::vector<std::string> all = all_variables(level);
  if (all.size() == parallel.size()) return;
  if (asked.races && tags.has(tag::kVector))
    check_points(place, all, "lanes of its vector over", level, inside, verdicts);
  // One point at a time is no pipeline.
  if (asked.pipelines && tags.integer(tag::kPipeline).value_or(1) > 1)
    check_points(place, all, "points of its pipeline over", level, inside, verdicts);
}

bool combines_across(const std::vector<Access>& inside, const std::vector<std::string>& variables,
                     int depth) {
  for (size_t a = 0; a < inside.size(); ++a)
    for (size_t b = a; b < inside.size(); ++b) {
      if (!run_in_one_aggregation(inside[a], inside[b], depth)) continue;
      Result<bool> apart = points_apart(variables, nullptr, inside[a], inside[b]);
      if (!apart.ok() || !*apart) return true;
    }
  return false;
}

}  // namespace stria::stripe
