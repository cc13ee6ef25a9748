// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/block_points.h"

#include <algorithm>

#include "stria/poly/index_forms.h"

namespace stria::stripe {

bool is_small(const Affine& form) {
  constexpr int64_t kLimit = int64_t{1} << 58;
  auto small = [](int64_t n) { return n > -kLimit && n < kLimit; };
  return small(form.constant()) &&
         std::all_of(form.terms().begin(), form.terms().end(),
                     [&](const auto& term) { return small(term.second); });
}

BlockPoints points_of(const Block& block, const BlockPoints* outer, int64_t number) {
  static const std::map<std::string, Affine> none;
  BlockPoints points;
  points.outer = outer;
  if (outer) {
    points.exact = outer->exact;
    points.runs = outer->runs;
  }
  auto compose = [&](const Affine& form, const std::map<std::string, Affine>& over) {
    auto composed = substitute_checked(form, over);
    if (composed.ok() && is_small(*composed)) return std::move(composed).value();
    points.exact = false;
    return Affine();
  };
  for (const Index& index : block.idxs) {
    Affine form;
    if (index.affine) form = compose(*index.affine, outer ? outer->forms : none);
    points.runs = points.runs && index.range >= 1;
    if (index.range > 1) {
      std::string variable = fmt::format("{}@{}", index.name, number);
      points.variables.emplace_back(variable, Interval{0, index.range - 1});
      points.exact = points.exact && is_small(Affine(index.range));
      form.add_term(variable, 1);
    }
    points.forms[index.name] = std::move(form);
  }
  for (const Affine& constraint : block.constraints)
    points.constraints.push_back(compose(constraint, points.forms));
  return points;
}

std::map<std::string, Interval> BlockPoints::box() const {
  std::map<std::string, Interval> all;
  for (const BlockPoints* at = this; at; at = at->outer)
    all.insert(at->variables.begin(), at->variables.end());
  return all;
}

std::vector<Affine> BlockPoints::all_constraints() const {
  std::vector<Affine> all;
  for (const BlockPoints* at = this; at; at = at->outer)
    all.insert(all.end(), at->constraints.begin(), at->constraints.end());
  return all;
}

IntegerSet BlockPoints::set() const {
  const std::map<std::string, Interval> dims = box();
  IntegerSet points = IntegerSet::box({dims.begin(), dims.end()});
  for (const Affine& form : all_constraints()) points.add_ge(form);
  return points;
}

}  // namespace stria::stripe
