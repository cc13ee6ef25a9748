// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse_blocks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "stria/passes/buffer_views.h"
#include "stria/passes/index_role.h"
#include "stria/passes/split_block.h"
#include "stria/passes/statement_list.h"
#include "stria/passes/written_nest.h"
#include "stria/stripe/footprint.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool writes(const Refinement& ref) { return ref.dir == RefDir::out || ref.dir == RefDir::inout; }

// The one tensor that the first block writes and the second one reads; "" if there is none, or
// more.
std::string shared_tensor(const Block& a, const Block& b, std::string& reason) {
  std::string name;
  for (const Refinement& ref : a.refs) {
    if (!writes(ref)) continue;
    if (!name.empty()) reason = "the first one writes several tensors";
    name = ref.from;
  }
  const bool read = std::any_of(b.refs.begin(), b.refs.end(), [&](const Refinement& ref) {
    return ref.dir == RefDir::in && ref.from == name;
  });
  if (!read) reason.clear();
  return read ? name : "";
}

// Do the blocks touch a tensor in another way than by the one that is handed over?
std::string why_they_conflict(const Block& a, const Block& b, const std::string& tensor,
                              const TensorNames& names) {
  for (const Refinement& mine : a.refs) {
    if (mine.dir == RefDir::none) continue;
    for (const Refinement& theirs : b.refs) {
      if (theirs.dir == RefDir::none || (mine.dir == RefDir::in && theirs.dir == RefDir::in))
        continue;
      if (names.of(mine.from) != names.of(theirs.from)) continue;
      if (mine.from == tensor && theirs.from == tensor && writes(mine) && theirs.dir == RefDir::in)
        continue;
      return fmt::format("'{}' goes between them in another way, too", theirs.from);
    }
  }
  return "";
}

std::string why_block_stays(const Block& block, const TensorNames& names) {
  for (const char* tag : {"parallel", "vector", "unroll", "pipeline", "stencil"})
    if (block.tags.has(tag)) return fmt::format("one of them is #{}", tag);
  for (const Index& index : block.idxs)
    if (index.affine && index.range > 1) return "an index runs from an affine form";
  if (std::string reason = why_points_do_not_commute(block, names); !reason.empty())
    return "points do not commute: " + reason;
  return "";
}

// Does what the block's statements touch through the view move with a value from outside, of which
// the block alone does not know the range?
bool moves_with_outer_value(const Block& block, const Refinement& view) {
  constexpr int64_t kFar = int64_t{1} << 59;  // index_ranges gives such a value twice that
  const std::vector<Interval> touched = stripe::reach(block, view, index_ranges(block));
  return std::any_of(touched.begin(), touched.end(), [&](const Interval& part) {
    return !part.empty() && (part.lower < -kFar || part.upper > kFar);
  });
}

bool is_own(const Block& block, const std::string& name) {
  const Index* index = block.find_index(name);
  return index && !index->affine && index->range > 1;
}

IndexKind kind_of(const std::vector<IndexRole>& roles, const std::string& name) {
  for (const IndexRole& role : roles)
    if (role.name == name) return role.kind;
  return IndexKind::output;
}

// How a block walks along one dimension of the tensor.
struct Walk {
  std::string index;  // "" if none that may be fused
  int64_t step = 0;   // elements a point
  Interval reach;     // of the elements at the index's value 0, whatever the others are
};

// `touched`: what the block's statements touch of the view, from its first element on.
Walk walk_of(const Block& block, const Affine& form, const Interval& touched,
             const std::vector<IndexRole>& roles, bool reductions) {
  Walk walk;
  for (const auto& [name, coefficient] : form.terms()) {
    if (!is_own(block, name) || coefficient <= 0) continue;
    const IndexKind kind = kind_of(roles, name);
    if (kind == IndexKind::overlapping || (kind == IndexKind::reduction && !reductions)) continue;
    const bool better = walk.index.empty() || (kind == IndexKind::output &&
                                               kind_of(roles, walk.index) != IndexKind::output);
    if (!better) continue;
    walk.index = name;
    walk.step = coefficient;
  }
  Affine rest = form;
  if (!walk.index.empty()) rest.add_term(walk.index, -walk.step);
  const Interval others = interval_of(rest, index_ranges(block));
  walk.reach = {others.lower + touched.lower, others.upper + touched.upper};
  return walk;
}

