// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse/fuse_blocks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/joined_name.h"
#include "stria/rewrite/outer_part.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/rewrite/write_domain.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// Does the block hold blocks only, and loop over exactly the fused indices, one point at a time? It
// is then cut already, as a fused block is.
bool is_grid(const Block& block, const FusionPlan& plan, bool first) {
  for (const Statement& stmt : block.stmts)
    if (!stmt.block()) return false;
  if (block.stmts.empty() || !block.constraints.empty()) return false;
  size_t own = 0;
  for (const Index& index : block.idxs) {
    if (index.affine) return false;
    own += index.range > 1;
    for (const FusedIndex& fused : plan.indices) {
      if ((first ? fused.a_index : fused.name) != index.name) continue;
      const bool plain = first ? fused.a_step == 1 && fused.a_points == 1 && fused.a_first == 0 &&
                                     fused.range == index.range
                               : fused.b_points == 1;
      if (!plain) return false;
    }
  }
  return own == plan.indices.size() && own == block.idxs.size();
}

// Cuts the first block into a block over the fused block's indices, under their names, around one
// part.
void cut_first(Block& a, const FusionPlan& plan) {
  std::map<std::string, int64_t> tile;
  std::map<std::string, Affine> names;
  for (const FusedIndex& fused : plan.indices) {
    Index outer;
    outer.name = a.fresh_name(fused.a_index + "_part");
    outer.range = fused.range;
    Affine form = Affine::of(outer.name) * fused.a_step + fused.a_first;
    if (fused.a_points > 1) form += Affine::of(fused.a_index);
    const int64_t range = a.find_index(fused.a_index)->range;
    a.find_index(fused.a_index)->range = fused.a_points;
    substitute_indices(a, {{fused.a_index, form}});
    if (fused.a_first < 0) a.constraints.push_back(form);
    if (fused.a_step * (fused.range - 1) + fused.a_first + fused.a_points > range)
      a.constraints.push_back(Affine(range - 1) - form);
    if (fused.a_points == 1)
      std::erase_if(a.idxs, [&](const Index& index) { return index.name == fused.a_index; });
    tile[outer.name] = 1;
    names[outer.name] = Affine::of(fused.name);
    a.idxs.push_back(std::move(outer));
  }
  split_block(a, tile);
  rename_indices(a, names);
}

// Makes the statements' views of `from`, a refinement of the block around, views of `into`. `delta`
// are the coordinates in `into` of the first element of `from`.
void move_views(std::vector<Statement>& stmts, const std::string& from, const std::string& into,
                const std::vector<int64_t>& delta) {
  for (Statement& stmt : stmts)
    for (Refinement& ref : stmt.block()->refs) {
      if (ref.dir == RefDir::none || ref.from != from) continue;
      ref.from = into;
      for (size_t d = 0; d < delta.size(); ++d) ref.access[d] += delta[d];
    }
}

class Fuser {
 public:
  Fuser(const FusionParent& parent, const FusionPlan& plan, const FusionShape& shape)
      : parent_(parent), plan_(plan), shape_(shape) {}

  FusedBlock run(Block a, Block b) {
    const std::vector<Index> first_indices = a.idxs;
    fused_.name = joined_name(a.name, b.name);
    fused_.comments = joined_comments(a.comments, b.comments);
    if (a.tags.has(stripe::tag::kKernel) || b.tags.has(stripe::tag::kKernel))
      fused_.tags.set(stripe::tag::kKernel);
    // What the first block was tiled for: so many lanes, and parts of its reduction.
    for (const char* tag : {stripe::tag::kGroupLanes, stripe::tag::kParts})
      if (const auto count = a.tags.integer(tag)) fused_.tags.set(tag, *count);
    fused_.location = a.location.empty() ? b.location : a.location;
    a.location = b.location = {};
    cut(a, true);
    cut(b, false);
    fused_.idxs = b.idxs;
    if (shape_.first_order) order_as(first_indices);
    bring_values(a);
    hand_over(a, b, plan_.tensor, shape_.local);
    for (const SharedTensor& other : plan_.others) hand_over(a, b, other.name, other.local);
    fused_.refs.insert(fused_.refs.end(), b.refs.begin(), b.refs.end());
    take_refs(a);
    for (Block* block : {&a, &b})
      for (Statement& stmt : block->stmts) {
        stmt.deps.clear();
        fused_.stmts.push_back(std::move(stmt));
      }
    return {std::move(fused_), std::move(inside_)};
  }

 private:
  void cut(Block& block, bool first) {
    if (is_grid(block, plan_, first)) {
      std::map<std::string, Affine> names;
      if (first)
        for (const FusedIndex& fused : plan_.indices) names[fused.a_index] = Affine::of(fused.name);
      rename_indices(block, names);
      return;
    }
    if (first) {
      cut_first(block, plan_);
    } else {
      std::map<std::string, int64_t> tile;
      for (const FusedIndex& fused : plan_.indices) tile[fused.name] = fused.b_points;
      split_block(block, tile);
    }
    keep_inside(block);
    Block& inner = *block.stmts[0].block();
    for (const std::string& tag : first ? shape_.a_inner_set : shape_.b_inner_set)
      inner.tags.set(tag);
    for (const std::string& tag : shape_.inner_remove_set) inner.tags.remove(tag);
  }

  // Orders the fused block's indices as the first block does; the others come last.
  void order_as(const std::vector<Index>& first) {
    std::map<std::string, size_t> position;
    for (const FusedIndex& fused : plan_.indices)
      for (size_t i = 0; i < first.size(); ++i)
        if (first[i].name == fused.a_index) position[fused.name] = i;
    const auto rank = [&](const Index& index) {
      auto at = position.find(index.name);
      return at == position.end() ? first.size() : at->second;
    };
    std::stable_sort(fused_.idxs.begin(), fused_.idxs.end(),
                     [&](const Index& x, const Index& y) { return rank(x) < rank(y); });
  }

