// SPDX-License-Identifier: Apache-2.0
// Which inputs of a block could be read from a copy in panels: one dimension cut into parts of some
// elements, each part with all other dimensions together. What `autotile` asks before it has a cost
// decide, and what `pack_panels` does then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// The way from a section's tensor to a block that reads it.
struct PanelChain {
  const stripe::Refinement* tensor = nullptr;    // the section's
  std::vector<const stripe::Refinement*> views;  // in the kernel, then inward, in the block last
  size_t dim = 0;        // that the block's index walks along, one element a step
  int64_t multiple = 0;  // the views around begin at multiples of it; 0: they begin where all begin
  bool is_const = false;  // the tensor is the same in many runs of the kernel
};

// `path`: the entry block, a section (#prologue or #main), one of its kernels and so on inward to
// the block, which reads the tensor under `name` and has `index`. nullopt if the copy would hold
// other values than the tensor (the kernel writes it), if the index is not all that moves the
// block's view along one dimension, if scalars choose what is read, or if other blocks or specials
// read the same view. Pointers into `path`'s blocks.
std::optional<PanelChain> panel_chain(const std::vector<const stripe::Block*>& path,
                                      const std::string& name, const std::string& index);

// The path that panel_chain() asks for; empty if `block` is in no kernel of a section.
std::vector<const stripe::Block*> path_to(const stripe::Program& program,
                                          const stripe::Block& block);

}  // namespace stria::passes