class Planner {
 public:
  Planner(const Block& parent, size_t first, const FusionParent& of, const FusionRules& rules)
      : parent_(parent),
        of_(of),
        rules_(rules),
        a_(*parent.stmts[first].block()),
        b_(*parent.stmts[first + 1].block()) {}

  FusionPlan plan() {
    plan_.tensor = shared_tensor(a_, b_, plan_.reason);
    if (plan_.tensor.empty() || !plan_.reason.empty()) return std::move(plan_);
    plan_.reason = refuse();
    if (plan_.reason.empty()) plan_.reason = match();
    return std::move(plan_);
  }

 private:
  std::string refuse() const {
    const TensorNames& names = of_.names();
    if (std::string reason = why_they_conflict(a_, b_, plan_.tensor, names); !reason.empty())
      return reason;
    for (const Block* block : {&a_, &b_})
      if (std::string reason = why_block_stays(*block, names); !reason.empty()) return reason;
    if (!a_.location.empty() && !b_.location.empty() && !(a_.location == b_.location))
      return "they run on different units";
    int64_t views = 0;
    for (const Refinement& ref : a_.refs) {
      if (ref.dir == RefDir::none || ref.from != plan_.tensor) continue;
      if (ref.dir != RefDir::out) return "the first one continues what is in the tensor";
      ++views;
    }
    if (views != 1) return "the first one has two views of the tensor";
    for (const Refinement& ref : b_.refs)
      if (ref.from == plan_.tensor && (ref.tags.has("clamp") || ref.tags.has("zero_fill")))
        return "the second one reads beyond the tensor";
    for (const Block* block : {&a_, &b_})
      for (const Refinement& ref : block->refs)
        if (ref.dir != RefDir::none && ref.from == plan_.tensor &&
            moves_with_outer_value(*block, ref))
          return "an outer value says where one of them touches the tensor";
    if (stores_where_chosen(a_)) return "a scalar chooses where the first one stores";
    return "";
  }

