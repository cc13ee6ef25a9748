// SPDX-License-Identifier: Apache-2.0
// The values that aggregations start from.
#pragma once

#include "stria/stripe/block.h"
#include "stria/type/scalar.h"

namespace stria::stripe {

// The value x of agg.type with op(x, y) = y for every y: 0, 1, lowest or highest (infinite for
// floats). Thread-safe.
Scalar identity_of(const Aggregation& agg);

}  // namespace stria::stripe
