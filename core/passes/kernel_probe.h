// SPDX-License-Identifier: Apache-2.0
// A program of one kernel alone, to try a change of it against the rules of the IR.
#pragma once

#include <optional>

#include "stria/stripe/block.h"

namespace stria::passes {

class KernelProbe {
 public:
  // Of the program around `section` (#main or #prologue), whose statements are left out.
  KernelProbe(const stripe::Program& program, const stripe::Block& section);

  // How many rules cannot be decided of the kernel; nothing if it breaks one.
  std::optional<size_t> undecided(const stripe::Block& kernel);

 private:
  stripe::Program program_;
};

}  // namespace stria::passes
