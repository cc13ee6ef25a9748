// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/autotile.h"

#include "stria/base/text.h"
#include "stria/pass/select_blocks.h"

namespace stria::passes {
namespace {

using stripe::Block;

Status leave_whole(Block& block, const AutotileOptions& options, const std::string& reason,
                   PassContext& context) {
  const std::string name = block.name.empty() ? "" : fmt::format(" '{}'", block.name);
  if (options.fail_outer_set.empty() && options.fail_inner_set.empty())
    return make_error(StatusCode::out_of_range, "block{}: {}", name, reason);
  block.tags.set_all(options.fail_inner_set);
  block.tags.set_all(options.fail_outer_set);
  context.count("blocks_that_do_not_fit");
  context.note(fmt::format("{}: {}", block.name.empty() ? "block" : block.name, reason));
  context.changed();
  return {};
}

}  // namespace

void describe(AutotileOptions& options, OptionFields& fields) {
  describe_cut(options.cut, fields);
  fields.set_tags("fail_outer_set", options.fail_outer_set,
                  "tags of a block of which no tile fits; without such tags, that is an error");
  fields.set_tags("fail_inner_set", options.fail_inner_set, "more tags of such a block");
  describe_choice(options.choice, fields);
}

Status autotile(stripe::Program& program, const AutotileOptions& options, PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_not_excluded("/reqs", options.cut.reqs, options.cut.exclude));
  STRIA_RETURN_IF_ERROR(check_choice(options.choice, context));
  TileMemo memo;
  return for_each_selected_below_sections(
      program, options.cut.reqs, context, [&](Block& block, const TensorNames& around) -> Status {
        context.matched();
        if (const Refusal refusal = why_left_alone(block, around, options.cut)) {
          context.skipped(block.name, refusal.reason());
          return {};
        }
        STRIA_ASSIGN(const TileChoice choice, choose_tile(program, block, options.choice, context,
                                                          memo, [&](const TileChoice& candidate) {
                                                            Block copy = block;
                                                            cut_tile(copy, candidate.sizes,
                                                                     candidate.marks, options.cut);
                                                            return copy;
                                                          }));
        if (!choice.fits) return leave_whole(block, options, choice.refusal.reason(), context);
        if (choice.refusal)
          context.skipped(block.name, choice.refusal.reason());
        else
          cut_tile(block, choice.sizes, choice.marks, options.cut, context);
        return {};
      });
}

}  // namespace stria::passes
