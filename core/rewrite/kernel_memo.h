// SPDX-License-Identifier: Apache-2.0
// Shares findings about kernels. What a pass has found out about one kernel holds for all that
// differ from it in names alone. A network has many of these, so a question that needs the verifier
// or a search is asked only once.
#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>

#include "stria/stripe/block.h"

namespace stria::passes {

// The canonical form of a block: its refinements and scalars are numbered in the order in which
// they occur, and names and comments of blocks are removed. Indices keep their names. If two
// results are equal, the blocks differ in names alone.
stripe::Block nameless(stripe::Block block);

// A hash that is equal for equal blocks.
size_t shape_hash(const stripe::Block& block);

// Findings by canonical form. A finding must not hold a name of what is numbered.
template <typename Finding>
class KernelMemo {
 public:
  // The finding about `kernel`, which is in canonical form. If it is the first of its kind, `find`
  // makes the finding. The reference stays valid.
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
