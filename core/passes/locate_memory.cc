// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/locate_memory.h"

#include "stria/pass/select_blocks.h"
#include "stria/passes/located_unit.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Refinement;

// Sets the views of `name` in the blocks inside `block`.
void locate_views(Block& block, const std::string& name, const stripe::Location& loc) {
  for (stripe::Statement& stmt : block.stmts) {
    Block* inner = stmt.block();
    if (!inner) continue;
    for (Refinement& ref : inner->refs) {
      if (ref.from != name) continue;
      ref.location = loc;
      locate_views(*inner, ref.into, loc);
    }
  }
}

}  // namespace

void describe(LocateMemoryOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags that a block must have");
  fields.add("ref_reqs", options.ref_reqs, "tags that a refinement must have");
  fields.add("loc", options.loc, "memory units of the hardware model, outermost first");
}

Status locate_memory(stripe::Program& program, const LocateMemoryOptions& options,
                     PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::hold, "/loc", options.loc));
  return for_each_selected(program, options.reqs, [&](Block& block, const TensorNames&) {
    for (Refinement& ref : block.refs) {
      if (!ref.tags.has_all(options.ref_reqs)) continue;
      context.matched();
      if (!ref.location.empty()) continue;
      ref.location = options.loc;
      locate_views(block, ref.into, options.loc);
      context.changed();
    }
    return Status();
  });
}

}  // namespace stria::passes
