// SPDX-License-Identifier: Apache-2.0
// Numbers as unevaluated sums of two floats, about twice as precise, and the operations that lose
// nothing. Private to this folder.
//
// They hold if an emitter contracts products and sums: the products that an error is computed from
// are exact, and where the rounded product itself is used on, its bits pass through an integer
// operation, which no contraction crosses.
#pragma once

#include "stria/semtree/mathematics/function_builder.h"

namespace stria::semtree::mathematics {

// high + low, with low far below high.
struct DoubleWord {
  Value high, low;
};

// The upper half of the significand, so that the product of two such halves is exact. The rest,
// a - upper(a), is exact and no longer.
Value upper(const Value& a);
// a without the last bit of its significand.
Value short_of_last_bit(const Value& a);

// a + b, exactly. `quick`: |a| >= |b| or a = 0.
DoubleWord sum_of(const Value& a, const Value& b);
DoubleWord quick_sum_of(const Value& a, const Value& b);
// a * b, to about twice the precision. No overflow, no subnormal products.
DoubleWord product_of(const Value& a, const Value& b);
// a / b and the root of a, whatever the last bits of div and sqrt are. high has the upper half of
// the bits alone.
DoubleWord quotient_of(const DoubleWord& a, const DoubleWord& b);
DoubleWord root_of(const DoubleWord& a);

}  // namespace stria::semtree::mathematics
