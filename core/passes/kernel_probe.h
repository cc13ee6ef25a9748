// SPDX-License-Identifier: Apache-2.0
// A program of one kernel alone, to try a change of it against the rules of the IR.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "stria/base/result.h"
#include "stria/pass/model_rules.h"
#include "stria/stripe/block.h"

namespace stria::passes {

class KernelProbe {
 public:
  // Of the program around `section` (#main or #prologue), whose statements are left out.
  static Result<KernelProbe> of(const stripe::Program& program, const stripe::Block& section,
                                const HardwareModel& model);

  // How many rules cannot be decided of the kernel; nothing if it breaks one.
  std::optional<size_t> undecided(const stripe::Block& kernel);

  // What that kernel broke, the last one asked about; "" if nothing.
  const std::string& broken() const { return broken_; }

  // Points that the unit may have under way; 0: the model does not say.
  int64_t pipeline_depth(const std::string& unit) const;

 private:
  void hand_in(const stripe::Block& kernel, stripe::Refinement& temporary);

  ModelRules rules_;
  stripe::Program program_;
  std::string broken_;
  // The refinements of the entry block and of the section, by name.
  std::map<std::string, stripe::Refinement> entry_, section_;
};

}  // namespace stria::passes
