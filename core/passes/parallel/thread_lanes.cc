// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/thread_lanes.h"

#include <bit>

#include "stria/pass/machine_option.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/parallel/lane_group.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/tags.h"

namespace stria::passes {

using stripe::Block;

void describe(ThreadLanesOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block inside a kernel, or the kernel, must have");
  fields.unit("unit", options.unit, "execution unit of a lane");
  fields.add("group_lanes", options.group_lanes,
             "lanes of a group, a power of two; a block's tag #group_lanes overrides it; 0 = the "
             "calibration of `group` says",
             {0, 1 << 20});
  fields.formerly("threads");
  fields.unit("group", options.group, "execution unit of a group, for blocks without a location");
  fields.unit("registers", options.registers, "memory unit that each lane has of its own");
  fields.word("subgroup", options.subgroup,
              "execution unit of lanes in step; blocks located there stay as they are");
  fields.add("access_bytes", options.access_bytes,
             "bytes of one access that neighbouring lanes should share; 0 = the calibration of "
             "`group` says",
             {0, 1 << 20});
  fields.add("run_bytes", options.run_bytes,
             "contiguous bytes in registers that one lane takes, so that it loads vectors of what "
             "it reads, and of rows that it copies; 0 = single elements",
             {0, 1 << 10});
  fields.add("pairs", options.pairs,
             "neighbouring lanes, a power of two, that differ in the second index of what they "
             "hold, if they load vectors along both: a local memory may read only once what two "
             "neighbours want; 1 = lanes of the first index come first",
             {1, 32});
  fields.set_tags("inner_set", options.inner_set, "tags of the work of one lane in a block");
}

Status thread_lanes(stripe::Program& program, const ThreadLanesOptions& given,
                    PassContext& context) {
  ThreadLanesOptions options = given;
  const GroupFacts& facts = context.model().group_facts(given.group);
  options.group_lanes = or_machines_power(given.group_lanes, facts.group_lanes);
  options.access_bytes = or_machines(given.access_bytes, facts.transaction_bytes);
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  if (!std::has_single_bit(static_cast<uint64_t>(options.group_lanes)))
    return invalid_argument("/group_lanes: {} is no power of two", options.group_lanes);
  if (!std::has_single_bit(static_cast<uint64_t>(options.pairs)))
    return invalid_argument("/pairs: {} is no power of two", options.pairs);
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/group", options.group));
  STRIA_RETURN_IF_ERROR(
      check_unit(context.model(), UnitUse::hold, "/registers", options.registers));
  const GroupLanes lanes = {options.group_lanes, options.group,    options.unit,
                            options.registers,   options.subgroup, options.access_bytes,
                            options.run_bytes,   options.pairs,    options.inner_set};
  PlaceNames names;
  for_each_selected_place(program, options.reqs, [&](Block& block, const stripe::Place& place) {
    context.matched();
    Refusal refusal = Refusal::none();
    if (place.depth < 2) refusal = "it is no part of a kernel";
    for (const stripe::Place* at = place.parent; at; at = at->parent) {
      if (!at->block->location.empty()) refusal = "a block around has its unit";
      if (at->block->tags.has(stripe::tag::kParallel)) refusal = "a block around is parallel";
    }
    GroupLanes own = lanes;
    own.group_lanes = block.tags.integer(stripe::tag::kGroupLanes).value_or(lanes.group_lanes);
    if (!refusal) refusal = lane_group(block, names, place, own, context);
    if (refusal) {
      context.skipped(block.name, refusal.reason());
    } else {
      context.count("groups_threaded");
      context.changed();
    }
  });
  return Status();
}

}  // namespace stria::passes
