// SPDX-License-Identifier: Apache-2.0
#include "stria/lower/coordinates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "stria/lower/lowering.h"
#include "stria/poly/index_forms.h"
#include "stria/poly/integer_matrix.h"
#include "stria/poly/integer_set.h"

namespace stria::lower_detail {
namespace {

using tile::BoundContraction;
using tile::BoundIndex;
using tile::DimAccess;

// The unknowns: the contraction's indices, then one quotient for each different division.
struct Unknowns {
  std::vector<std::string> names;
  std::vector<DimAccess> divided;
  size_t first_quotient = 0;

  explicit Unknowns(const BoundContraction& contraction) {
    Names fresh;
    for (const BoundIndex& index : contraction.indices) names.push_back(fresh.fresh(index.name));
    first_quotient = names.size();
    auto scan = [&](const std::vector<DimAccess>& access) {
      for (const DimAccess& form : access) {
        if (form.divisor == 1 || std::find(divided.begin(), divided.end(), form) != divided.end())
          continue;
        divided.push_back(form);
        names.push_back(fresh.fresh("q"));
      }
    };
    scan(contraction.out_access);
    for (const tile::BoundOperand& operand : contraction.operands) scan(operand.access);
  }

  // The coordinate that an access means, as a form over the unknowns.
  Affine form_of(const DimAccess& access) const {
    if (access.divisor == 1) return access.numerator;
    auto at = std::find(divided.begin(), divided.end(), access);
    return Affine::of(names[first_quotient + static_cast<size_t>(at - divided.begin())]);
  }
  IntegerRow row_of(const Affine& form) const {
    IntegerRow row;
    for (const std::string& name : names) row.push_back(form.coefficient(name));
    return row;
  }
};

// Whether every form keeps within int64: the sum of the absolute values of its terms, wherever the
// names are within `most` of 0.
Status check_numbers(const std::vector<Affine>& forms, const std::map<std::string, double>& most) {
  constexpr double kLimit = 9.2e18;
  for (const Affine& form : forms) {
    double sum = std::abs(static_cast<double>(form.constant()));
    for (const auto& [name, coefficient] : form.terms())
      sum += std::abs(static_cast<double>(coefficient)) * most.at(name);
    if (sum < kLimit) continue;
    return make_error(StatusCode::out_of_range, "the numbers in {} leave 64 bits",
                      form.to_string());
  }
  return {};
}

// A form that may become a coordinate.
struct Candidate {
  Affine form;        // over the unknowns
  Affine written;     // over the program's indices, for the coordinate's name
  IntegerRow row;     // its coefficients over the free variables
  int64_t lower = 0;  // of its values in the valid set
  double values = 1;  // how many these are at most
};

class Reducer {
 public:
  explicit Reducer(const BoundContraction& contraction)
      : contraction_(contraction), unknowns_(contraction), valid_(unknowns_.names) {}

  Result<std::optional<Iteration>> run() {
    STRIA_ASSIGN(bool possible, solve());
    if (!possible) return std::optional<Iteration>();
    STRIA_RETURN_IF_ERROR(choose_basis());
    Iteration loose;
    STRIA_RETURN_IF_ERROR(rewrite(loose));
    return tight(loose);
  }

 private:
  // Solves the divisions: unknowns = origin_ + directions_ * (free variables).
  Result<bool> solve() {
    for (const BoundIndex& index : contraction_.indices) {
      ranges_[index.name] = index.range;
      bounds_.push_back(Affine::of(index.name) - Affine(index.range.lower));
      bounds_.push_back(Affine(index.range.upper) - Affine::of(index.name));
    }
    bounds_.insert(bounds_.end(), contraction_.constraints.begin(), contraction_.constraints.end());
    for (const Affine& form : bounds_) valid_.add_ge(form);
    IntegerMatrix equations;
    IntegerRow right;
    for (const DimAccess& access : unknowns_.divided) {
      Affine form = unknowns_.form_of(access) * access.divisor - access.numerator;
      valid_.add_eq(form);
      equations.push_back(unknowns_.row_of(form));
      right.push_back(access.numerator.constant());
    }
    STRIA_ASSIGN(bool nothing, valid_.is_empty());
    if (nothing) return false;
    STRIA_ASSIGN(auto solutions, solve_integers(equations, right, unknowns_.names.size()));
    if (!solutions) return false;
    origin_ = std::move(solutions->point);
    directions_ = std::move(solutions->directions);
    free_ = solutions->free;
    return true;
  }

