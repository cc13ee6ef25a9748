// SPDX-License-Identifier: Apache-2.0
// Arithmetic of values with error bounds: the fp64 value of an operation and how far a conforming
// device's result may be from it. The formulas are those of check.h.
#pragma once

#include <cstdint>

#include "stria/builtins/builtin.h"
#include "stria/interp/memory.h"
#include "stria/type/scalar.h"

namespace stria::interp {

// Distance between neighbouring numbers of float `type` at |value|; below the normal range, there.
double ulp_size(DataType type, double value);
// k u / (1 - k u) for the unit roundoff u of float `type`; infinite from k u = 1 on.
double gamma(DataType type, int64_t k);

// x, whose typed value is `from`, converted to `to`, which gave `converted`.
Bounded convert_bounded(const Scalar& from, const Bounded& x, DataType to, const Scalar& converted);

// name.op_type of operands that are already converted; `typed` is the typed result.
Bounded call_bounded(const Builtin& builtin, DataType op_type, const Scalar* operands,
                     const Bounded* x, const Scalar& typed);

// A running sum, and what becomes of it.
void add_term(Aggregating::Sum& sum, const Bounded& term);
Bounded total(const Aggregating::Sum& sum, DataType type);

}  // namespace stria::interp
