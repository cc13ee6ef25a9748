// SPDX-License-Identifier: Apache-2.0
// A cheap way to say that a set has a point: find one. What it does not find the solver
// (integer_set.h) has to decide. Pure function.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stria/poly/affine.h"

namespace stria {

// A point of the box at which all constraints are >= 0, or nothing: then there may be one or not.
// Starts in the middle and mends one constraint after the other, by the smallest steps.
//   box          every name of the constraints, with its range; sums of products fit in 128 bits
//   fixed        values that stay: names of the box
// Cost: linear in the terms, times a few rounds for each constraint.
std::optional<std::map<std::string, int64_t>> find_point(
    const std::map<std::string, Interval>& box, const std::vector<Affine>& constraints,
    const std::map<std::string, int64_t>& fixed = {});

}  // namespace stria
