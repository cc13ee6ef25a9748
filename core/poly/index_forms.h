// SPDX-License-Identifier: Apache-2.0
// What a form over loop indices says about them. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "stria/base/result.h"
#include "stria/poly/affine.h"

namespace stria {

// form >= 0 divided by the common factor of the coefficients: the same integer points, a tighter
// constant.
Affine tightened(const Affine& form);

// The indices whose values the form tells apart for certain, whatever the others are. Each index
// runs over `ranges` values in a row (those of one value, and names that are not there, are left
// out), each point covers `width` >= 1 values: sorted by coefficient, each must be at least the
// reach of all smaller ones together, and a larger one that is not clear of the smaller ones spoils
// them all. In 2*x + k with 2 values of k these are both; with 3 values neither.
std::set<std::string> told_apart(const Affine& form, const std::map<std::string, int64_t>& ranges,
                                 int64_t width);

// Affine::substitute, or out_of_range where a number leaves 64 bits.
Result<Affine> substitute_checked(const Affine& form, const std::map<std::string, Affine>& values);

}  // namespace stria
