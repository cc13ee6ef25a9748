// SPDX-License-Identifier: Apache-2.0
// Arithmetic on values with error bounds. Each operation has an fp64 value, and a bound on how much
// the result of a conforming device may differ from it. check.h has the formulas.
#pragma once

#include <cmath>
#include <cstdint>

#include "stria/builtins/builtin.h"
#include "stria/interp/memory.h"
#include "stria/type/flushed_types.h"
#include "stria/type/scalar.h"

namespace stria::interp {

// The largest finite number of float `type`.
double largest(DataType type);
// k u / (1 - k u) for the unit roundoff u of float `type`; infinite from k u = 1 on.
double gamma(DataType type, int64_t k);

// In all of these, `flushed` are the types whose subnormal numbers the device may take for zero
// (rule M23): bounds grow where an operand or a result may be subnormal.

// Converts x, whose typed value is `from`, to `to`; the typed conversion gave `converted`.
Bounded convert_bounded(const Scalar& from, const Bounded& x, DataType to, const Scalar& converted,
                        FlushedTypes flushed);

// The builtin in op_type, on operands that are already converted; `typed` is the typed result.
Bounded call_bounded(const Builtin& builtin, DataType op_type, const Scalar* operands,
                     const Bounded* x, const Scalar& typed, FlushedTypes flushed);

// The same for a row of add, sub or mul in fp32 or fp64. Element k of operand a is a[k * a_stride];
// `typed` are the typed results, as float or double. False: it is not one of these.
bool arithmetic_bounded(const Builtin& builtin, DataType type, const Bounded* a, int a_stride,
                        const Bounded* b, int b_stride, const void* typed, int64_t n,
                        FlushedTypes flushed, Bounded* out);

// A running sum: takes a term; its total.
inline void add_term(Aggregating::Sum& sum, const Bounded& term) {
  sum.value += term.value;
  sum.magnitude += std::fabs(term.value);
  sum.bound += term.bound;
  sum.undecided |= term.undecided;
  ++sum.terms;
}
Bounded total(const Aggregating::Sum& sum, DataType type, FlushedTypes flushed);

}  // namespace stria::interp
