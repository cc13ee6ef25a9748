// SPDX-License-Identifier: Apache-2.0
// Makes one block of two as fusion_plan.h says: the mechanism of `fusion`.
#pragma once

#include <string>
#include <vector>

#include "stria/passes/fuse/fusion_plan.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// What the caller chooses.
struct FusionShape {
  bool local = false;  // the tensor lives inside, at `location`
  stripe::Location location;
  std::vector<std::string> a_inner_set, b_inner_set;  // tags of what is left of the blocks
  std::vector<std::string> inner_remove_set;          // tags that these lose
  bool first_order = false;  // the fused block's loops run in the first block's order
};

struct FusedBlock {
  // For the place of both. Without tags but #kernel, if they are kernels.
  stripe::Block block;
  std::vector<std::string> inside;  // the parent's tensors that live inside now
};

// `a` and `b` are neighbours in `parent`.
FusedBlock fuse_blocks(stripe::Block a, stripe::Block b, const FusionParent& parent,
                       const FusionPlan& plan, const FusionShape& shape);

}  // namespace stria::passes
