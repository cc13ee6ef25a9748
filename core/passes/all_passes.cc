// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/all_passes.h"

#include <nlohmann/json.hpp>

#include "stria/passes/agg_init.h"
#include "stria/passes/autotile.h"
#include "stria/passes/barrier.h"
#include "stria/passes/block_reduction.h"
#include "stria/passes/cache.h"
#include "stria/passes/choose_layouts.h"
#include "stria/passes/common_subexpression.h"
#include "stria/passes/compute_deps.h"
#include "stria/passes/constant_fold.h"
#include "stria/passes/constraint_reduction.h"
#include "stria/passes/cut_lanes.h"
#include "stria/passes/dead_code.h"
#include "stria/passes/delay_stores.h"
#include "stria/passes/distribute.h"
#include "stria/passes/free_lanes.h"
#include "stria/passes/fusion.h"
#include "stria/passes/inline_blocks.h"
#include "stria/passes/inline_producers.h"
#include "stria/passes/join_pieces.h"
#include "stria/passes/localize.h"
#include "stria/passes/locate_block.h"
#include "stria/passes/locate_inner_block.h"
#include "stria/passes/locate_memory.h"
#include "stria/passes/memory_placement.h"
#include "stria/passes/merge_views.h"
#include "stria/passes/near_units.h"
#include "stria/passes/order_indices.h"
#include "stria/passes/own_rows.h"
#include "stria/passes/pack_inputs.h"
#include "stria/passes/pack_panels.h"
#include "stria/passes/pad.h"
#include "stria/passes/partition_compute.h"
#include "stria/passes/partition_memory.h"
#include "stria/passes/pipeline.h"
#include "stria/passes/prefetch_block.h"
#include "stria/passes/prefetch_next.h"
#include "stria/passes/prefetch_tile.h"
#include "stria/passes/prune.h"
#include "stria/passes/reorder_blocks.h"
#include "stria/passes/rewrite_locations.h"
#include "stria/passes/rollup.h"
#include "stria/passes/scalarize.h"
#include "stria/passes/schedule.h"
#include "stria/passes/split_interior.h"
#include "stria/passes/split_prologue.h"
#include "stria/passes/split_reduction.h"
#include "stria/passes/statement_dependencies.h"
#include "stria/passes/stream_stores.h"
#include "stria/passes/swizzle.h"
#include "stria/passes/tensorize.h"
#include "stria/passes/thread.h"
#include "stria/passes/transpose.h"
#include "stria/passes/turn_lanes.h"
#include "stria/passes/unroll.h"
#include "stria/passes/vectorize.h"
#include "stria/passes/winograd.h"

namespace stria::passes {

namespace {

// These make all dependencies, or change none of what decides them.
bool makes_dependencies(const std::string& pass) {
  return pass == "compute_deps" || pass == "memory_placement";
}

// A pass after which every #deps block has the dependencies that it needs, as before it. To find
// them again is the work of compute_deps, so only a pass that changed something asks for it.
PassInfo with_dependencies(PassInfo info) {
  if (makes_dependencies(info.name)) return info;
  info.bind = [bind = std::move(info.bind)](const nlohmann::json& options,
                                            const std::string& pointer) -> Result<PassFunction> {
    STRIA_ASSIGN(PassFunction run, bind(options, pointer));
    return PassFunction([run = std::move(run)](stripe::Program& program, PassContext& context) {
      const int64_t before = context.report().changed;
      STRIA_RETURN_IF_ERROR(run(program, context));
      if (context.report().changed != before) mend_dependencies(program);
      return Status();
    });
  };
  return info;
}

}  // namespace

std::vector<PassInfo> all_passes() {
  return {
#define STRIA_PASS(name, Options, needs, summary) \
  with_dependencies(                                       \
      make_pass_info<Options>(#name, summary, describe, name, PassNeeds::needs)),
#include "stria/passes/all_passes.def"
#undef STRIA_PASS
  };
}

}  // namespace stria::passes
