// SPDX-License-Identifier: Apache-2.0
// Cartesian products of set pieces.
#pragma once

#include <vector>

#include "stria/base/status.h"
#include "stria/poly/integer_set.h"

namespace stria::lower_detail {

// Each pair of a piece of `a` and a piece of `b`, as one piece: the points of `a`, then those of
// `b`. If an index of `b` has a name of the piece of `a`, it gets another one.
std::vector<SetPiece> product(const std::vector<SetPiece>& a, const std::vector<SetPiece>& b);

// A statement whose sets fall into more pieces than this is refused: each becomes a kernel.
inline constexpr size_t kMaxPieces = 1000;

// out_of_range if the product of the counts is larger. Products multiply, so this is asked first.
Status check_piece_count(const std::vector<size_t>& counts);

}  // namespace stria::lower_detail
