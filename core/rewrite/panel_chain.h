// SPDX-License-Identifier: Apache-2.0
// Which inputs of a block could be read from panels: copies in which one dimension is cut into
// parts, and each part holds all other dimensions. `autotile` asks this before it decides by cost,
// and `pack_panels` makes the copies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// The chain of views from a section's tensor to a block that reads it.
struct PanelChain {
  const stripe::Refinement* tensor = nullptr;    // in the section
  std::vector<const stripe::Refinement*> views;  // from the kernel inward to the block
  size_t dim = 0;         // the dimension along which the block's index walks with step 1
  int64_t multiple = 0;   // the views around begin at multiples of it; 0: they begin at 0
  bool is_const = false;  // the tensor is the same in many runs of the kernel
};

// `path` leads from the entry block over a section (#prologue or #main) and one of its kernels
// inward to the block, which reads the tensor under `name` and has `index`. nullopt if the kernel
// writes the tensor, so that a copy would hold other values; if not the index alone moves the
// block's view along one dimension; if scalars choose what is read; or if other blocks or specials
// read the same view. The pointers are into the blocks of `path`.
std::optional<PanelChain> panel_chain(const std::vector<const stripe::Block*>& path,
                                      const std::string& name, const std::string& index);

// The path for panel_chain(); empty if `block` is in no kernel of a section.
std::vector<const stripe::Block*> path_to(const stripe::Program& program,
                                          const stripe::Block& block);

}  // namespace stria::passes
