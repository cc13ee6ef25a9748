// SPDX-License-Identifier: Apache-2.0
// Cuts a block into tiles of given sizes: what the passes `tile` and `autotile` have in common.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/cost/tile_cost.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/pass/tensor_names.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct CutOptions {
  std::vector<std::string> reqs = {"kernel"};  // tags that a block must have
  std::vector<std::string> exclude;            // tags that it must not have
  std::vector<std::string> outer_set;          // tags added to the outer block
  std::vector<std::string> inner_set;          // tags of the inner block
  bool copy_tags = false;  // the inner block also gets the tags that do not say how a block runs
  bool always = false;     // a block that is one tile gets an outer block of one point
  bool clear_location = false;  // the location goes to the inner block instead of the outer one
  bool skip_1d = false;         // leave blocks of one index alone
  bool interleave = false;      // a tile has every n-th point instead of contiguous points
  // Order of the outer indices. "stride": by falling stride in the tensors read. "reuse": output
  // indices first, and innermost the one that reads the fewest new bytes per step; a cost may
  // choose another one, along the result's memory, if that takes less time.
  std::string order = "keep";
  // Blocks that reduce over fewer points than the first, or over more than the second, are left
  // alone; 0 = no such limit.
  int64_t min_reduction = 0;
  int64_t max_reduction = 0;
};
void describe_cut(CutOptions& options, OptionFields& fields);

// The options leave the block alone, or its points do not commute.
Refusal why_left_alone(const stripe::Block& block, const TensorNames& around,
                       const CutOptions& options);

// Cuts the block and tags both parts. An index without a size stays whole. If one tile is the whole
// block, no outer block is made, and the block gets both sets of tags. Returns whether one was.
bool cut_tile(stripe::Block& block, const std::map<std::string, int64_t>& sizes,
              const cost::TileMarks& marks, const CutOptions& options);
// The same, and tells the pass's report.
void cut_tile(stripe::Block& block, const std::map<std::string, int64_t>& sizes,
              const cost::TileMarks& marks, const CutOptions& options, PassContext& context);

}  // namespace stria::passes
