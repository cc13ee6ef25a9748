// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/locate/locate_block.h"

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/located_unit.h"

namespace stria::passes {

void locate(stripe::Block& block, const LocateBlockOptions& options, LocationChanges& changes,
            PassContext& context) {
  const stripe::Location& now = block.location;
  if (!options.where.empty() &&
      (now.path.size() != options.where.path.size() || !begins_with(now, options.where)))
    return;
  context.matched();
  changes.set(block.location, placed(now, options.loc, options.append));
}

void describe(LocateBlockOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.add("loc", options.loc, "units of the hardware model, outermost first");
  fields.add("append", options.append, "add them to the location that the block has");
  fields.add("where", options.where,
             "only blocks at this location; a unit without numbers is any of its name, `*` is any "
             "unit");
}

Status locate_block(stripe::Program& program, const LocateBlockOptions& options,
                    PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::run, "/loc", options.loc));
  STRIA_RETURN_IF_ERROR(check_pattern(context.model(), "/where", options.where));
  LocationChanges changes;
  STRIA_RETURN_IF_ERROR(for_each_selected_below_sections(
      program, options.reqs, context, [&](stripe::Block& block, const TensorNames&) {
        locate(block, options, changes, context);
        return Status();
      }));
  return changes.settle(program, context);
}

}  // namespace stria::passes
