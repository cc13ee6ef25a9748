// SPDX-License-Identifier: Apache-2.0
// One kernel, made ready once and run many times on raw pointers: what a plugin needs to build on
// the interpreter. A kernel is one statement of #main or #prologue.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/interp/interpret.h"
#include "stria/stripe/block.h"

namespace stria::interp {

struct Plan;

class KernelPlan {
 public:
  // `section` is a program's main or prologue; `statement` counts its statements. It need not
  // outlive the plan. invalid_argument: no such statement, or it names what is not there.
  static Result<KernelPlan> make(const stripe::Block& section, size_t statement);

  // In the order of the kernel's arguments: `out` and `inout` refinements in printed order, then
  // `in` ones. `shape` and `name` are those of the section's refinement: the whole tensor.
  struct Argument {
    std::string name;
    TensorShape shape;
    stripe::RefDir dir = stripe::RefDir::in;
  };
  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::string& name() const { return name_; }

  // `arguments[i]` points to the element of all-zero coordinates of argument i, aligned to the
  // element size. Outputs may not overlap inputs except where the kernel's elements allow it.
  // Thread-safe: any number of runs at once.
  Status run(void* const* arguments, const InterpOptions& options = {}) const;

  // The same, if not all of the memory has been written. `written[i]` has a byte for each byte of
  // argument i, at the same distance from its pointer as that byte has from `arguments[i]`: 0 if
  // nothing was ever written there, else 1. The run reads these bytes, and updates them. What is
  // read elsewhere is poison. It may be stored to such an argument, and then counts as not written.
  // Null: an argument of the caller, all of it written; poison stored to it is invalid_argument.
  Status run(void* const* arguments, unsigned char* const* written,
             const InterpOptions& options = {}) const;

 private:
  std::shared_ptr<const Plan> plan_;
  std::vector<Argument> arguments_;
  std::string name_;
};

}  // namespace stria::interp
