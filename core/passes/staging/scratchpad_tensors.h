// SPDX-License-Identifier: Apache-2.0
// Which tensors of a list of kernels may be brought into a scratchpad, and what the kernels do
// with them: the analysis of `schedule`.
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
  bool staged = false;  // the kernel brings and takes away the parts that it works on
  // What was there before matters.
  bool needs_content() const { return reads || !covers; }
};

struct ScratchpadTensor {
  std::string name;
  int64_t bytes = 0;             // near
  std::optional<size_t> buffer;  // the number of a kernel's own buffer, which has one use
  int64_t bank = -1;             // where it has to lie; -1: anywhere
  std::vector<ScratchpadUse> uses;
  bool has_content = false;  // far, before the first use
  bool is_result = false;    // somebody outside sees it
  size_t whole_at = 0;       // the kernel after which it is written whole, if it has no content
};

// Those of `block`, which stands at `place`, in the order of its refinements. What has to stay far
// is counted with the reason.
std::vector<ScratchpadTensor> choose_tensors(const stripe::Block& block, const stripe::Place& place,
                                             const ScheduleOptions& options, PassContext& context);

}  // namespace stria::passes
