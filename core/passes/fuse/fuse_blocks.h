// SPDX-License-Identifier: Apache-2.0
// The rewrite of `fusion`: makes one block of two, as a FusionPlan says.
#pragma once

#include <string>
#include <vector>

#include "stria/passes/fuse/fusion_plan.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// What the caller chooses.
struct FusionShape {
  bool local = false;  // the tensor becomes an allocation of the fused block, at `location`
  stripe::Location location;
  // Tags of the parts of both in the fused block.
  std::vector<std::string> a_inner_set, b_inner_set;
  std::vector<std::string> inner_remove_set;  // tags that these parts lose
  bool first_order = false;  // the fused block's loops run in the first block's order
};

struct FusedBlock {
  // Replaces both. Its only tags are #kernel, if one of them is a kernel, and #group_lanes.
  stripe::Block block;
  std::vector<std::string> inside;  // the parent's tensors that the block allocates now
};

// `a` and `b` are neighbours in `parent`.
FusedBlock fuse_blocks(stripe::Block a, stripe::Block b, const FusionParent& parent,
                       const FusionPlan& plan, const FusionShape& shape);

}  // namespace stria::passes
