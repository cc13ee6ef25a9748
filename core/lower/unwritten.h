// SPDX-License-Identifier: Apache-2.0
// Which elements of a contraction's output no valid index set writes (rule M4), cut into loop
// nests.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/lower/iteration.h"
#include "stria/lower/joined_pieces.h"
#include "stria/poly/integer_set.h"

namespace stria::lower_detail {

// `sizes` are those of the output, each > 0; `names` has one name per dimension. Each unwritten
// element is in exactly one piece; no piece if everything is written.
Result<std::vector<SetPiece>> unwritten(const Iteration& iteration,
                                        const std::vector<int64_t>& sizes,
                                        const std::vector<std::string>& names);

// The same for a contraction that writes the elements of a box, without the solver.
std::vector<SetPiece> unwritten(const Box& written, const std::vector<int64_t>& sizes,
                                const std::vector<std::string>& names);

// The elements of a box, with an index for each dimension that needs one.
SetPiece piece_of(const Box& box, const std::vector<std::string>& names);

}  // namespace stria::lower_detail
