// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/layout/order_indices.h"

#include <algorithm>

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_role.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;

// Larger runs further outside; indices of one value and brought-in values are innermost, as they
// were.
struct Rank {
  int group = 0;
  int64_t stride = 0;
};

Rank rank_of(const std::vector<IndexRole>& roles, const Index& index, bool rows_chosen) {
  for (const IndexRole& role : roles) {
    if (role.name != index.name) continue;
    // Where scalars choose the rows, what is left to walk through is the inside of one.
    if (role.kind == IndexKind::output) return {rows_chosen ? 1 : 3, role.output_stride};
    return {2, role.input_stride};
  }
  return {};
}

}  // namespace

void describe(OrderIndicesOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
}

Status order_indices(stripe::Program& program, const OrderIndicesOptions& options,
                     PassContext& context) {
  return for_each_selected_below_sections(
      program, options.reqs, context, [&](Block& block, const TensorNames& around) {
        context.matched();
        if (const Refusal refusal = why_points_do_not_commute(block, around)) {
          context.skipped(block.name, refusal.reason());
          return Status();
        }
        std::vector<IndexRole> roles = index_roles(block);
        const bool rows_chosen = stores_where_chosen(block);
        std::vector<Index> before = block.idxs;
        std::stable_sort(block.idxs.begin(), block.idxs.end(), [&](const Index& a, const Index& b) {
          Rank ra = rank_of(roles, a, rows_chosen), rb = rank_of(roles, b, rows_chosen);
          return ra.group != rb.group ? ra.group > rb.group : ra.stride > rb.stride;
        });
        if (block.idxs != before) context.changed();
        return Status();
      });
}

}  // namespace stria::passes