  std::string match() {
    const Refinement& out = *find_view(a_, plan_.tensor);
    const std::vector<IndexRole> a_roles = index_roles(a_), b_roles = index_roles(b_);
    const std::vector<Interval> made = stripe::reach_of_view(a_, out, index_ranges(a_));
    double a_points = 1, together = 1;
    for (const Index& index : a_.idxs) a_points *= static_cast<double>(index.range);
    bool whole = true;  // the parts cover all that the first block writes
    std::set<std::string> taken_a, taken_b;
    for (size_t d = 0; d < out.access.size(); ++d) {
      const Walk from = walk_of(a_, out.access[d], made[d], a_roles, false);
      if (from.index.empty()) continue;
      if (out.access[d].terms().size() != 1 || from.reach.upper - from.reach.lower + 1 > from.step)
        continue;  // its points do not part the dimension
      Walk to;
      if (!readers(d, b_roles, to) || taken_a.count(from.index) || taken_b.count(to.index))
        continue;
      const int64_t step = std::max(from.step, to.step);
      if (step % from.step != 0 || step % to.step != 0) continue;
      FusedIndex index;
      index.name = to.index;
      index.a_index = from.index;
      const int64_t b_range = b_.find_index(to.index)->range;
      const int64_t a_range = a_.find_index(from.index)->range;
      index.b_points = step / to.step;
      index.range = ceil_div(b_range, index.b_points);
      index.a_step = step / from.step;
      // The elements read at o = 0, in points of the first block.
      const int64_t last = to.step * (index.b_points - 1) + to.reach.upper;
      index.a_first = floor_div(to.reach.lower - from.reach.lower, from.step);
      index.a_points = floor_div(last - from.reach.lower, from.step) - index.a_first + 1;
      if (index.range < 2) continue;
      const int64_t end = index.a_step * (index.range - 1) + index.a_first + index.a_points;
      whole &= index.a_points == index.a_step && index.a_first <= 0 && end >= a_range;
      // What lies before the first point, or behind the last one, need not be made twice, but the
      // parts are whole.
      together *= static_cast<double>(index.range) * static_cast<double>(index.a_points) /
                  static_cast<double>(a_range);
      taken_a.insert(index.a_index);
      taken_b.insert(index.name);
      plan_.indices.push_back(std::move(index));
    }
    if (plan_.indices.empty()) return "no index of both walks along a dimension of the tensor";
    for (const FusedIndex& index : plan_.indices) {
      const auto walks = [](const Refinement& ref, const std::string& name) {
        return std::count_if(ref.access.begin(), ref.access.end(),
                             [&](const Affine& form) { return form.uses(name); });
      };
      bool once = walks(out, index.a_index) == 1;
      for (const Refinement& ref : b_.refs)
        if (ref.dir != RefDir::none && ref.from == plan_.tensor)
          once = once && walks(ref, index.name) == 1;
      if (!once) return fmt::format("'{}' walks along several dimensions", index.name);
    }
    // The second block's order of indices.
    std::stable_sort(plan_.indices.begin(), plan_.indices.end(),
                     [&](const FusedIndex& x, const FusedIndex& y) {
                       return b_.find_index(x.name) < b_.find_index(y.name);
                     });
    const Refinement* tensor = parent_.find_ref(plan_.tensor);
    if (!tensor) return "the tensor is not the parent's";
    plan_.recompute = together;
    plan_.needs_local = !whole;
    plan_.may_be_local = tensor->dir == RefDir::none && !tensor->swizzle && !tensor->is_const &&
                         tensor->offset_bytes == 0 && of_.users(plan_.tensor) == 2;
    plan_.work = work_of(a_);
    plan_.bytes = static_cast<double>(tensor->shape.element_count()) *
                  static_cast<double>(byte_size(tensor->shape.type));
    if (plan_.needs_local && !plan_.may_be_local)
      return plan_.recompute > 1 ? "parts of the first one would overlap, and others use the tensor"
                                 : "parts would not cover what others use of the tensor";
    for (const Dim& dim : tensor->shape.dims)
      if (dim.stride < 0) return "the tensor has a negative stride";
    return "";
  }

  // How all views that the second block has of the tensor walk along the dimension; false if they
  // do not walk together.
  bool readers(size_t d, const std::vector<IndexRole>& roles, Walk& all) const {
    bool first = true;
    for (const Refinement& ref : b_.refs) {
      if (ref.dir == RefDir::none || ref.from != plan_.tensor) continue;
      const std::vector<Interval> touched = stripe::reach_of_view(b_, ref, index_ranges(b_));
      const Walk walk = walk_of(b_, ref.access[d], touched[d], roles, rules_.reductions);
      if (walk.index.empty()) return false;
      if (first) {
        all = walk;
        first = false;
        continue;
      }
      if (walk.index != all.index || walk.step != all.step) return false;
      all.reach = {std::min(all.reach.lower, walk.reach.lower),
                   std::max(all.reach.upper, walk.reach.upper)};
    }
    return !first;
  }

  const Block& parent_;
  const FusionParent& of_;
  const FusionRules& rules_;
  const Block& a_;
  const Block& b_;
  FusionPlan plan_;
};

// --- the change
// -----------------------------------------------------------------------------------

// Gives the block's indices other names.
void rename_indices(Block& block, const std::map<std::string, Affine>& names) {
  if (names.empty()) return;
  substitute_indices(block, names);
  for (Index& index : block.idxs)
    if (auto name = names.find(index.name); name != names.end())
      index.name = name->second.terms()[0].first;
}

