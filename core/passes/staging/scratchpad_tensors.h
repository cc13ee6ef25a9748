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
  // The kernel itself copies the parts that it works on in and out, or works in global memory.
  bool staged = false;
  // Does the content before the kernel matter?
  bool needs_content() const { return reads || !covers; }
};

struct ScratchpadTensor {
  static constexpr size_t kNever = SIZE_MAX;
  std::string name;
  int64_t bytes = 0;             // of its copy in the scratchpad
  std::optional<size_t> buffer;  // for a kernel's own buffer, its number; it has one use
  int64_t bank = -1;             // the bank in which it must lie; -1: any
  std::vector<ScratchpadUse> uses;
  bool has_content = false;  // global memory has its content before the first use
  bool is_result = false;    // it is visible outside of the block
  // If it has no content: the kernel that completes it; kNever: none is known to. Until then
  // it is never copied as a whole, since that would read what nobody has written.
  size_t whole_at = 0;
  // Until then all kernels work on it as a whole in the scratchpad (`near`), or all of them copy
  // their parts (`parts`), since one that is far cannot see what the others have written near.
  enum class Until { either, near, parts } until_whole = Until::either;
  bool tried_near = false;  // there was no room
  bool is_partial(size_t kernel) const { return !has_content && kernel <= whole_at; }
};

// The tensors of `block`, which stands at `place`, in the order of its refinements. Those that must
// stay in global memory are counted with the reason.
std::vector<ScratchpadTensor> choose_tensors(const stripe::Block& block, const stripe::Place& place,
                                             const ScheduleOptions& options, PassContext& context);

}  // namespace stria::passes
