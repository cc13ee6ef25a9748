// SPDX-License-Identifier: Apache-2.0
// Instructions that run only if a condition holds.
#pragma once

#include "emit/module.h"

namespace stria::vulkan {

// What is added to the module between the constructor and end() is in the branch.
class Branch {
 public:
  Branch(Module& module, Id condition)
      : module_(module), before_(module.block()), behind_(module.new_id()) {
    const Id inside = module.new_id();
    module.add(spv::Op::OpSelectionMerge, {behind_, 0});
    module.add(spv::Op::OpBranchConditional, {condition, inside, behind_});
    module.label(inside);
  }
  void end() {
    last_ = module_.block();
    module_.add(spv::Op::OpBranch, {behind_});
    module_.label(behind_);
  }
  // Right after end(): `inside` if the condition held, else `otherwise`.
  Id merged(Id type, Id inside, Id otherwise) {
    return module_.add(spv::Op::OpPhi, type, {inside, last_, otherwise, before_});
  }

 private:
  Module& module_;
  Id before_, behind_, last_ = 0;
};

}  // namespace stria::vulkan