  Result<Candidate> candidate(const Affine& form, const Affine& written) {
    Candidate out{form, written, {}, 0, 1};
    STRIA_ASSIGN(IntegerMatrix row, product({unknowns_.row_of(form)}, directions_, free_));
    out.row = std::move(row[0]);
    Bounds range;
    if (form.terms().size() == 1 && ranges_.count(form.terms()[0].first)) {
      const Interval exact = interval_of(form, ranges_);
      range = {exact.lower, exact.upper};
    } else {
      STRIA_ASSIGN(range, valid_.bounds(form));
    }
    if (!range.lower || !range.upper)
      return internal_error("{} has no bound in a valid set", form.to_string());
    out.lower = *range.lower;
    out.values = static_cast<double>(*range.upper) - static_cast<double>(*range.lower) + 1;
    return out;
  }

  // Takes candidates until their rows have the rank that all of them have: each time the one that
  // has the fewest values left once those before it are known.
  Status take(std::vector<Candidate> candidates) {
    while (basis_.size() < free_) {
      size_t best = candidates.size();
      double fewest = 0;
      for (size_t i = 0; i < candidates.size(); ++i) {
        IntegerMatrix rows = rows_;
        rows.push_back(candidates[i].row);
        STRIA_ASSIGN(HermiteForm hermite, hermite_form(rows, free_));
        if (hermite.pivots.size() < rows.size()) continue;
        const double left = std::ceil(candidates[i].values /
                                      static_cast<double>(hermite.form.back()[rows.size() - 1]));
        // Of equals the one that is an index of the program.
        if (best == candidates.size() || left < fewest ||
            (left == fewest && candidates[best].written.terms().size() > 1 &&
             candidates[i].written.terms().size() == 1)) {
          best = i;
          fewest = left;
        }
      }
      if (best == candidates.size()) break;
      rows_.push_back(candidates[best].row);
      basis_.push_back(std::move(candidates[best]));
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(best));
    }
    return {};
  }

  Status choose_basis() {
    std::vector<Candidate> outputs, others;
    auto add = [&](std::vector<Candidate>& to, const Affine& form,
                   const Affine& written) -> Status {
      if (form.is_constant()) return {};
      for (const Candidate& known : to)
        if (known.form.terms() == form.terms()) return {};
      STRIA_ASSIGN(Candidate one, candidate(form, written));
      to.push_back(std::move(one));
      return {};
    };
    if (!contraction_.no_defract) {
      for (const DimAccess& access : contraction_.out_access)
        STRIA_RETURN_IF_ERROR(add(outputs, unknowns_.form_of(access), access.numerator));
      for (const tile::BoundOperand& operand : contraction_.operands)
        for (const DimAccess& access : operand.access)
          STRIA_RETURN_IF_ERROR(add(others, unknowns_.form_of(access), access.numerator));
      for (const Affine& form : contraction_.constraints)
        STRIA_RETURN_IF_ERROR(add(others, form, form));
    }
    // A bound of one index is in its range and not among the constraints.
    for (const BoundIndex& index : contraction_.indices)
      STRIA_RETURN_IF_ERROR(add(others, Affine::of(index.name), Affine::of(index.name)));
    STRIA_RETURN_IF_ERROR(take(std::move(outputs)));
    STRIA_RETURN_IF_ERROR(take(std::move(others)));
    if (basis_.size() != free_)
      return internal_error("{} forms for {} coordinates", basis_.size(), free_);
    return {};
  }

  // One name for each coordinate: the index that it is, or else one that it has and no other has
  // taken.
  std::vector<std::string> coordinate_names(Names& names) const {
    std::vector<std::string> out(basis_.size());
    for (bool single : {true, false}) {
      for (size_t i = 0; i < basis_.size(); ++i) {
        const auto& terms = basis_[i].written.terms();
        if (!out[i].empty() || (terms.size() == 1) != single) continue;
        for (const auto& [name, coefficient] : terms)
          if (out[i].empty() && std::find(out.begin(), out.end(), name) == out.end()) out[i] = name;
        if (out[i].empty()) out[i] = terms[0].first;
        out[i] = names.fresh(out[i]);
      }
    }
    return out;
  }

