// SPDX-License-Identifier: Apache-2.0
// Reduce and defract: other loop indices for a contraction, such that each output dimension is one
// index.
//
//   O[2*x + k : N] = +(I[x] * K[k])
//
// Reduce: choose as many independent forms as there are indices; they become the new coordinates v
// = B (x, k). First come those of the output, here v0 = 2*x + k. Then come, of the operands and
// constraints, those that take the fewest values, here v1 = k. Then x = (v0 - v1) / 2: a fraction.
//
// Defract: the v of integer x and k form a lattice; here v0 - v1 is even. Its Hermite normal form
// says by which moduli each coordinate is to be split, here 2 and 2, and which residues go
// together: v0 = 2*x' + x_0, v1 = 2*k' + x_0 with x_0 in 0..1. So O[2*x' + x_0] = +(I[x' - k'] *
// K[2*k' + x_0]). All coefficients are integers again, and each point is met once.
//
// Divisions (I[x / 2]) are equations over the integers, divisor * q == numerator. They are solved
// first; the forms are then over their solutions.
#pragma once

#include <optional>

#include "stria/base/status.h"
#include "stria/lower/iteration.h"
#include "stria/tile/bind/bound.h"

namespace stria::lower_detail {

// The contraction in new indices; nullopt: it has no valid index set. With `contraction.no_defract`
// the coordinates are the program's own indices, split only if a division demands it. out_of_range:
// a number leaves 64 bits. unknown: the solver's budget ran out.
Result<std::optional<Iteration>> other_coordinates(const tile::BoundContraction& contraction);

// One iteration for each combination of those residues of `whole` that its output tells apart (a
// sum is not cut). Combinations without a point are left out. Empty if there are no such residues,
// or if they have more than `most` combinations.
Result<std::vector<Iteration>> residue_classes(const Iteration& whole, int64_t most);

// The points of `loose.indices` (ranges are not read) that meet the constraints, in tight form:
// each index runs from 0 with its exact range, indices with one value are gone, and only needed
// constraints are left. nullopt: there is no point.
Result<std::optional<Iteration>> tight(const Iteration& loose);

// The same where the exact range of each index is known, and there is a point.
Result<Iteration> from_zero(const Iteration& loose, const std::vector<Interval>& ranges);

}  // namespace stria::lower_detail
