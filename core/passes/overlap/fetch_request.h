// SPDX-License-Identifier: Apache-2.0
// What the three cases of `prefetch` are asked for, and the questions about blocks and views that
// they share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

struct FetchRequest {
  std::vector<std::string> exclude;  // tags of blocks that are left alone
  std::string loop;                  // tag of the loop that prefetches
  // Distance from one point to the next, at least. The hardware fetches what is closer by itself.
  int64_t min_bytes = 0;

  bool excludes(const stripe::Block& block) const;
  // By how many elements the view moves at the next value of the index. 0: not at all, or by less
  // than min_bytes.
  int64_t step(const stripe::Refinement& view, const stripe::Index& index) const;
};

// The indices of the block with several values that are no outer values, the fastest first.
std::vector<const stripe::Index*> loop_indices(const stripe::Block& block);

// Does the block store past the caches to `name`, a refinement of the block around it?
bool is_streamed(const stripe::Block& block, const std::string& name);

}  // namespace stria::passes
