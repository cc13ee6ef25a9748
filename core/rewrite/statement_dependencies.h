// SPDX-License-Identifier: Apache-2.0
// The fewest dependencies that order all pairs of statements of a block that need an order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stria/stripe/block.h"
#include "stria/stripe/statement_conflicts.h"

namespace stria::passes {

using Dependencies = std::vector<std::vector<int64_t>>;  // by statement, ascending

// `also` has further earlier statements for which each statement must wait, in any order; it has
// one entry for each statement, or is empty. Without any one of the dependencies in the result,
// some pair would have no order.
Dependencies dependencies_of(const stripe::Block& block, stripe::StatementConflicts& conflicts,
                             const std::vector<std::vector<size_t>>& also = {});

// Adds the missing dependencies to each #deps block of a program that was changed. Others stay. If
// a question is undecided within bounds, the statement waits. So a pass may make a statement touch
// more than before, or insert one between others, and need not find out which statements wait for
// it.
void mend_dependencies(stripe::Program& program);

}  // namespace stria::passes
