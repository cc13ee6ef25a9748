// SPDX-License-Identifier: Apache-2.0
// Which elements of a tensor a statement is sure to write, whatever else it does.
#pragma once

#include <string>

#include "stria/base/status.h"
#include "stria/poly/integer_set.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Coordinates d0, d1, … of the refinement `name` of `host`, a block without indices, that its
// statement `stmt` stores to at some point. Stores whose place scalars choose, and specials, count
// as none. unknown if the solver cannot tell within its budget.
Result<IntegerSet> must_write(const stripe::Block& host, const stripe::Statement& stmt,
                              const std::string& name);

// All coordinates of a view of these sizes.
IntegerSet all_elements(const TensorShape& shape);

}  // namespace stria::passes
