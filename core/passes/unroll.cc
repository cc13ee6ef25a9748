// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/unroll.h"

#include "stria/pass/select_blocks.h"

namespace stria::passes {

void describe(UnrollOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags that a block must have");
  fields.add("max_points", options.max_points, "blocks of more points are left as loops",
             {1, 1 << 16});
}

Status unroll(stripe::Program& program, const UnrollOptions& options, PassContext& context) {
  return for_each_selected(program, options.reqs, [&](stripe::Block& block, const TensorNames&) {
    context.matched();
    int64_t points = 1;
    bool many = false;
    for (const stripe::Index& index : block.idxs)
      many = many || __builtin_mul_overflow(points, index.range, &points) ||
             points > options.max_points;
    if (many) {
      context.skipped(block.name, "it has too many points");
    } else if (!block.tags.has("unroll")) {
      block.tags.set("unroll");
      context.changed();
    }
    return Status();
  });
}

}  // namespace stria::passes
