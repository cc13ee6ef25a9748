// SPDX-License-Identifier: Apache-2.0
// Checks a change of one kernel against the rules of the IR, in a program that holds only this
// kernel.
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
  // For kernels of `section` (#main or #prologue) of the program.
  static Result<KernelProbe> of(const stripe::Program& program, const stripe::Block& section,
                                const HardwareModel& model);

  // How many rules cannot be decided for the kernel; nullopt if it breaks one. Of the rules about
  // accesses only those in `asked` are checked. A pass that changes a legal kernel asks for the
  // rules that the change can break, and compares the answer with that for the old kernel.
  std::optional<size_t> undecided(const stripe::Block& kernel,
                                  const stripe::AccessRules& asked = {});

  // The canonical form of the kernel together with what the verifier sees of the program around it.
  // Kernels with equal forms have equal answers. For KernelMemo.
  stripe::Block form(const stripe::Block& kernel);

  // Which rule the kernel of the last question broke.
  const Refusal& broken() const { return broken_; }

  // How many points an instance of the unit may have under way; 0: the model does not say.
  int64_t pipeline_depth(const std::string& unit) const;
  // Over how many instances the points of a block there are spread: all of them if the location has
  // no number.
  int64_t instances(const stripe::LocationUnit& unit) const;

 private:
  // Makes a program that holds only the kernel.
  void enclose(const stripe::Block& kernel);
  void hand_in(const stripe::Block& kernel, stripe::Refinement& temporary);

  ModelRules rules_;
  stripe::Program program_;
  Refusal broken_ = Refusal::none();
  // The refinements of the entry block and those of the section, by name.
  std::map<std::string, stripe::Refinement> entry_, section_;
};

}  // namespace stria::passes
