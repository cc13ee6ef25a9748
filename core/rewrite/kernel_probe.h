// SPDX-License-Identifier: Apache-2.0
// A program of one kernel alone, to try a change of it against the rules of the IR.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "stria/base/refusal.h"
#include "stria/base/result.h"
#include "stria/pass/model_rules.h"
#include "stria/stripe/block.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::passes {

class KernelProbe {
 public:
  // Of the program around `section` (#main or #prologue), whose statements are left out.
  static Result<KernelProbe> of(const stripe::Program& program, const stripe::Block& section,
                                const HardwareModel& model);

  // How many rules cannot be decided of the kernel; nothing if it breaks one. Of those about
  // accesses the ones in `asked`: who changes a legal kernel asks for what the change can break,
  // and compares with the answer for the kernel as it was.
  std::optional<size_t> undecided(const stripe::Block& kernel,
                                  const stripe::AccessRules& asked = {});

  // The kernel alone, with all that the verifier gets to see of the program around it but no names:
  // kernels with equal forms have equal answers. For KernelMemo.
  stripe::Block form(const stripe::Block& kernel);

  // What that kernel broke, the last one asked about.
  const Refusal& broken() const { return broken_; }

  // Points that the unit may have under way; 0: the model does not say.
  int64_t pipeline_depth(const std::string& unit) const;

 private:
  // Makes the program of the kernel alone.
  void enclose(const stripe::Block& kernel);
  void hand_in(const stripe::Block& kernel, stripe::Refinement& temporary);

  ModelRules rules_;
  stripe::Program program_;
  Refusal broken_ = Refusal::none();
  // The refinements of the entry block and of the section, by name.
  std::map<std::string, stripe::Refinement> entry_, section_;
};

}  // namespace stria::passes
