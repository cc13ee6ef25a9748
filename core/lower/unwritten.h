// SPDX-License-Identifier: Apache-2.0
// Which elements of a contraction's output no valid index set writes (rule M4), cut into loop
// nests.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/lower/iteration.h"
#include "stria/poly/integer_set.h"

namespace stria::lower_detail {

// `sizes` are those of the output, each > 0; `names` one name per dimension. Each unwritten element
// is in exactly one piece, once; no piece if everything is written.
Result<std::vector<SetPiece>> unwritten(const Iteration& iteration,
                                        const std::vector<int64_t>& sizes,
                                        const std::vector<std::string>& names);

}  // namespace stria::lower_detail