  // Everything over the coordinates and residues; ranges are still unknown.
  Status rewrite(Iteration& loose) {
    STRIA_ASSIGN(LatticeSplit split, split_lattice(rows_));
    // The origin moves to where each form is at its lowest value or just above.
    IntegerRow steps(free_);
    for (size_t i = 0; i < free_; ++i) {
      STRIA_ASSIGN(IntegerRow at, product({unknowns_.row_of(basis_[i].form)}, origin_));
      STRIA_ASSIGN(IntegerRow moved, product({split.residues[i]}, steps));
      const __int128 above =
          static_cast<__int128>(at[0]) + moved[0] + basis_[i].form.constant() - basis_[i].lower;
      const int64_t step = split.residues[i][i];
      const __int128 down = above >= 0 ? above / step : -((-above + step - 1) / step);
      steps[i] = static_cast<int64_t>(-down);
      if (steps[i] != -down)
        return make_error(StatusCode::out_of_range, "the numbers in {} leave 64 bits",
                          basis_[i].form.to_string());
    }
    STRIA_ASSIGN(IntegerRow inner, product(split.part, steps));
    STRIA_ASSIGN(IntegerMatrix whole, product(directions_, split.whole, free_));
    STRIA_ASSIGN(IntegerMatrix part, product(directions_, split.part, free_));
    STRIA_ASSIGN(IntegerRow shift, product(directions_, inner));

    Names names;
    std::vector<std::string> own = coordinate_names(names);
    std::vector<std::string> residue(free_);
    for (size_t i = 0; i < free_; ++i) {
      loose.indices.push_back({own[i], 0, false});
      if (split.counts[i] == 1) continue;
      residue[i] = names.fresh(own[i]);
      loose.indices.push_back({residue[i], 0, true});
      loose.constraints.push_back(Affine::of(residue[i]));
      loose.constraints.push_back(Affine(split.counts[i] - 1) - Affine::of(residue[i]));
    }
    std::map<std::string, Affine> values;  // of the unknowns
    for (size_t u = 0; u < unknowns_.names.size(); ++u) {
      int64_t constant = 0;
      if (__builtin_add_overflow(origin_[u], shift[u], &constant))
        return make_error(StatusCode::out_of_range, "the numbers in {} leave 64 bits",
                          unknowns_.names[u]);
      Affine& value = values[unknowns_.names[u]] = Affine(constant);
      for (size_t i = 0; i < free_; ++i) {
        value.add_term(own[i], whole[u][i]);
        if (split.counts[i] > 1) value.add_term(residue[i], part[u][i]);
      }
    }
    for (const Affine& form : bounds_) {
      STRIA_ASSIGN(Affine substituted, substitute_checked(form, values));
      loose.constraints.push_back(tightened(substituted));
    }
    auto access = [&](const std::vector<DimAccess>& forms, std::vector<Affine>& to) -> Status {
      for (const DimAccess& form : forms) {
        STRIA_ASSIGN(Affine substituted, substitute_checked(unknowns_.form_of(form), values));
        to.push_back(std::move(substituted));
      }
      return {};
    };
    STRIA_RETURN_IF_ERROR(access(contraction_.out_access, loose.out_access));
    for (const tile::BoundOperand& operand : contraction_.operands)
      STRIA_RETURN_IF_ERROR(access(operand.access, loose.operand_access.emplace_back()));
    return {};
  }

  const BoundContraction& contraction_;
  Unknowns unknowns_;
  std::map<std::string, Interval> ranges_;  // of the program's indices
  IntegerSet valid_;                        // over the unknowns
  std::vector<Affine> bounds_;              // each >= 0
  IntegerRow origin_;
  IntegerMatrix directions_;
  size_t free_ = 0;
  std::vector<Candidate> basis_;
  IntegerMatrix rows_;  // of the basis
};

}  // namespace

Result<std::optional<Iteration>> other_coordinates(const BoundContraction& contraction) {
  return Reducer(contraction).run();
}

