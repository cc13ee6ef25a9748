// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/vector/legalize_vectors.h"

#include <algorithm>
#include <bit>

#include "stria/base/refusal.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/walk.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::Refinement;
using stripe::Statement;

bool is_power_of_two(int64_t count) { return std::has_single_bit(static_cast<uint64_t>(count)); }

// The index whose values are the lanes; null if there is none, or several.
Index* lanes_of(Block& block) {
  Index* out = nullptr;
  for (Index& index : block.idxs) {
    if (index.range == 1) continue;
    if (out || index.affine) return nullptr;
    out = &index;
  }
  return out;
}

Refusal why_not(const Block& parent, const Block& block) {
  if (std::any_of(block.stmts.begin(), block.stmts.end(),
                  [](const Statement& stmt) { return stmt.block(); }))
    return "it has blocks inside";
  if (std::any_of(block.refs.begin(), block.refs.end(),
                  [&](const Refinement& ref) { return opens_aggregation(parent, ref); }))
    return "it starts an aggregation";
  // A part could read what another unit has written for the part before, without a barrier between.
  if (has_index_locations(block)) return "a location names an index";
  return Refusal::none();
}

std::vector<Statement> parts_of(const Block& block, const Index& lanes, int64_t widest) {
  std::vector<Statement> out;
  for (int64_t first = 0; first < lanes.range;) {
    const int64_t left = lanes.range - first;
    const int64_t count =
        static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::min(left, widest))));
    Block part = block;
    part.find_index(lanes.name)->range = count;
    if (first > 0) substitute_indices(part, {{lanes.name, Affine::of(lanes.name) + first}});
    out.emplace_back(std::move(part));
    first += count;
  }
  return out;
}

}  // namespace

void describe(LegalizeVectorsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block of lanes must have");
  fields.add("widest", options.widest, "lanes of a part, at most; a power of two", {1, 1 << 10});
}

Status legalize_vectors(stripe::Program& program, const LegalizeVectorsOptions& options,
                        PassContext& context) {
  if (!is_power_of_two(options.widest))
    return invalid_argument("/widest: {} is no power of two", options.widest);
  stripe::visit_blocks(program.entry, [&](Block& parent, const stripe::Place&) {
    std::vector<std::vector<Statement>> parts(parent.stmts.size());
    bool any = false;
    for (size_t i = 0; i < parts.size(); ++i) {
      Block* const block = parent.stmts[i].block();
      if (!block || !block->tags.has_all(options.reqs)) continue;
      const Index* const lanes = lanes_of(*block);
      if (!lanes || is_power_of_two(lanes->range)) continue;
      context.matched();
      if (const Refusal refusal = why_not(parent, *block)) {
        context.skipped(block->name, refusal.reason());
        continue;
      }
      parts[i] = parts_of(*block, *lanes, options.widest);
      context.changed();
      context.count("blocks_cut");
      any = true;
    }
    if (!any) return;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].empty()) continue;
      Statement& same = parts[i].emplace_back();
      same.op = std::move(parent.stmts[i].op);
      same.tags = std::move(parent.stmts[i].tags);
    }
    replace_statements(parent, std::move(parts));
  });
  return Status();
}

}  // namespace stria::passes
