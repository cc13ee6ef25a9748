// SPDX-License-Identifier: Apache-2.0
// Which indices a contraction's loops run over.
//
// The program's own, each shifted to start at 0, unless those of coordinates.h are needed or,
// without `no_defract`, much better. They are needed where a division must be exact. They are
// better where the program's indices write one element in several ways (O[2*x + k]), so that no
// index could be spread over cores or lanes, and where the valid set is thin in its box: a
// diagonal, a band.
#include "stria/lower/iteration.h"

#include <algorithm>
#include <map>
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

// Loops that meet no other in an output element are worth this many times the points: sums of
// d indices of equal ranges make d times as many, and lanes alone save more than that.
constexpr double kParallelWorth = 8;
// Kernels that one contraction may become: the residues of two dimensions of stride 4.
constexpr int64_t kMostKernels = 16;

bool divides(const BoundContraction& contraction) {
  auto divided = [](const std::vector<DimAccess>& access) {
    return std::any_of(access.begin(), access.end(),
                       [](const DimAccess& form) { return form.divisor != 1; });
  };
  return divided(contraction.out_access) ||
         std::any_of(contraction.operands.begin(), contraction.operands.end(),
                     [&](const tile::BoundOperand& operand) { return divided(operand.access); });
}

// The program's own indices; no division.
Result<std::optional<Iteration>> own_indices(const BoundContraction& contraction) {
  Iteration loose;
  for (const BoundIndex& index : contraction.indices) {
    loose.indices.push_back({index.name, 0, false});
    loose.constraints.push_back(Affine::of(index.name) - Affine(index.range.lower));
    loose.constraints.push_back(Affine(index.range.upper) - Affine::of(index.name));
  }
  auto forms = [](const std::vector<DimAccess>& access) {
    std::vector<Affine> out;
    for (const DimAccess& form : access) out.push_back(form.numerator);
    return out;
  };
  loose.out_access = forms(contraction.out_access);
  for (const tile::BoundOperand& operand : contraction.operands)
    loose.operand_access.push_back(forms(operand.access));
  return tight(loose, contraction.constraints);
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

Result<Iterations> make_iterations(const BoundContraction& contraction) {
  Iterations out;
  out.whole.empty = true;
  if (contraction.empty) return out;
  if (divides(contraction)) {
    STRIA_ASSIGN(std::optional<Iteration> other, other_coordinates(contraction));
    if (!other) return out;
    out.whole = std::move(*other);
    STRIA_ASSIGN(out.kernels, kernels_of(out.whole));
    return out;
  }
  STRIA_ASSIGN(std::optional<Iteration> own, own_indices(contraction));
  if (!own) return out;
  out.whole = std::move(*own);
  out.kernels = {out.whole};
  const size_t overlapping = overlapping_indices(out.whole);
  if (contraction.no_defract || (overlapping == 0 && contraction.constraints.empty())) return out;

  // Where the solver cannot decide or a number leaves 64 bits, the program's own indices are as
  // right.
  Result<std::optional<Iteration>> other = other_coordinates(contraction);
  if (!other.ok() || !*other) return out;
  Result<std::vector<Iteration>> kernels = kernels_of(**other);
  if (!kernels.ok()) return out;
  const size_t left = overlapping_indices(**other);
  const double own_points = volume(out.whole), points = volume(*kernels);
  const bool parallel = left < overlapping && points <= kParallelWorth * own_points;
  const bool thin = left <= overlapping && 2 * points <= own_points;
  if (parallel || thin) {
    out.whole = std::move(**other);
    out.kernels = std::move(*kernels);
  }
  return out;
}

}  // namespace stria::lower_detail
