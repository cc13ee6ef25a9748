// SPDX-License-Identifier: Apache-2.0
// Expressions of the kernel tree as ids, one for each lane: a GPU's lanes are scalar inside, and
// only accesses to memory are wide (kernel_memory.h).
#pragma once

#include <unordered_map>
#include <vector>

#include "emit/math_calls.h"
#include "emit/module.h"
#include "emit/values.h"
#include "stria/semtree/tree/tree.h"

namespace stria::vulkan {

using Lanes = std::vector<Id>;

// The variables and expressions of one function of the module.
class Expressions {
 public:
  Expressions(Module& module, Values& values, MathCalls& calls, size_t variables)
      : module_(module), values_(values), calls_(calls), variables_(variables) {}

  void set(int var, Lanes lanes) { variables_[static_cast<size_t>(var)] = std::move(lanes); }
  const Lanes& variable(int var) const { return variables_[static_cast<size_t>(var)]; }

  Lanes value(const semtree::ExprRef& expr);
  // The same for a value that is only stored.
  Lanes value_to_store(const semtree::ExprRef& expr);
  // Of an expression with one lane.
  Id scalar(const semtree::ExprRef& expr) { return value(expr)[0]; }
  // What was computed in a block may be unknown in the next one: to be called between statements.
  void forget() { known_.clear(); }

 private:
  Lanes compute(const semtree::Expr& expr);
  Id reduced(const semtree::Expr& expr, Lanes parts);
  Id one(const semtree::Expr& expr, DataType operand, const std::vector<Id>& x);

  Module& module_;
  Values& values_;
  MathCalls& calls_;
  std::vector<Lanes> variables_;
  std::unordered_map<const semtree::Expr*, Lanes> known_;  // of this statement
};

}  // namespace stria::vulkan
