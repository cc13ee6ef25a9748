// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/layout/transpose.h"

#include <algorithm>

#include "stria/base/refusal.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// Votes for each dimension of the buffer, in points.
struct Votes {
  std::vector<double> reduction;  // by reduction indices and lane indices
  std::vector<double> output;     // by indices that are contiguous in the output
  bool special = false;           // a special uses the buffer
};

class Ballot {
 public:
  explicit Ballot(size_t rank)
      : votes_{std::vector<double>(rank), std::vector<double>(rank), false} {}

  const Votes& of(const Block& owner, const std::string& name, const StatementUsers& users) {
    for (size_t user : users.of(name)) collect(owner.stmts[user], name, 1);
    return votes_;
  }

 private:
  // `points`: how often the statement runs.
  void collect(const Statement& stmt, const std::string& name, double points) {
    if (auto* special = stmt.special())
      for (const auto* list : {&special->inputs, &special->outputs})
        votes_.special = votes_.special || std::count(list->begin(), list->end(), name) > 0;
    const Block* inner = stmt.block();
    if (!inner) return;
    for (const stripe::Index& index : inner->idxs) points *= static_cast<double>(index.range);
    for (const Refinement& ref : inner->refs) {
      if (ref.dir == RefDir::none || ref.from != name) continue;
      if (ref.dir != RefDir::out && stripe::is_loaded(*inner, ref)) vote(*inner, ref, points);
      for (const Statement& each : inner->stmts) collect(each, ref.into, points);
    }
  }

  void vote(const Block& block, const Refinement& ref, double points) {
    const bool lanes = block.tags.has(stripe::tag::kVector);
    for (const IndexRole& role : index_roles(block))
      for (size_t d = 0; d < ref.access.size(); ++d) {
        if (std::abs(ref.access[d].coefficient(role.name)) != 1) continue;
        if (lanes || role.kind == IndexKind::reduction)
          votes_.reduction[d] += points;
        else if (role.output_stride == 1)
          votes_.output[d] += points;
      }
  }

  Votes votes_;
};

// The dimension with the most votes; of equals the one that is contiguous now. -1 if there are
// none.
int winner(const std::vector<double>& votes, const std::vector<Dim>& dims) {
  int best = -1;
  for (size_t d = 0; d < votes.size(); ++d) {
    if (votes[d] <= 0 || dims[d].size < 2) continue;
    const double lead = best < 0 ? 1 : votes[d] - votes[static_cast<size_t>(best)];
    if (lead > 0 || (lead == 0 && dims[d].stride == 1)) best = static_cast<int>(d);
  }
  return best;
}

// Changes the buffer's layout, or refuses.
Refusal try_transpose(Block& block, Refinement& buffer, const StatementUsers& users) {
  std::vector<Dim>& dims = buffer.shape.dims;
  if (buffer.swizzle || buffer.offset_bytes != 0) return "it has been placed";
  if (std::any_of(buffer.location.path.begin(), buffer.location.path.end(),
                  [](const stripe::LocationUnit& unit) { return !unit.owners.empty(); }))
    return "lanes hold it";
  const Votes votes = Ballot(dims.size()).of(block, buffer.into, users);
  if (votes.special) return "a special sees its layout";
  int dim = winner(votes.reduction, dims);
  if (dim < 0) dim = winner(votes.output, dims);
  if (dim < 0) return "no reader walks through it by ones";
  if (dims[static_cast<size_t>(dim)].stride == 1) return "its layout is right";
  dims = dense_with_inner(dims, static_cast<size_t>(dim));
  for (size_t user : users.of(buffer.into)) restride_views(block.stmts[user], buffer.into, dims);
  return Refusal::none();
}

}  // namespace

void describe(TransposeOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags of the blocks whose buffers change");
  fields.tags("alloc_reqs", options.alloc_reqs, "tags that a buffer must have");
}

Status transpose(stripe::Program& program, const TransposeOptions& options, PassContext& context) {
  return for_each_selected_inside(program, options.reqs, context, [&](Block& block) {
    const StatementUsers users(block);
    for (Refinement& ref : block.refs) {
      if (ref.dir != RefDir::none || !ref.tags.has_all(options.alloc_reqs)) continue;
      context.matched();
      if (const Refusal refusal = try_transpose(block, ref, users))
        context.skipped(ref.into, refusal.reason());
      else
        context.changed();
    }
  });
}

}  // namespace stria::passes