// Nothing but the fused indices, one point each, around blocks: it is a fused block itself.
bool is_grid(const Block& block, const FusionPlan& plan, bool first) {
  for (const Statement& stmt : block.stmts)
    if (!stmt.block()) return false;
  if (block.stmts.empty() || !block.constraints.empty()) return false;
  for (const Refinement& ref : block.refs)
    if (ref.dir == RefDir::none && first) return false;
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

// Makes the first block one over the fused block's indices, under their names.
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

// What is left of a block around its part inside.
void keep_inside(Block& outer) {
  Block& inner = *outer.stmts[0].block();
  for (const stripe::Tag& tag : outer.tags.all())
    if (tag.name != "kernel") inner.tags.set(tag.name, tag.value);
  inner.name = outer.name;
  // What holds for one of the blocks does not for the other.
  for (const Affine& constraint : outer.constraints)
    inner.constraints.push_back(
        constraint.rename([&](const std::string& name) { return bring_in(inner, name); }));
  outer.constraints.clear();
}

// The views that the statements have of the refinement `from` of the block around become views of
// `into`, whose first element is at `delta` of the former's.
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
  Fuser(Block& parent, size_t first, const FusionPlan& plan, const FusionShape& shape)
      : parent_(parent), first_(first), plan_(plan), shape_(shape) {}

  void run() {
    Block a = std::move(*parent_.stmts[first_].block());
    Block b = std::move(*parent_.stmts[first_ + 1].block());
    fused_.name = a.name + "+" + b.name;
    fused_.comments = a.comments;
    fused_.comments.insert(fused_.comments.end(), b.comments.begin(), b.comments.end());
    if (a.tags.has("kernel") || b.tags.has("kernel")) fused_.tags.set("kernel");
    fused_.location = a.location.empty() ? b.location : a.location;
    a.location = b.location = {};
    cut(a, true);
    cut(b, false);
    fused_.idxs = b.idxs;
    bring_values(a);
    hand_over(a, b);
    fused_.refs.insert(fused_.refs.end(), b.refs.begin(), b.refs.end());
    take_refs(a);
    for (Block* block : {&a, &b})
      for (Statement& stmt : block->stmts) {
        stmt.deps.clear();
        fused_.stmts.push_back(std::move(stmt));
      }
    parent_.stmts.erase(parent_.stmts.begin() + static_cast<std::ptrdiff_t>(first_));
    parent_.stmts[first_] = Statement(std::move(fused_));
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

  // Outer values that the first block brings in: the fused block has them once.
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

  // One place, or one view, of the tensor for both.
  void hand_over(Block& a, Block& b) {
    const Refinement made = *find_view(a, plan_.tensor);
    const size_t rank = made.access.size();
    std::vector<Interval> box = stripe::reach_of_view(a, made, index_ranges(a));
    // Where the second block's views begin, from the first one's.
    std::vector<std::pair<std::string, std::vector<int64_t>>> views;
    for (const Refinement& ref : b.refs) {
      if (ref.dir == RefDir::none || ref.from != plan_.tensor) continue;
      const std::vector<Interval> read = stripe::reach_of_view(b, ref, index_ranges(b));
      std::vector<int64_t> delta;
      for (size_t d = 0; d < rank; ++d) {
        delta.push_back((ref.access[d] - made.access[d]).constant());
        box[d] = {std::min(box[d].lower, read[d].lower + delta[d]),
                  std::max(box[d].upper, read[d].upper + delta[d])};
      }
      views.emplace_back(ref.into, std::move(delta));
    }
    Refinement& outside = *parent_.find_ref(plan_.tensor);
    Refinement place = shape_.local ? outside : made;
    place.agg.reset();
    place.into = plan_.tensor;
    std::vector<int64_t> sizes, start;
    for (size_t d = 0; d < rank; ++d) {
      sizes.push_back(box[d].upper - box[d].lower + 1);
      start.push_back(-box[d].lower);
      if (!shape_.local) {
        place.access[d] += box[d].lower;
        place.shape.dims[d].size = sizes[d];
      }
    }
    if (shape_.local) {
      place.dir = RefDir::none;
      place.shape = dense_shape(place.shape.type, sizes);
      place.location = shape_.location.empty() ? outside.location : shape_.location;
    }
    // Apart from what the blocks call their views.
    std::set<std::string> taken;
    for (const Block* block : {&a, &b})
      for (const Refinement& ref : block->refs)
        if (ref.dir == RefDir::none || ref.from != plan_.tensor) taken.insert(ref.into);
    for (int i = 0; taken.count(place.into); ++i)
      place.into = fmt::format("{}_{}", plan_.tensor, i);
    move_views(a.stmts, made.into, place.into, start);
    for (auto& [name, delta] : views) {
      for (size_t d = 0; d < rank; ++d) delta[d] += start[d];
      move_views(b.stmts, name, place.into, delta);
    }
    if (shape_.local)
      for (Block* block : {&a, &b})
        for (Statement& stmt : block->stmts) {
          restride_views(stmt, place.into, place.shape.dims);
          if (!shape_.location.empty()) locate_views(stmt, place.into, shape_.location);
        }
    for (Block* block : {&a, &b})
      std::erase_if(block->refs, [&](const Refinement& ref) {
        return ref.dir != RefDir::none && ref.from == plan_.tensor;
      });
    if (shape_.local)
      std::erase_if(parent_.refs, [&](const Refinement& ref) { return ref.into == plan_.tensor; });
    fused_.refs.push_back(std::move(place));
  }

  // The first block's refinements beside the second one's: equal views are one.
  void take_refs(Block& a) {
    std::map<std::string, std::string> names;
    for (Refinement& ref : a.refs) {
      const Refinement* same = fused_.find_ref(ref.into);
      if (same && *same == ref && ref.dir == RefDir::in) continue;
      const std::string old = ref.into;
      for (int i = 0; fused_.find_ref(ref.into) || (ref.into != old && a.find_ref(ref.into)); ++i)
        ref.into = fmt::format("{}_{}", old, i);
      if (ref.into != old) names[old] = ref.into;
      fused_.refs.push_back(ref);
    }
    for (Statement& stmt : a.stmts)
      for (Refinement& ref : stmt.block()->refs)
        if (auto renamed = names.find(ref.from); ref.dir != RefDir::none && renamed != names.end())
          ref.from = renamed->second;
  }

  Block& parent_;
  const size_t first_;
  const FusionPlan& plan_;
  const FusionShape& shape_;
  Block fused_;
};

}  // namespace

FusionParent::FusionParent(const Block& block, const TensorNames& around)
    : names_(around.inside(block)) {
  const StatementUsers users(block);
  for (const Refinement& ref : block.refs)
    users_[ref.into] = static_cast<int64_t>(users.of(ref.into).size());
}

int64_t FusionParent::users(const std::string& tensor) const {
  auto users = users_.find(tensor);
  return users == users_.end() ? 0 : users->second;
}

void FusionParent::fusing(const Block& block, size_t position) {
  std::set<std::string> seen[2];
  for (size_t n : {size_t{0}, size_t{1}})
    for (const Refinement& ref : block.stmts[position + n].block()->refs)
      if (ref.dir != RefDir::none) seen[n].insert(ref.from);
  for (const std::string& name : seen[0])
    if (seen[1].count(name)) --users_[name];
}

FusionPlan plan_fusion(const Block& parent, size_t first, const FusionParent& of,
                       const FusionRules& rules) {
  return Planner(parent, first, of, rules).plan();
}

void fuse_blocks(Block& parent, size_t first, const FusionPlan& plan, const FusionShape& shape) {
  Fuser(parent, first, plan, shape).run();
}

}  // namespace stria::passes
