// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/locate_block.h"

#include "stria/pass/select_blocks.h"
#include "stria/passes/located_unit.h"

namespace stria::passes {

void describe(LocateBlockOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags that a block must have");
  fields.add("loc", options.loc, "units of the hardware model, outermost first");
}

Status locate_block(stripe::Program& program, const LocateBlockOptions& options,
                    PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::run, "/loc", options.loc));
  return for_each_selected(program, options.reqs, [&](stripe::Block& block, const TensorNames&) {
    context.matched();
    if (block.location != options.loc) {
      block.location = options.loc;
      context.changed();
    }
    return Status();
  });
}

}  // namespace stria::passes
