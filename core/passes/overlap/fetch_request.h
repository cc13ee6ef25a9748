// SPDX-License-Identifier: Apache-2.0
// What the three cases of `prefetch` are told, and the questions that they ask of blocks and views
// alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

struct FetchRequest {
  std::vector<std::string> exclude;  // tags of blocks that are left alone
  std::string loop;                  // tag of the loop that asks
  int64_t min_bytes = 0;             // from one point to the next: what is nearer comes unasked

  bool excludes(const stripe::Block& block) const;
  // How many elements further on the view lies at the next value of the index. 0: it stays where it
  // is, or it is nearer than min_bytes.
  int64_t step(const stripe::Refinement& view, const stripe::Index& index) const;
};

// The indices of the block that run through several points, the fastest first.
std::vector<const stripe::Index*> loop_indices(const stripe::Block& block);

// Is something stored past the caches in the block, through a view of `name` of the block around
// it?
bool is_streamed(const stripe::Block& block, const std::string& name);

}  // namespace stria::passes
