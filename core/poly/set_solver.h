// SPDX-License-Identifier: Apache-2.0
// The questions about integer sets that intervals do not answer. Only this room's sources include
// this: it is where the solver library is hidden. Each call makes a solver context of its own
// (under a microsecond), so calls are independent, thread-safe, and each has the whole operation
// budget.
#pragma once

#include "stria/poly/integer_set.h"

namespace stria {

class SetSolver {
 public:
  static Result<bool> is_empty(const IntegerSet& set);
  // `set` must not be empty.
  static Result<Bounds> bounds(const IntegerSet& set, const Affine& form);
  static Result<bool> is_subset(const IntegerSet& a, const IntegerSet& b);
  static Result<IntegerSet> subtract(const IntegerSet& a, const IntegerSet& b);
  // The same points in fewer parts, constraints and existentials.
  static Result<IntegerSet> simplify(const IntegerSet& set);
  // The same points in disjoint parts, where all equalities are explicit and every existential has
  // one value for each point.
  static Result<IntegerSet> disjoint(const IntegerSet& set);

 private:
  class Context;
};

}  // namespace stria