  // Adds the outer values that the first block brings in, unless the fused block has them already.
  void bring_values(Block& a) {
    std::map<std::string, Affine> names;
    std::vector<Index> values;
    for (const Index& index : a.idxs) {
      if (!index.affine) continue;
      const Index* same = nullptr;
      for (const Index& known : fused_.idxs)
        if (known.affine && *known.affine == *index.affine && known.range == 1) same = &known;
      if (same) {
        names[index.name] = Affine::of(same->name);
        continue;
      }
      Index value = index;
      value.name = free_name(index.name, a);
      names[index.name] = Affine::of(value.name);
      values.push_back(std::move(value));
    }
    rename_indices(a, names);
    fused_.idxs.insert(fused_.idxs.end(), values.begin(), values.end());
  }

  std::string free_name(const std::string& name, const Block& a) const {
    std::string free = name;
    for (int i = 0; fused_.find_index(free) || (free != name && a.find_index(free)); ++i)
      free = fmt::format("{}_{}", name, i);
    return free;
  }

  // Gives both blocks one allocation of the tensor, or one view of it.
  void hand_over(Block& a, Block& b, const std::string& tensor, bool local) {
    const Refinement made = *find_view(a, tensor);
    const size_t rank = made.access.size();
    std::vector<Interval> box = stripe::reach_of_view(a, made, index_ranges(a));
    // For each view of the second block: where it begins, from the beginning of the first block's.
    std::vector<std::pair<std::string, std::vector<int64_t>>> views;
    for (const Refinement& ref : b.refs) {
      if (ref.dir == RefDir::none || ref.from != tensor) continue;
      const std::vector<Interval> read = stripe::reach_of_view(b, ref, index_ranges(b));
      std::vector<int64_t> delta;
      for (size_t d = 0; d < rank; ++d) {
        delta.push_back((ref.access[d] - made.access[d]).constant());
        box[d] = {std::min(box[d].lower, read[d].lower + delta[d]),
                  std::max(box[d].upper, read[d].upper + delta[d])};
      }
      views.emplace_back(ref.into, std::move(delta));
    }
    const Refinement& outside = *parent_.find(tensor);
    Refinement place = local ? outside : made;
    place.agg.reset();
    place.into = tensor;
    std::vector<int64_t> sizes, start;
    for (size_t d = 0; d < rank; ++d) {
      sizes.push_back(box[d].upper - box[d].lower + 1);
      start.push_back(-box[d].lower);
      if (!local) {
        place.access[d] += box[d].lower;
        place.shape.dims[d].size = sizes[d];
      }
    }
    if (local) {
      place.dir = RefDir::none;
      place.shape = dense_shape(place.shape.type, sizes);
      place.location = shape_.location.empty() ? outside.location : shape_.location;
    }
    // A name that no other view of the blocks has.
    std::set<std::string> taken;
    for (const Block* block : {&a, &b})
      for (const Refinement& ref : block->refs)
        if (ref.dir == RefDir::none || ref.from != tensor) taken.insert(ref.into);
    for (int i = 0; taken.count(place.into); ++i) place.into = fmt::format("{}_{}", tensor, i);
    move_views(a.stmts, made.into, place.into, start);
    for (auto& [name, delta] : views) {
      for (size_t d = 0; d < rank; ++d) delta[d] += start[d];
      move_views(b.stmts, name, place.into, delta);
    }
    if (local)
      for (Block* block : {&a, &b})
        for (Statement& stmt : block->stmts) {
          restride_views(stmt, place.into, place.shape.dims);
          if (!shape_.location.empty()) locate_views(stmt, place.into, shape_.location);
        }
    for (Block* block : {&a, &b})
      std::erase_if(block->refs, [&](const Refinement& ref) {
        return ref.dir != RefDir::none && ref.from == tensor;
      });
    if (local) inside_.push_back(tensor);
    fused_.refs.push_back(std::move(place));
  }

  // Adds the first block's refinements to those of the second one. Equal views become one.
  void take_refs(Block& a) {
    std::map<std::string, std::string> names;
    std::unordered_map<std::string, size_t> known;  // name -> position in the fused block
    for (size_t r = 0; r < fused_.refs.size(); ++r) known.emplace(fused_.refs[r].into, r);
    std::unordered_set<std::string> own;
    for (const Refinement& ref : a.refs) own.insert(ref.into);
    for (Refinement& ref : a.refs) {
      const auto same = known.find(ref.into);
      if (same != known.end() && fused_.refs[same->second] == ref && ref.dir == RefDir::in)
        continue;
      const std::string old = ref.into;
      std::string free = old;
      for (int i = 0; known.count(free) || (free != old && own.count(free)); ++i)
        free = fmt::format("{}_{}", old, i);
      if (free != old) names[old] = free;
      ref.into = free;
      known.emplace(free, fused_.refs.size());
      fused_.refs.push_back(std::move(ref));
    }
    for (Statement& stmt : a.stmts)
      for (Refinement& ref : stmt.block()->refs)
        if (auto renamed = names.find(ref.from); ref.dir != RefDir::none && renamed != names.end())
          ref.from = renamed->second;
  }

  const FusionParent& parent_;
  const FusionPlan& plan_;
  const FusionShape& shape_;
  Block fused_;
  std::vector<std::string> inside_;
};

}  // namespace

FusedBlock fuse_blocks(Block a, Block b, const FusionParent& parent, const FusionPlan& plan,
                       const FusionShape& shape) {
  return Fuser(parent, plan, shape).run(std::move(a), std::move(b));
}

}  // namespace stria::passes
