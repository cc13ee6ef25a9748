// SPDX-License-Identifier: Apache-2.0
// Cartesian products of set pieces.
#pragma once

#include <vector>

#include "stria/poly/integer_set.h"

namespace stria::lower_detail {

// Every pair of a piece of `a` and one of `b` as one piece: the points of `a`, then those of `b`.
// An index of `b` whose name the piece of `a` has gets another.
std::vector<SetPiece> product(const std::vector<SetPiece>& a, const std::vector<SetPiece>& b);

}  // namespace stria::lower_detail
