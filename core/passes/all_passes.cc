// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/all_passes.h"

#include <map>
#include <nlohmann/json.hpp>

#include "stria/base/text.h"
#include "stria/passes/fuse/chain_kernels.h"
#include "stria/passes/fuse/fusion.h"
#include "stria/passes/fuse/inline_producers.h"
#include "stria/passes/fuse/join_pieces.h"
#include "stria/passes/fuse/localize.h"
#include "stria/passes/fuse/merge_views.h"
#include "stria/passes/fuse/reorder_blocks.h"
#include "stria/passes/layout/choose_layouts.h"
#include "stria/passes/layout/order_indices.h"
#include "stria/passes/layout/pack_inputs.h"
#include "stria/passes/layout/pack_panels.h"
#include "stria/passes/layout/pad.h"
#include "stria/passes/layout/swizzle.h"
#include "stria/passes/layout/transpose.h"
#include "stria/passes/locate/locate_block.h"
#include "stria/passes/locate/locate_memory.h"
#include "stria/passes/locate/rewrite_locations.h"
#include "stria/passes/overlap/compute_deps.h"
#include "stria/passes/overlap/delay_stores.h"
#include "stria/passes/overlap/hold_fetches.h"
#include "stria/passes/overlap/pipeline.h"
#include "stria/passes/overlap/prefetch.h"
#include "stria/passes/overlap/stream_stores.h"
#include "stria/passes/parallel/barrier.h"
#include "stria/passes/parallel/distribute.h"
#include "stria/passes/parallel/matrix_units.h"
#include "stria/passes/parallel/owner_computes.h"
#include "stria/passes/parallel/partition_compute.h"
#include "stria/passes/parallel/partition_memory.h"
#include "stria/passes/parallel/rollup.h"
#include "stria/passes/parallel/split_reduction.h"
#include "stria/passes/parallel/thread.h"
#include "stria/passes/parallel/thread_lanes.h"
#include "stria/passes/simplify/agg_init.h"
#include "stria/passes/simplify/common_subexpression.h"
#include "stria/passes/simplify/constant_fold.h"
#include "stria/passes/simplify/constraint_reduction.h"
#include "stria/passes/simplify/dead_code.h"
#include "stria/passes/simplify/inline_blocks.h"
#include "stria/passes/simplify/prune.h"
#include "stria/passes/simplify/scalarize.h"
#include "stria/passes/simplify/split_prologue.h"
#include "stria/passes/staging/cache.h"
#include "stria/passes/staging/group_memory.h"
#include "stria/passes/staging/memory_placement.h"
#include "stria/passes/staging/schedule.h"
#include "stria/passes/staging/stage_units.h"
#include "stria/passes/tile/autotile.h"
#include "stria/passes/tile/block_reduction.h"
#include "stria/passes/tile/matrix_groups.h"
#include "stria/passes/tile/split_interior.h"
#include "stria/passes/tile/stage_operands.h"
#include "stria/passes/tile/tensorize.h"
#include "stria/passes/tile/tile.h"
#include "stria/passes/tile/winograd.h"
#include "stria/passes/vector/drop_tail_masks.h"
#include "stria/passes/vector/legalize_vectors.h"
#include "stria/passes/vector/register_transpose.h"
#include "stria/passes/vector/unroll.h"
#include "stria/passes/vector/vectorize.h"
#include "stria/rewrite/statement_dependencies.h"

namespace stria::passes {

namespace {

// True for passes that compute all dependencies, or that change nothing on which dependencies
// depend.
bool makes_dependencies(const std::string& pass) {
  return pass == "compute_deps" || pass == "memory_placement";
}

// The pass, followed by a repair of dependencies: every #deps block then has those that it needs.
// The repair takes time, so it runs only if the pass changed something.
PassInfo with_dependencies(PassInfo info) {
  if (makes_dependencies(info.name)) return info;
  info.bind = [bind = std::move(info.bind)](
                  const nlohmann::json& options, const std::string& pointer,
                  std::vector<std::string>* notes) -> Result<PassFunction> {
    STRIA_ASSIGN(PassFunction run, bind(options, pointer, notes));
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
  std::vector<PassInfo> out = {
#define STRIA_PASS(name, Options, needs, summary) \
  with_dependencies(make_pass_info<Options>(#name, summary, describe, name, PassNeeds::needs)),
#define STRIA_FORMER_NAME(pass, name, preset)
#define STRIA_FORMER_PART(pass, name, options)
#include "stria/passes/all_passes.def"
#undef STRIA_PASS
#undef STRIA_FORMER_NAME
#undef STRIA_FORMER_PART
  };
  const std::multimap<std::string, FormerPassName> former = {
#define STRIA_PASS(name, Options, needs, summary)
#define STRIA_FORMER_NAME(pass, name, preset) {#pass, {#name, preset}},
#define STRIA_FORMER_PART(pass, name, options) {#pass, {#name, "{}", split(options, ' ')}},
#include "stria/passes/all_passes.def"
#undef STRIA_PASS
#undef STRIA_FORMER_NAME
#undef STRIA_FORMER_PART
  };
  for (PassInfo& pass : out)
    for (auto [at, end] = former.equal_range(pass.name); at != end; ++at)
      pass.former_names.push_back(at->second);
  return out;
}

}  // namespace stria::passes
