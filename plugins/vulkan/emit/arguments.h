// SPDX-License-Identifier: Apache-2.0
// What one kernel is pushed: the addresses of its tensors, and its base group (program.h).
#pragma once

#include <cstdint>
#include <vector>

#include "emit/features.h"
#include "emit/module.h"
#include "emit/program.h"
#include "emit/values.h"

namespace stria::vulkan {

class Arguments {
 public:
  // Declares them, and loads the addresses in the function that the module is writing.
  Arguments(Module& module, Values& values, const KernelCode& kernel, const Features& features);

  // Of each tensor: a number, or a pair of words where the device has no integers of 64 bits.
  const std::vector<Id>& addresses() const { return addresses_; }
  // A word of the base group, of a kernel that takes one. Loads it.
  Id base_group(uint32_t dim);

 private:
  Id load_pushed(Id type, uint32_t member);

  Module& module_;
  Values& values_;
  Id pushed_ = 0;             // all push constants
  uint32_t base_member_ = 0;  // of them, base_group(0)
  std::vector<Id> addresses_;
};

}  // namespace stria::vulkan
