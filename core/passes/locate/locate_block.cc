// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/locate/locate_block.h"

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

void locate(stripe::Block& block, const LocateBlockOptions& options, LocationChanges& changes,
            PassContext& context) {
  const stripe::Location& now = block.location;
  if (!options.where.empty() &&
      (now.path.size() != options.where.path.size() || !begins_with(now, options.where)))
    return;
  context.matched();
  changes.set(block.location, placed(now, options.loc, options.append));
}

void locate_inside(stripe::Block& block, const LocateBlockOptions& options,
                   LocationChanges& changes, PassContext& context) {
  for (stripe::Statement& stmt : block.stmts) {
    stripe::Block* inner = stmt.block();
    if (!inner) continue;
    const bool section =
        inner->tags.has(stripe::tag::kMain) || inner->tags.has(stripe::tag::kPrologue);
    if (!section && inner->tags.has_all(options.inner_reqs))
      locate(*inner, options, changes, context);
    locate_inside(*inner, options, changes, context);
  }
}

}  // namespace

void describe(LocateBlockOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.add("loc", options.loc, "units of the hardware model, outermost first");
  fields.add("append", options.append, "add the units to the location that the block has");
  fields.add(
      "where", options.where,
      "only blocks at this location; a unit without numbers matches all its instances, `*` any "
      "unit");
  fields.add("inside", options.inside,
             "locate the blocks inside those that have the tags, not these themselves");
  fields.tags("inner_reqs", options.inner_reqs,
              "inside: tags that such a block must have; none = every one");
}

Status locate_block(stripe::Program& program, const LocateBlockOptions& options,
                    PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::run, "/loc", options.loc));
  STRIA_RETURN_IF_ERROR(check_pattern(context.model(), "/where", options.where));
  if (!options.inside && !options.inner_reqs.empty())
    return invalid_argument("/inner_reqs: are read with 'inside' alone");
  LocationChanges changes;
  if (options.inside) {
    STRIA_RETURN_IF_ERROR(
        for_each_selected(program, options.reqs, [&](stripe::Block& block, const TensorNames&) {
          locate_inside(block, options, changes, context);
          return Status();
        }));
  } else {
    STRIA_RETURN_IF_ERROR(for_each_selected_below_sections(
        program, options.reqs, context, [&](stripe::Block& block, const TensorNames&) {
          locate(block, options, changes, context);
          return Status();
        }));
  }
  return changes.settle(program, context);
}

}  // namespace stria::passes
