// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/index_domain.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "stria/poly/index_forms.h"
#include "stria/poly/integer_set.h"

namespace stria::tile {
namespace {

// At a point given by positions of the indices; false also if a number overflows.
bool holds(const std::vector<std::pair<size_t, int64_t>>& terms, int64_t constant,
           const std::vector<int64_t>& point) {
  __int128 value = constant;
  for (const auto& [at, coefficient] : terms)
    if (__builtin_add_overflow(value, static_cast<__int128>(coefficient) * point[at], &value)) return false;
  return value >= 0;
}

// The box of rules over one index each is what the whole set projects to if every end of every range
// is met by some valid point. Looks for such points among a few; true is a proof, false is not.
bool box_is_exact(const DomainRules& rules, const std::vector<Affine>& coupled,
                  const std::vector<Interval>& box) {
  std::vector<std::vector<std::pair<size_t, int64_t>>> terms;
  for (const Affine& form : coupled) {
    auto& list = terms.emplace_back();
    for (const auto& [name, coefficient] : form.terms()) {
      auto at = std::lower_bound(rules.indices.begin(), rules.indices.end(), name);
      list.emplace_back(static_cast<size_t>(at - rules.indices.begin()), coefficient);
    }
  }
  std::vector<int64_t> point(box.size());
  for (size_t i = 0; i < box.size(); ++i) {
    for (int64_t end : {box[i].lower, box[i].upper}) {
      bool met = false;
      for (int way = 0; way < 3 && !met; ++way) {
        for (size_t j = 0; j < box.size(); ++j)
          point[j] = way == 0 ? box[j].lower : way == 1 ? box[j].upper : std::midpoint(box[j].lower, box[j].upper);
        point[i] = end;
        met = true;
        for (size_t k = 0; k < coupled.size() && met; ++k)
          met = holds(terms[k], coupled[k].constant(), point);
      }
      if (!met) return false;
    }
  }
  return true;
}

// The set over the indices, then one dim per exact division (its quotient).
IntegerSet set_of(const DomainRules& rules) {
  std::vector<std::string> dims = rules.indices;
  for (size_t i = 0; i < rules.whole.size(); ++i) dims.push_back(fmt::format("_quotient{}", i));
  IntegerSet set(dims);
  for (const Affine& form : rules.at_least_zero) set.add_ge(form);
  for (size_t i = 0; i < rules.whole.size(); ++i)
    set.add_eq(rules.whole[i].numerator - Affine::of(dims[rules.indices.size() + i], rules.whole[i].divisor));
  return set;
}

IndexDomain empty_domain(const DomainRules& rules) {
  IndexDomain out;
  out.empty = true;
  out.ranges.assign(rules.indices.size(), Interval{0, 0});
  return out;
}

}  // namespace

Result<IndexDomain> find_domain(const DomainRules& rules) {
  const size_t n = rules.indices.size();
  std::vector<std::optional<int64_t>> lower(n), upper(n);
  std::vector<Affine> coupled;  // rules over several indices
  for (const Affine& rule : rules.at_least_zero) {
    Affine form = tightened(rule);
    if (form.is_constant()) {
      if (form.constant() < 0) return empty_domain(rules);
      continue;
    }
    if (form.terms().size() > 1) {
      if (std::find(coupled.begin(), coupled.end(), form) == coupled.end()) coupled.push_back(std::move(form));
      continue;
    }
    // Tightened: the coefficient is 1 or -1.
    auto at = std::lower_bound(rules.indices.begin(), rules.indices.end(), form.terms()[0].first);
    size_t i = static_cast<size_t>(at - rules.indices.begin());
    if (form.terms()[0].second > 0) {
      lower[i] = std::max(lower[i].value_or(-form.constant()), -form.constant());
    } else {
      upper[i] = std::min(upper[i].value_or(form.constant()), form.constant());
    }
  }
  IndexDomain out;
  bool bounded = true;
  for (size_t i = 0; i < n; ++i) {
    if (lower[i] && upper[i] && *lower[i] > *upper[i]) return empty_domain(rules);
    bounded &= lower[i] && upper[i];
    out.ranges.push_back({lower[i].value_or(0), upper[i].value_or(0)});
  }
  std::map<std::string, Interval> box;
  auto drop_implied = [&] {
    box.clear();
    for (size_t i = 0; i < n; ++i) box[rules.indices[i]] = out.ranges[i];
    std::erase_if(coupled, [&](const Affine& form) { return interval_of(form, box).lower >= 0; });
  };
  if (bounded) drop_implied();
  if (!bounded || !rules.whole.empty() || !box_is_exact(rules, coupled, out.ranges)) {
    IntegerSet set = set_of(rules);
    STRIA_ASSIGN(bool empty, set.is_empty());
    if (empty) return empty_domain(rules);
    for (size_t i = 0; i < n; ++i) {
      STRIA_ASSIGN(Bounds bounds, set.bounds(Affine::of(rules.indices[i])));
      if (!bounds.lower || !bounds.upper) {
        out.unbounded.push_back(rules.indices[i]);
      } else {
        out.ranges[i] = {*bounds.lower, *bounds.upper};
      }
    }
    if (!out.unbounded.empty()) return out;
    drop_implied();
  }
  out.constraints = std::move(coupled);
  return out;
}

Result<bool> writes_each_once(const DomainRules& rules, const IndexDomain& domain,
                              const std::vector<Affine>& map) {
  if (domain.empty) return true;
  // Mostly each index that moves is a coordinate of its own.
  bool apart = true;
  for (size_t i = 0; i < rules.indices.size() && apart; ++i) {
    const Interval& range = domain.ranges[i];
    apart = range.lower == range.upper ||
            std::any_of(map.begin(), map.end(), [&](const Affine& form) {
              return form.terms().size() == 1 && form.terms()[0].first == rules.indices[i];
            });
  }
  if (apart) return true;
  return set_of(rules).is_injective(map);
}

}  // namespace stria::tile
