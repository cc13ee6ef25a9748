// SPDX-License-Identifier: Apache-2.0
// Must-write: which elements of a tensor a statement writes for certain, whatever the data are.
#pragma once

#include <string>

#include "stria/base/status.h"
#include "stria/poly/integer_set.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// The coordinates d0, d1, … of `name`, a refinement of `host`, to which the host's statement `stmt`
// stores at some point. The host has no indices. Stores to elements that scalars choose do not
// count, and neither do specials. unknown if the solver cannot tell within its budget.
Result<IntegerSet> must_write(const stripe::Block& host, const stripe::Statement& stmt,
                              const std::string& name);

// All coordinates of a view of these sizes.
IntegerSet all_elements(const TensorShape& shape);

}  // namespace stria::passes
