// SPDX-License-Identifier: Apache-2.0
// Reduce and defract: other loop indices for a contraction, in which each output dimension is one
// index.
//
//   O[2*x + k : N] = +(I[x] * K[k])
//
// Reduce. As many independent forms as there are indices become the new coordinates v = B (x, k):
// first those of the output, here v0 = 2*x + k, then of the operands and constraints those that
// take the fewest values, here v1 = k. Then x = (v0 - v1) / 2: a fraction.
// Defract. The v of integer x and k are a lattice, v0 - v1 is even. Its Hermite normal form says by
// which moduli each coordinate is to be split, here 2 and 2, and which residues go together: v0 =
// 2*x' + x_0, v1 = 2*k' + x_0 with x_0 in 0..1, so O[2*x' + x_0] = +(I[x' - k'] * K[2*k' + x_0]).
// All coefficients are integers again and each point is met once.
//
// Divisions (I[x / 2]) are equations over the integers, divisor * q == numerator, which are solved
// first; the forms are then over their solutions.
#pragma once

#include <optional>

#include "stria/base/status.h"
#include "stria/lower/iteration.h"
#include "stria/tile/bind/bound.h"

namespace stria::lower_detail {

// The contraction in new indices; nullopt: it has no valid index set. With
// `contraction.no_defract` the coordinates are the program's own indices, split only where a
// division demands it. out_of_range: a number leaves 64 bits; unknown: the solver's budget ran out.
Result<std::optional<Iteration>> other_coordinates(const tile::BoundContraction& contraction);

// One iteration for each combination of those residues of `whole` that its output tells apart (a
// sum is not cut), where these have at most `most` combinations; empty if there are none or more.
// Combinations without a point are left out.
Result<std::vector<Iteration>> residue_classes(const Iteration& whole, int64_t most);

// The points of `loose.indices` (ranges are not read) that meet its constraints, in tight form:
// each index from 0 with its exact range, an index with one value gone, only needed constraints.
// nullopt: no point.
Result<std::optional<Iteration>> tight(const Iteration& loose);

// The same where the exact range of each index is known, and there is a point.
Result<Iteration> from_zero(const Iteration& loose, const std::vector<Interval>& ranges);

}  // namespace stria::lower_detail
