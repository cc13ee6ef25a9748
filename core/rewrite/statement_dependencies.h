// SPDX-License-Identifier: Apache-2.0
// The fewest dependencies that keep the order of all statements of a block that need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stria/stripe/block.h"
#include "stria/stripe/statement_conflicts.h"

namespace stria::passes {

using Dependencies = std::vector<std::vector<int64_t>>;  // by statement, ascending

// `also`: by statement, earlier ones that it has to wait for besides, in any order; as many as
// there are statements, or none. Without any one of the result some pair would be free.
Dependencies dependencies_of(const stripe::Block& block, stripe::StatementConflicts& conflicts,
                             const std::vector<std::vector<size_t>>& also = {});

// In each #deps block of a program that was changed: what has to wait and does not, waits. Other
// dependencies stay; what is not decided within bounds waits. A pass may make a statement touch
// more than it did, or put one between others, and need not know who waits for it.
void mend_dependencies(stripe::Program& program);

}  // namespace stria::passes
