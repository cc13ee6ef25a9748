// SPDX-License-Identifier: Apache-2.0
// The values that a part of a device program (#main or #prologue) computes, in the memories that
// its placement names. Each memory instance is one array of bytes; a tensor of the part is the
// bytes from its offset on. If a wrong schedule has two tensors alive at one place, they destroy
// each other here as they would in the machine.
//
// Statements run in an order that the caller gives, which has to respect their dependencies. A
// kernel's own allocations live while it runs; the interpreter has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/interp/kernel_plan.h"
#include "stria/stripe/block.h"

namespace stria::sim {

class PartValues {
 public:
  // A tensor of the caller: a refinement of the part, in the order of a kernel's arguments.
  struct Argument {
    std::string name;
    stripe::RefDir dir = stripe::RefDir::in;
    int64_t bytes = 0;
  };

  // `part` need not outlive the object. `placed`: offsets are places; otherwise each allocation is
  // an array of its own. invalid_argument: a statement that is neither block nor special, or that
  // names what the part does not have.
  static Result<PartValues> make(const stripe::Block& part, bool placed);

  const std::vector<Argument>& arguments() const { return arguments_; }
  size_t statements() const { return kernels_.size(); }
  // The bytes of each memory instance that a run holds, by name ("SRAM[0]").
  struct Memory {
    std::string name;
    int64_t first = 0, bytes = 0;  // that the part's allocations take, from the lowest offset on
  };
  const std::vector<Memory>& memories() const { return memories_; }

  // `arguments[i]` is element 0 of argument i. `order` names each statement once. Thread-safe: each
  // run has memories of its own. invalid_argument: a tensor of the caller gets a value made of
  // memory that nothing has been written to; the message names the kernel and the element.
  Status run(void* const* arguments, const std::vector<size_t>& order) const;

 private:
  struct Operand {
    bool given = false;  // the caller's
    size_t index = 0;    // of the argument, or of the memory
    int64_t offset = 0;  // bytes in it
  };
  struct Kernel {
    interp::KernelPlan plan;
    std::vector<Operand> operands;
  };
  std::vector<Argument> arguments_;
  std::vector<Memory> memories_;
  std::vector<Kernel> kernels_;
};

}  // namespace stria::sim
