// SPDX-License-Identifier: Apache-2.0
// What a pass has found out about one kernel holds for all that are the same but for their names: a
// network has many of them, and what needs the verifier or a search is asked once.
#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>

#include "stria/stripe/block.h"

namespace stria::passes {

// The block with its refinements and scalars numbered in the order in which they occur and without
// names of blocks and comments; indices keep their names. Equal results: the blocks differ in names
// alone, one to one.
stripe::Block nameless(stripe::Block block);

// Equal for equal blocks.
size_t shape_hash(const stripe::Block& block);

// Findings by nameless kernel. A finding must not hold a name of what is numbered.
template <typename Finding>
class KernelMemo {
 public:
  // What is known of `kernel`, which is nameless; what `find` gives if it is the first of its kind.
  // Stays where it is.
  const Finding& of(stripe::Block kernel, const std::function<Finding()>& find) {
    const size_t hash = shape_hash(kernel);
    auto [at, end] = known_.equal_range(hash);
    for (; at != end; ++at)
      if (at->second.first == kernel) return at->second.second;
    return known_.emplace(hash, std::pair(std::move(kernel), find()))->second.second;
  }

 private:
  std::unordered_multimap<size_t, std::pair<stripe::Block, Finding>> known_;
};

}  // namespace stria::passes
