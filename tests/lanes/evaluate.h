// SPDX-License-Identifier: Apache-2.0
// Values of the kernel tree's expressions, by the builtins' reference functions. What the tree
// promises to emitters (core/semtree/tree/tree.h) is asked for: types that agree, no zero divisor,
// no shift count beyond the width, no arithmetic on fp16 and bf16.
#pragma once

#include <vector>

#include "stria/base/status.h"
#include "stria/semtree/tree/tree.h"

namespace stria::lanes {

// What one lane of a variable holds, or one element of memory. Poison: nothing was ever written
// there, or it was computed from such a value.
struct Value {
  Scalar scalar;
  bool poison = true;
};

// Evaluates the expressions of one function, which must outlive it. For one thread.
class Evaluator {
 public:
  explicit Evaluator(const semtree::Function& function);

  // Values that one lane of a group needs for all its variables.
  size_t variable_values() const { return variable_values_; }
  // Where those of a variable lie among them.
  size_t position(int var) const { return positions_[static_cast<size_t>(var)]; }

  // `variables` are one lane's; as many values as the expression has lanes go to `out`. Poison
  // comes out of poison, except from the arm of a selection that is not taken. invalid_argument if
  // the expression breaks a promise of the tree; `out` then holds anything.
  Status evaluate(const semtree::Expr& expr, const Value* variables, Value* out);

 private:
  void compute(const semtree::Expr& expr, const Value* variables, Value* out);
  void operate(const semtree::Expr& expr, const Value* const* operands, Value* out);
  Scalar apply(semtree::Op op, DataType type, const Scalar* x);
  Value* take(size_t count);
  template <typename... Args>
  void fail(fmt::format_string<Args...> text, Args&&... args) {
    if (fault_.ok()) fault_ = invalid_argument(text, std::forward<Args>(args)...);
  }

  std::vector<size_t> positions_;
  size_t variable_values_ = 0;
  std::vector<Value> scratch_;  // operands that are being computed, innermost last
  size_t taken_ = 0;
  Status fault_;
};

}  // namespace stria::lanes
