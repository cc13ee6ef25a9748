// SPDX-License-Identifier: Apache-2.0
// Which indices a contraction's loops run over.
//
// As a rule these are the program's own, each shifted to start at 0. Those of coordinates.h are
// taken if they are needed, since a division must be exact, or, without `no_defract`, if they are
// much better. They are better if the program's indices write one element in several ways (O[2*x +
// k]), so that no index could be spread over cores or lanes; or if the valid set is thin in its
// box, as a diagonal or a band.
#include "stria/lower/iteration.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "stria/lower/coordinates.h"
#include "stria/lower/lowering.h"
#include "stria/poly/index_forms.h"
#include "stria/poly/integer_set.h"

namespace stria::lower_detail {
namespace {

using tile::BoundContraction;
using tile::BoundIndex;
using tile::DimAccess;

// The points may grow by this factor for loops that meet no other loop in an output element. Sums
// of d indices of equal ranges have d times the points, and lanes alone save more than that.
constexpr double kParallelWorth = 8;
// Kernels that one contraction may become: the residues of two dimensions of stride 4.
constexpr int64_t kMostKernels = 16;
// With more constraints the program's own indices stay: each constraint may become a coordinate,
// and is a question to the solver.
constexpr size_t kMostConstraints = 64;

bool divides(const BoundContraction& contraction) {
  auto divided = [](const std::vector<DimAccess>& access) {
    return std::any_of(access.begin(), access.end(),
                       [](const DimAccess& form) { return form.divisor != 1; });
  };
  return divided(contraction.out_access) ||
         std::any_of(contraction.operands.begin(), contraction.operands.end(),
                     [&](const tile::BoundOperand& operand) { return divided(operand.access); });
}

// The program's own indices, of which the ranges are exact; no division.
Result<Iteration> own_indices(const BoundContraction& contraction) {
  Iteration loose;
  std::vector<Interval> ranges;
  for (const BoundIndex& index : contraction.indices) {
    loose.indices.push_back({index.name, 0, false});
    ranges.push_back(index.range);
  }
  auto forms = [](const std::vector<DimAccess>& access) {
    std::vector<Affine> out;
    for (const DimAccess& form : access) out.push_back(form.numerator);
    return out;
  };
  loose.out_access = forms(contraction.out_access);
  for (const tile::BoundOperand& operand : contraction.operands)
    loose.operand_access.push_back(forms(operand.access));
  loose.constraints = contraction.constraints;
  return from_zero(loose, ranges);
}

double volume(const std::vector<Iteration>& iterations) {
  double out = 0;
  for (const Iteration& one : iterations) out += volume(one);
  return out;
}

// The parts by residues where they save a tenth of the points or more.
Result<std::vector<Iteration>> kernels_of(const Iteration& whole) {
  STRIA_ASSIGN(std::vector<Iteration> classes, residue_classes(whole, kMostKernels));
  if (!classes.empty() && volume(classes) <= 0.9 * volume(whole)) return classes;
  return std::vector<Iteration>{whole};
}

// The indices in the output's access of which several values may meet in one element.
size_t overlapping_indices(const Iteration& iteration) {
  std::set<std::string> occurs;
  for (const Affine& form : iteration.out_access)
    for (const auto& term : form.terms()) occurs.insert(term.first);
  return occurs.size() - apart_indices(iteration).size();
}

// Decides without the solver that the valid set is not thin in its box. A thin set lies in a
// hyperplane; this one does not if it has a point and a neighbour of it along each index. Or it
// lies in a strip that is narrower than the range of an index, and two opposite constraints bound
// it. False decides nothing.
bool plainly_fills(const BoundContraction& contraction) {
  using Wide = __int128;
  const std::vector<Affine>& constraints = contraction.constraints;
  auto range_of = [&](const std::string& name) {
    auto at = std::lower_bound(
        contraction.indices.begin(), contraction.indices.end(), name,
        [](const BoundIndex& index, const std::string& key) { return index.name < key; });
    return at->range;
  };
  std::vector<Wide> values;  // in the middle of the box
  for (const Affine& form : constraints) {
    Wide value = form.constant();
    for (const auto& [name, coefficient] : form.terms()) {
      const Interval range = range_of(name);
      if (__builtin_add_overflow(
              value, static_cast<Wide>(coefficient) * std::midpoint(range.lower, range.upper),
              &value))
        return false;
    }
    if (value < 0) return false;
    values.push_back(value);
  }
  for (const BoundIndex& index : contraction.indices) {
    const int64_t middle = std::midpoint(index.range.lower, index.range.upper);
    auto valid = [&](int step) {
      if (step < 0 ? middle == index.range.lower : middle == index.range.upper) return false;
      for (size_t k = 0; k < constraints.size(); ++k)
        if (values[k] + static_cast<Wide>(constraints[k].coefficient(index.name)) * step < 0)
          return false;
      return true;
    };
    if (index.range.lower != index.range.upper && !valid(1) && !valid(-1)) return false;
  }
  for (size_t a = 0; a < constraints.size(); ++a) {
    for (size_t b = a + 1; b < constraints.size(); ++b) {
      const auto& left = constraints[a].terms();
      const auto& right = constraints[b].terms();
      if (left.size() != right.size() ||
          !std::equal(left.begin(), left.end(), right.begin(),
                      [](const Affine::Term& x, const Affine::Term& y) {
                        return x.first == y.first && x.second == -static_cast<Wide>(y.second);
                      }))
        continue;
      const Wide strip = static_cast<Wide>(constraints[a].constant()) + constraints[b].constant();
      for (const auto& [name, coefficient] : left) {
        const Interval range = range_of(name);
        Wide reach = static_cast<Wide>(range.upper) - range.lower;
        if (__builtin_mul_overflow(reach, static_cast<Wide>(coefficient), &reach) ||
            (reach < 0 ? -reach : reach) > strip)
          return false;
      }
    }
  }
  return true;
}

}  // namespace

double volume(const Iteration& iteration) {
  double out = 1;
  for (const Iteration::Index& index : iteration.indices) out *= static_cast<double>(index.range);
  return out;
}

std::set<std::string> apart_indices(const Iteration& iteration) {
  std::map<std::string, int64_t> ranges;
  for (const Iteration::Index& index : iteration.indices) ranges[index.name] = index.range;
  std::set<std::string> apart;
  for (const Affine& form : iteration.out_access) apart.merge(told_apart(form, ranges, 1));
  return apart;
}

Result<Iterations> make_iterations(const BoundContraction& contraction, SetWork& work) {
  Iterations out;
  out.whole.empty = true;
  if (contraction.empty) return out;
  if (divides(contraction)) {
    return work.needed([&]() -> Result<Iterations> {
      STRIA_ASSIGN(std::optional<Iteration> other, other_coordinates(contraction));
      if (!other) return std::move(out);
      out.whole = std::move(*other);
      STRIA_ASSIGN(out.kernels, kernels_of(out.whole));
      return std::move(out);
    });
  }
  STRIA_ASSIGN(out.whole, work.needed([&] { return own_indices(contraction); }));
  out.kernels = {out.whole};
  const size_t overlapping = overlapping_indices(out.whole);
  if (contraction.no_defract || contraction.constraints.size() > kMostConstraints ||
      (overlapping == 0 && plainly_fills(contraction)))
    return out;

  // Where the solver cannot decide or a number leaves 64 bits, the program's own indices are as
  // right.
  Result<Iterations> other = work.sought([&]() -> Result<Iterations> {
    Iterations found;
    STRIA_ASSIGN(std::optional<Iteration> whole, other_coordinates(contraction));
    if (!whole) return internal_error("a set that has points has none in other coordinates");
    found.whole = std::move(*whole);
    STRIA_ASSIGN(found.kernels, kernels_of(found.whole));
    return found;
  });
  if (!other.ok()) return out;
  const size_t left = overlapping_indices(other->whole);
  const double own_points = volume(out.whole), points = volume(other->kernels);
  const bool parallel = left < overlapping && points <= kParallelWorth * own_points;
  const bool thin = left <= overlapping && 2 * points <= own_points;
  if (parallel || thin) {
    out = *std::move(other);
  }
  return out;
}

}  // namespace stria::lower_detail
