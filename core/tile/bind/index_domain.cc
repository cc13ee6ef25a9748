// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/bind/index_domain.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "stria/poly/index_forms.h"
#include "stria/poly/integer_set.h"

namespace stria::tile {
namespace {

// The box of rules over one index each is what the whole set projects to if every end of every
// range is met by some valid point. Looks for such points among a few: a corner or the middle of
// the box, with one coordinate moved to the end of its range. True is a proof, false is not.
bool box_is_exact(const DomainRules& rules, const std::vector<Affine>& coupled,
                  const std::vector<Interval>& box) {
  using Wide = __int128;
  struct Use {
    size_t form;
    int64_t coefficient;
  };
  std::vector<std::vector<Use>> uses(box.size());  // by index
  for (size_t k = 0; k < coupled.size(); ++k)
    for (const auto& [name, coefficient] : coupled[k].terms()) {
      auto at = std::lower_bound(rules.indices.begin(), rules.indices.end(), name);
      uses[static_cast<size_t>(at - rules.indices.begin())].push_back({k, coefficient});
    }
  struct Point {
    std::vector<int64_t> at;
    std::vector<Wide> values;  // of the forms
    size_t negative = 0;       // how many of them
  };
  std::vector<Point> points(3);
  for (size_t way = 0; way < points.size(); ++way) {
    Point& point = points[way];
    for (const Affine& form : coupled) point.values.push_back(form.constant());
    for (size_t i = 0; i < box.size(); ++i) {
      const auto& [lower, upper] = box[i];
      point.at.push_back(way == 0 ? lower : way == 1 ? upper : std::midpoint(lower, upper));
      for (const Use& use : uses[i])
        if (__builtin_add_overflow(point.values[use.form],
                                   static_cast<Wide>(use.coefficient) * point.at[i],
                                   &point.values[use.form]))
          return false;
    }
    for (Wide value : point.values) point.negative += value < 0;
  }
  auto met = [&](size_t i, int64_t end) {
    return std::any_of(points.begin(), points.end(), [&](const Point& point) {
      size_t negative = point.negative;
      for (const Use& use : uses[i]) {
        const Wide old = point.values[use.form];
        Wide value = 0;
        if (__builtin_add_overflow(old, (static_cast<Wide>(end) - point.at[i]) * use.coefficient,
                                   &value) ||
            value < 0)
          return false;
        negative -= old < 0;
      }
      return negative == 0;
    });
  };
  for (size_t i = 0; i < box.size(); ++i)
    if (!met(i, box[i].lower) || !met(i, box[i].upper)) return false;
  return true;
}

// The set over the indices, then one dim per exact division (its quotient).
IntegerSet set_of(const DomainRules& rules) {
  std::vector<std::string> dims = rules.indices;
  for (size_t i = 0; i < rules.whole.size(); ++i) dims.push_back(fmt::format("_quotient{}", i));
  IntegerSet set(dims);
  for (const Affine& form : rules.at_least_zero) set.add_ge(form);
  for (size_t i = 0; i < rules.whole.size(); ++i)
    set.add_eq(rules.whole[i].numerator -
               Affine::of(dims[rules.indices.size() + i], rules.whole[i].divisor));
  return set;
}

IndexDomain empty_domain(const DomainRules& rules) {
  IndexDomain out;
  out.empty = true;
  out.ranges.assign(rules.indices.size(), Interval{0, 0});
  return out;
}

std::string question(const DomainRules& rules, const std::vector<Affine>& map = {}) {
  std::string out;
  for (const std::string& name : rules.indices) out += name + " ";
  for (const Affine& form : rules.at_least_zero) out += ";" + form.to_string();
  for (const Form& form : rules.whole) out += ";/" + to_string(form);
  for (const Affine& form : map) out += ";=" + form.to_string();
  return out;
}

}  // namespace

Result<IndexDomain> find_domain(const DomainRules& rules, DomainAnswers* known) {
  const size_t n = rules.indices.size();
  std::vector<std::optional<int64_t>> lower(n), upper(n);
  std::vector<Affine> coupled;            // rules over several indices
  std::unordered_set<std::string> texts;  // theirs
  for (const Affine& rule : rules.at_least_zero) {
    Affine form = tightened(rule);
    if (form.is_constant()) {
      if (form.constant() < 0) return empty_domain(rules);
      continue;
    }
    if (form.terms().size() > 1) {
      if (texts.insert(form.to_string()).second) coupled.push_back(std::move(form));
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
    const std::string asked = known != nullptr ? question(rules) : "";
    if (known != nullptr)
      if (auto at = known->domains.find(asked); at != known->domains.end()) return at->second;
    auto answer = [&](IndexDomain domain) {
      if (known != nullptr) known->domains.emplace(asked, domain);
      return domain;
    };
    IntegerSet set = set_of(rules);
    STRIA_ASSIGN(bool empty, set.is_empty());
    if (empty) return answer(empty_domain(rules));
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
    out.constraints = std::move(coupled);
    return answer(std::move(out));
  }
  out.constraints = std::move(coupled);
  return out;
}

Result<bool> writes_each_once(const DomainRules& rules, const IndexDomain& domain,
                              const std::vector<Affine>& map, DomainAnswers* known) {
  if (domain.empty) return true;
  // Mostly each index that moves is a coordinate of its own.
  bool apart = true;
  for (size_t i = 0; i < rules.indices.size() && apart; ++i) {
    const Interval& range = domain.ranges[i];
    apart =
        range.lower == range.upper || std::any_of(map.begin(), map.end(), [&](const Affine& form) {
          return form.terms().size() == 1 && form.terms()[0].first == rules.indices[i];
        });
  }
  if (apart) return true;
  const std::string asked = known != nullptr ? question(rules, map) : "";
  if (known != nullptr)
    if (auto at = known->once.find(asked); at != known->once.end()) return at->second;
  STRIA_ASSIGN(bool once, set_of(rules).is_injective(map));
  if (known != nullptr) known->once.emplace(asked, once);
  return once;
}

}  // namespace stria::tile