Result<std::optional<Iteration>> tight(const Iteration& loose) {
  std::vector<std::string> names;
  for (const Iteration::Index& index : loose.indices) names.push_back(index.name);
  IntegerSet set(names);
  for (const Affine& form : loose.constraints) set.add_ge(form);
  STRIA_ASSIGN(bool nothing, set.is_empty());
  if (nothing) return std::optional<Iteration>();
  std::vector<Interval> ranges;
  for (const Iteration::Index& index : loose.indices) {
    STRIA_ASSIGN(Bounds range, set.bounds(Affine::of(index.name)));
    if (!range.lower || !range.upper)
      return internal_error("index {} has no bound in a valid set", index.name);
    ranges.push_back({*range.lower, *range.upper});
  }
  STRIA_ASSIGN(Iteration out, from_zero(loose, ranges));
  return std::optional<Iteration>(std::move(out));
}

Result<Iteration> from_zero(const Iteration& loose, const std::vector<Interval>& ranges) {
  Iteration out;
  std::map<std::string, Affine> shifts;
  std::map<std::string, double> most;
  std::vector<std::pair<std::string, Interval>> box;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Iteration::Index& index = loose.indices[i];
    const auto& [lower, upper] = ranges[i];
    int64_t count = 0;
    if (__builtin_sub_overflow(upper, lower, &count) || __builtin_add_overflow(count, 1, &count))
      return make_error(StatusCode::out_of_range, "index {} has more than 2^63 - 1 values",
                        index.name);
    most[index.name] =
        std::max(std::abs(static_cast<double>(lower)), std::abs(static_cast<double>(upper)));
    shifts[index.name] = Affine(lower);
    if (count == 1) continue;
    shifts[index.name].add_term(index.name, 1);
    out.indices.push_back({index.name, count, index.residue});
    box.emplace_back(index.name, Interval{0, count - 1});
  }
  auto shifted = [&](const std::vector<Affine>& forms, std::vector<Affine>& to) -> Status {
    STRIA_RETURN_IF_ERROR(check_numbers(forms, most));
    for (const Affine& form : forms) to.push_back(form.substitute(shifts));
    return {};
  };
  STRIA_RETURN_IF_ERROR(shifted(loose.constraints, out.constraints));
  STRIA_RETURN_IF_ERROR(shifted(loose.out_access, out.out_access));
  for (const auto& access : loose.operand_access)
    STRIA_RETURN_IF_ERROR(shifted(access, out.operand_access.emplace_back()));
  for (Affine& form : out.constraints) form = tightened(form);
  if (!out.constraints.empty()) out.constraints = IntegerSet::box(box).needed(out.constraints);
  return out;
}

Result<std::vector<Iteration>> residue_classes(const Iteration& whole, int64_t most) {
  std::vector<const Iteration::Index*> residues;
  const std::set<std::string> apart = apart_indices(whole);
  int64_t count = 1;
  for (const Iteration::Index& index : whole.indices) {
    if (!index.residue || !apart.count(index.name)) continue;
    residues.push_back(&index);
    if (__builtin_mul_overflow(count, index.range, &count) || count > most)
      return std::vector<Iteration>();
  }
  std::vector<Iteration> out;
  if (residues.empty()) return out;
  for (int64_t number = 0; number < count; ++number) {
    std::map<std::string, Affine> fixed;
    int64_t rest = number;
    for (size_t i = residues.size(); i-- > 0; rest /= residues[i]->range)
      fixed[residues[i]->name] = Affine(rest % residues[i]->range);
    Iteration loose;
    for (const Iteration::Index& index : whole.indices) {
      if (fixed.count(index.name)) continue;
      loose.indices.push_back(index);
      loose.constraints.push_back(Affine::of(index.name));
      loose.constraints.push_back(Affine(index.range - 1) - Affine::of(index.name));
    }
    auto substituted = [&](const std::vector<Affine>& forms, std::vector<Affine>& to) {
      for (const Affine& form : forms) to.push_back(form.substitute(fixed));
    };
    substituted(whole.constraints, loose.constraints);
    for (Affine& form : loose.constraints) form = tightened(form);
    substituted(whole.out_access, loose.out_access);
    for (const auto& access : whole.operand_access)
      substituted(access, loose.operand_access.emplace_back());
    STRIA_ASSIGN(std::optional<Iteration> one, tight(loose));
    if (one) out.push_back(std::move(*one));
  }
  return out;
}

}  // namespace stria::lower_detail
