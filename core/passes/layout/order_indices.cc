// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/layout/order_indices.h"

#include <algorithm>

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_role.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;

// An index of a larger rank runs further outside. Indices of one value and outer values have the
// lowest rank; they are innermost, in the order that they had.
struct Rank {
  int group = 0;
  int64_t stride = 0;
};

Rank rank_of(const std::vector<IndexRole>& roles, const Index& index, bool rows_chosen) {
  for (const IndexRole& role : roles) {
    if (role.name != index.name) continue;
    // If scalars choose the rows of a store, output indices walk only inside a row.
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
