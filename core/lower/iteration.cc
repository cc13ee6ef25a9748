// SPDX-License-Identifier: Apache-2.0
// The indices are the program's own, each shifted to start at 0, unless other coordinates are
// needed or, without `no_defract`, much better. They are needed where a division must be exact: its quotient q is an
// integer with divisor * q == numerator, and pieces() solves these equalities over the integers.
// They are better where the valid set is thin in its box: a diagonal, a band. There pieces()
// follows the band.
#include "stria/lower/iteration.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "stria/lower/lowering.h"
#include "stria/poly/integer_set.h"

namespace stria::lower_detail {
namespace {

using tile::BoundContraction;
using tile::BoundIndex;
using tile::DimAccess;

double volume(const BoundContraction& contraction) {
  double out = 1;
  for (const BoundIndex& index : contraction.indices)
    out *= static_cast<double>(index.range.upper) - static_cast<double>(index.range.lower) + 1;
  return out;
}

double volume(const SetPiece& piece) {
  double out = 1;
  for (const SetPiece::Index& index : piece.indices) out *= static_cast<double>(index.range);
  return out;
}

// The quotients that must be integers, each once.
std::vector<DimAccess> quotients(const BoundContraction& contraction) {
  std::vector<DimAccess> out;
  auto scan = [&](const std::vector<DimAccess>& access) {
    for (const DimAccess& form : access)
      if (form.divisor != 1 && std::find(out.begin(), out.end(), form) == out.end())
        out.push_back(form);
  };
  scan(contraction.out_access);
  for (const tile::BoundOperand& operand : contraction.operands) scan(operand.access);
  return out;
}

// All accesses over the new indices. `values` has the form of each index and, under the name that
// `quotient_names` gives it, of each quotient.
void set_accesses(const BoundContraction& contraction, const std::vector<DimAccess>& divided,
                  const std::vector<std::string>& quotient_names,
                  const std::map<std::string, Affine>& values, Iteration* out) {
  auto forms = [&](const std::vector<DimAccess>& access) {
    std::vector<Affine> result;
    for (const DimAccess& form : access) {
      if (form.divisor == 1) {
        result.push_back(form.numerator.substitute(values));
      } else {
        auto at = std::find(divided.begin(), divided.end(), form);
        result.push_back(values.at(quotient_names[static_cast<size_t>(at - divided.begin())]));
      }
    }
    return result;
  };
  out->out_access = forms(contraction.out_access);
  for (const tile::BoundOperand& operand : contraction.operands)
    out->operand_access.push_back(forms(operand.access));
}

// Whether every form keeps within int64 after substitution: the sum of the absolute values of its
// terms, wherever the new indices are in their ranges.
Status check_numbers(const BoundContraction& contraction,
                     const std::map<std::string, Affine>& values,
                     const std::vector<Iteration::Index>& indices) {
  constexpr double kLimit = 9.2e18;
  auto magnitude = [](const Affine& form, const std::map<std::string, double>& of) {
    double sum = std::abs(static_cast<double>(form.constant()));
    for (const auto& [name, coefficient] : form.terms())
      sum += std::abs(static_cast<double>(coefficient)) * of.at(name);
    return sum;
  };
  std::map<std::string, double> ranges, magnitudes;
  for (const Iteration::Index& index : indices)
    ranges[index.name] = static_cast<double>(index.range);
  for (const auto& [name, form] : values) magnitudes[name] = magnitude(form, ranges);
  auto check = [&](const Affine& form) -> Status {
    if (magnitude(form, magnitudes) < kLimit) return {};
    return make_error(StatusCode::out_of_range, "the numbers in {} leave 64 bits",
                      form.to_string());
  };
  for (const Affine& form : contraction.constraints) STRIA_RETURN_IF_ERROR(check(form));
  for (const DimAccess& form : contraction.out_access) STRIA_RETURN_IF_ERROR(check(form.numerator));
  for (const tile::BoundOperand& operand : contraction.operands)
    for (const DimAccess& form : operand.access) STRIA_RETURN_IF_ERROR(check(form.numerator));
  return {};
}

}  // namespace

Result<Iteration> make_iteration(const BoundContraction& contraction) {
  Iteration out;
  if (contraction.empty) {
    out.empty = true;
    return out;
  }
  std::vector<DimAccess> divided = quotients(contraction);
  Names names;
  for (const BoundIndex& index : contraction.indices) names.fresh(index.name);
  std::vector<std::string> quotient_names;
  for (size_t i = 0; i < divided.size(); ++i) quotient_names.push_back(names.fresh("q"));
  if (!divided.empty() || !contraction.constraints.empty()) {
    std::vector<std::string> dims;
    for (const BoundIndex& index : contraction.indices) dims.push_back(index.name);
    dims.insert(dims.end(), quotient_names.begin(), quotient_names.end());
    IntegerSet valid(dims);
    for (const BoundIndex& index : contraction.indices) {
      valid.add_ge(Affine::of(index.name) - Affine(index.range.lower));
      valid.add_ge(Affine(index.range.upper) - Affine::of(index.name));
    }
    for (const Affine& form : contraction.constraints) valid.add_ge(form);
    for (size_t i = 0; i < divided.size(); ++i)
      valid.add_eq(Affine::of(quotient_names[i], divided[i].divisor) - divided[i].numerator);
    Result<std::vector<SetPiece>> pieces = valid.pieces();
    if (!divided.empty() && !pieces.ok()) return pieces.status();
    if (pieces.ok()) {
      if (pieces->empty()) {
        out.empty = true;
        return out;
      }
      // One convex set whose equalities determine everything is never cut.
      if (pieces->size() != 1)
        return internal_error("a convex set in {} pieces: {}", pieces->size(), valid.to_string());
      const SetPiece& piece = pieces->front();
      const bool thin =
          !contraction.no_defract && 2 * volume(piece) <= volume(contraction);
      if (!divided.empty() || thin) {
        for (const SetPiece::Index& index : piece.indices)
          out.indices.push_back({index.name, index.range});
        out.constraints = piece.constraints;
        std::map<std::string, Affine> values;
        for (size_t d = 0; d < dims.size(); ++d) values[dims[d]] = piece.point[d];
        STRIA_RETURN_IF_ERROR(check_numbers(contraction, values, out.indices));
        set_accesses(contraction, divided, quotient_names, values, &out);
        return out;
      }
    }
  }
  std::map<std::string, Affine> values;
  std::vector<std::pair<std::string, Interval>> box;
  for (const BoundIndex& index : contraction.indices) {
    int64_t range = 0;
    if (__builtin_sub_overflow(index.range.upper, index.range.lower, &range) ||
        __builtin_add_overflow(range, 1, &range))
      return make_error(StatusCode::out_of_range, "index {} has more than 2^63 - 1 values",
                        index.name);
    values[index.name] = Affine(index.range.lower);
    if (range == 1) continue;
    values[index.name] += Affine::of(index.name);
    out.indices.push_back({index.name, range});
    box.emplace_back(index.name, Interval{0, range - 1});
  }
  STRIA_RETURN_IF_ERROR(check_numbers(contraction, values, out.indices));
  for (const Affine& form : contraction.constraints)
    out.constraints.push_back(form.substitute(values));
  if (!out.constraints.empty()) out.constraints = IntegerSet::box(box).needed(out.constraints);
  set_accesses(contraction, divided, quotient_names, values, &out);
  return out;
}

}  // namespace stria::lower_detail
