// SPDX-License-Identifier: Apache-2.0
// Statements of the kernel tree as blocks of instructions, in the structured form that Vulkan
// demands.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "emit/expressions.h"
#include "emit/kernel_memory.h"
#include "emit/matrices.h"
#include "emit/module.h"
#include "emit/values.h"
#include "stria/semtree/tree/tree.h"

namespace stria::vulkan {

// The statements of one function of the module.
class Statements {
 public:
  // `memory`, `matrices`: null for a function that touches none.
  Statements(Module& module, Values& values, Expressions& expressions, KernelMemory* memory,
             Matrices* matrices, const std::vector<semtree::Variable>& variables)
      : module_(module),
        values_(values),
        expressions_(expressions),
        memory_(memory),
        matrices_(matrices),
        variables_(variables) {}

  // All of the function's.
  void add_all(const semtree::Body& body);

 private:
  void add(const semtree::Body& body);
  void add(const semtree::Load& load);
  void add(const semtree::Store& store);
  void add(const semtree::For& loop);
  void add(const semtree::ElementLoop& loop);
  // Runs `body` with each number from `lower` up to the one before `upper`.
  void loop(DataType type, Id lower, Id upper, bool unroll, const std::function<void(Id)>& body);
  void add(const semtree::If& branch);
  // `parameters`: it orders tensors, too.
  void add_barrier(spv::Scope of, bool parameters);
  DataType type_of(int var) const { return variables_[static_cast<size_t>(var)].type.scalar; }

  Module& module_;
  Values& values_;
  Expressions& expressions_;
  KernelMemory* memory_;
  Matrices* matrices_;
  const std::vector<semtree::Variable>& variables_;
  std::set<int> computed_with_;  // variables that are more than stored
  Id element_ = 0;               // of matrices, in a loop over their elements
};

}  // namespace stria::vulkan
