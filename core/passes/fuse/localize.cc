// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse/localize.h"

#include <algorithm>

#include "stria/base/refusal.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/footprint.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

using Box = std::map<std::string, Interval>;

// Do different points of the block see disjoint parts of its refinement?
bool sees_disjoint_parts(const Block& block, const Refinement& ref) {
  // A block that writes only this tensor: its roles of indices are those for this tensor.
  Block probe;
  probe.idxs = block.idxs;
  Refinement view = ref;
  view.dir = RefDir::out;
  probe.refs.push_back(std::move(view));
  for (const stripe::Index& index : block.idxs)
    if (index.affine && index.range > 1) return false;
  std::vector<IndexRole> roles = index_roles(probe);
  return std::all_of(roles.begin(), roles.end(),
                     [](const IndexRole& role) { return role.kind == IndexKind::output; });
}

// Does the aggregation start at the same place if the view between is removed?
bool keeps_aggregation(const Block& user, const Refinement& view) {
  if (!view.agg) return true;
  for (const Statement& stmt : user.stmts) {
    if (auto* store = std::get_if<stripe::Store>(&stmt.op); store && store->into == view.into)
      return false;
    if (const Block* inner = stmt.block())
      for (const Refinement& ref : inner->refs)
        if (ref.from == view.into && ref.dir != RefDir::in &&
            (ref.dir != view.dir || ref.agg != view.agg))
          return false;
  }
  return true;
}

class Localizer {
 public:
  Localizer(const LocalizeOptions& options, PassContext& context)
      : options_(options), context_(context) {}

  // `box`: the ranges of the block's indices.
  void run(Block& block, const Box& box) {
    const StatementUsers users(block);  // a move changes only the users of the moved buffer
    std::erase_if(block.refs, [&](const Refinement& ref) {
      return ref.dir == RefDir::none && ref.tags.has_all(options_.ref_reqs) &&
             move(block, ref, users.of(ref.into), box);
    });
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) run(*inner, inner->index_box(box));
  }

 private:
  // Moves `buffer`, a refinement of the block, into the block that uses it; or refuses.
  bool move(Block& block, const Refinement& buffer, const std::vector<size_t>& users,
            const Box& box) {
    context_.matched();
    const Refusal refusal = try_move(block, buffer, users, box);
    if (refusal)
      context_.skipped(buffer.into, refusal.reason());
    else
      context_.changed();
    return !refusal;
  }

  static Refusal try_move(Block& block, const Refinement& buffer, const std::vector<size_t>& users,
                          const Box& box) {
    if (users.empty()) return "nothing uses it";
    Block* user = block.stmts[users[0]].block();
    if (users.size() > 1 || !user) return "not exactly one inner block uses it";
    Refinement* view = nullptr;
    for (Refinement& ref : user->refs) {
      if (ref.from != buffer.into) continue;
      if (view) return "its block views it twice";
      view = &ref;
    }
    if (buffer.swizzle || buffer.offset_bytes != 0) return "it has been placed";
    if (names_index(buffer.location)) return "its location names an index of its block";
    // The owners in a location are functions of the whole buffer's coordinates. A part has others.
    if (!buffer.location.empty() && !buffer.location.path.back().owners.empty())
      return "it is held by lanes";
    if (buffer.location.empty() && !view->location.empty() &&
        !view->location.path.back().owners.empty())
      return "its block sees it as held by lanes";
    if (!sees_disjoint_parts(*user, *view)) return "its parts at different points overlap";
    if (!keeps_aggregation(*user, *view)) return "the view decides where an aggregation starts";
    for (const Dim& dim : view->shape.dims)
      if (dim.size < 1) return "the size of its part is not known";
    const std::vector<Interval> touched = stripe::reach_of_view(*user, *view, user->index_box(box));
    for (size_t d = 0; d < touched.size(); ++d)
      if (touched[d].lower < 0 || touched[d].upper >= view->shape.dims[d].size)
        return "a view inside reaches beyond its part";
    Refinement moved = buffer;
    moved.into = view->into;
    moved.shape.dims = dense_shape(moved.shape.type, view->shape.sizes()).dims;
    moved.access.assign(view->access.size(), Affine());
    if (moved.location.empty()) {
      moved.location = view->location;
    } else {
      for (stripe::LocationUnit& unit : moved.location.path)
        for (Affine& form : unit.units)
          form = form.rename([&](const std::string& name) { return bring_in(*user, name); });
    }
    restride_views(*user, moved.into, moved.shape.dims);
    *view = std::move(moved);
    return Refusal::none();
  }

  const LocalizeOptions& options_;
  PassContext& context_;
};

}  // namespace

void describe(LocalizeOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags of the blocks whose buffers move; their insides too");
  fields.tags("ref_reqs", options.ref_reqs, "tags that a buffer must have");
}

Status localize(stripe::Program& program, const LocalizeOptions& options, PassContext& context) {
  return for_each_selected_inside(program, options.reqs, context, [&](Block& block) {
    Localizer(options, context).run(block, index_ranges(block));
  });
}

}  // namespace stria::passes
