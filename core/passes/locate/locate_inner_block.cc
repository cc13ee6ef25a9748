// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/locate/locate_inner_block.h"

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/located_unit.h"

namespace stria::passes {
namespace {

void locate_inside(stripe::Block& block, const LocateInnerBlockOptions& options,
                   LocationChanges& changes, PassContext& context) {
  for (stripe::Statement& stmt : block.stmts) {
    stripe::Block* inner = stmt.block();
    if (!inner) continue;
    const bool section = inner->tags.has("main") || inner->tags.has("prologue");
    if (!section && inner->tags.has_all(options.inner_reqs))
      locate(*inner, options.outer, changes, context);
    locate_inside(*inner, options, changes, context);
  }
}

}  // namespace

void describe(LocateInnerBlockOptions& options, OptionFields& fields) {
  describe(options.outer, fields);
  fields.tags("inner_reqs", options.inner_reqs,
              "tags that a block inside must have; none = every one");
}

Status locate_inner_block(stripe::Program& program, const LocateInnerBlockOptions& options,
                          PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::run, "/loc", options.outer.loc));
  STRIA_RETURN_IF_ERROR(check_pattern(context.model(), "/where", options.outer.where));
  LocationChanges changes;
  STRIA_RETURN_IF_ERROR(
      for_each_selected(program, options.outer.reqs, [&](stripe::Block& block, const TensorNames&) {
        locate_inside(block, options, changes, context);
        return Status();
      }));
  return changes.settle(program, context);
}

}  // namespace stria::passes
