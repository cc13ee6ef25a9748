// SPDX-License-Identifier: Apache-2.0
// The analysis of `schedule`: which tensors of a list of kernels may be copied into a scratchpad,
// and how the kernels use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stria/pass/pass_context.h"
#include "stria/passes/staging/schedule.h"
#include "stria/stripe/block.h"
#include "stria/stripe/walk.h"

namespace stria::passes {

struct ScratchpadUse {
  size_t kernel = 0;
  bool reads = false, writes = false;
  bool covers = false;  // writes every element and reads none
  bool staged = false;  // the kernel itself copies the parts that it works on in and out
  // Does the content before the kernel matter?
  bool needs_content() const { return reads || !covers; }
};

struct ScratchpadTensor {
  std::string name;
  int64_t bytes = 0;             // of its copy in the scratchpad
  std::optional<size_t> buffer;  // for a kernel's own buffer, its number; it has one use
  int64_t bank = -1;             // the bank in which it must lie; -1: any
  std::vector<ScratchpadUse> uses;
  bool has_content = false;  // global memory has its content before the first use
  bool is_result = false;    // it is visible outside of the block
  size_t whole_at = 0;       // if it has no content: the kernel that completes it
};

// The tensors of `block`, which stands at `place`, in the order of its refinements. Those that must
// stay in global memory are counted with the reason.
std::vector<ScratchpadTensor> choose_tensors(const stripe::Block& block, const stripe::Place& place,
                                             const ScheduleOptions& options, PassContext& context);

}  // namespace stria::passes
