// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse/fusion_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/index_role.h"
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

// The tensors that the first block writes and the second one reads.
std::vector<std::string> shared_tensors(const Block& a, const Block& b) {
  std::vector<std::string> names;
  for (const Refinement& ref : a.refs) {
    if (!is_written(ref) || std::count(names.begin(), names.end(), ref.from)) continue;
    if (std::any_of(b.refs.begin(), b.refs.end(), [&](const Refinement& other) {
          return other.dir == RefDir::in && other.from == ref.from;
        }))
      names.push_back(ref.from);
  }
  return names;
}

// Refuses blocks between which there is a dependency that is none of the shared tensors.
Refusal why_they_conflict(const Block& a, const Block& b, const std::vector<std::string>& shared,
                          const TensorNames& names) {
  std::vector<const std::string*> theirs_of;
  for (const Refinement& theirs : b.refs) theirs_of.push_back(&names.of(theirs.from));
  for (const Refinement& mine : a.refs) {
    if (mine.dir == RefDir::none) continue;
    const std::string& mine_of = names.of(mine.from);
    for (size_t n = 0; n < b.refs.size(); ++n) {
      const Refinement& theirs = b.refs[n];
      if (theirs.dir == RefDir::none || (mine.dir == RefDir::in && theirs.dir == RefDir::in))
        continue;
      if (mine_of != *theirs_of[n]) continue;
      if (mine.from == theirs.from && is_written(mine) && theirs.dir == RefDir::in &&
          std::count(shared.begin(), shared.end(), mine.from))
        continue;
      return fmt::format("'{}' goes between them in another way, too", theirs.from);
    }
  }
  return Refusal::none();
}

Refusal why_block_stays(const Block& block, const TensorNames& names) {
  for (const char* tag : {stripe::tag::kParallel, stripe::tag::kVector, stripe::tag::kUnroll,
                          stripe::tag::kPipeline, stripe::tag::kStencil})
    if (block.tags.has(tag)) return fmt::format("one of them is #{}", tag);
  for (const Index& index : block.idxs)
    if (index.affine && index.range > 1) return "an index runs from an affine form";
  if (const Refusal refusal = why_points_do_not_commute(block, names))
    return "points do not commute: " + refusal.reason();
  return Refusal::none();
}

// Does the part that the block's statements touch through the view move with an outer value? The
// block alone does not know the range of such a value.
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
  std::string index;  // "" if there is none that may be fused
  int64_t step = 0;   // elements from one point to the next
  Interval reach;     // elements touched at the index's value 0, over all values of the others
};

// `touched`: which elements of the view the block's statements touch, counted from its first one.
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
  Planner(const Block& a, const Block& b, const FusionParent& of, const FusionRules& rules)
      : of_(of), rules_(rules), a_(a), b_(b) {}

  FusionPlan plan() {
    shared_ = shared_tensors(a_, b_);
    if (shared_.empty()) return std::move(plan_);
    plan_.tensor = shared_[0];
    plan_.refusal = look_at_all();
    return std::move(plan_);
  }

 private:
  Refusal look_at_all() {
    STRIA_RETURN_IF_REFUSED(why_apart());
    for (const std::string& tensor : shared_) STRIA_RETURN_IF_REFUSED(why_not_handed_over(tensor));
    STRIA_RETURN_IF_REFUSED(match());
    return match_others();
  }

  Refusal why_apart() const {
    const TensorNames& names = of_.names();
    STRIA_RETURN_IF_REFUSED(why_they_conflict(a_, b_, shared_, names));
    for (const Block* block : {&a_, &b_}) STRIA_RETURN_IF_REFUSED(why_block_stays(*block, names));
    if (!a_.location.empty() && !b_.location.empty() && !(a_.location == b_.location))
      return "they run on different units";
    if (stores_where_chosen(a_)) return "a scalar chooses where the first one stores";
    return Refusal::none();
  }

  Refusal why_not_handed_over(const std::string& tensor) const {
    int64_t views = 0;
    for (const Refinement& ref : a_.refs) {
      if (ref.dir == RefDir::none || ref.from != tensor) continue;
      if (ref.dir != RefDir::out) return "the first one continues what is in the tensor";
      ++views;
    }
    if (views != 1) return "the first one has two views of the tensor";
    for (const Refinement& ref : b_.refs)
      if (ref.dir != RefDir::none && ref.from == tensor &&
          (ref.tags.has(stripe::tag::kClamp) || ref.tags.has(stripe::tag::kZeroFill)))
        return "the second one reads beyond the tensor";
    for (const Block* block : {&a_, &b_})
      for (const Refinement& ref : block->refs)
        if (ref.dir != RefDir::none && ref.from == tensor && moves_with_outer_value(*block, ref))
          return "an outer value says where one of them touches the tensor";
    return Refusal::none();
  }

  Refusal match() {
    const Refinement& out = *find_view(a_, plan_.tensor);
    const std::vector<IndexRole> a_roles = index_roles(a_), b_roles = index_roles(b_);
    const std::vector<Interval> made = stripe::reach_of_view(a_, out, index_ranges(a_));
    double a_points = 1, together = 1;
    for (const Index& index : a_.idxs) a_points *= static_cast<double>(index.range);
    bool whole = true;  // the parts are disjoint and cover all that the first block writes
    std::set<std::string> taken_a, taken_b;
    for (size_t d = 0; d < out.access.size(); ++d) {
      const Walk from = walk_of(a_, out.access[d], made[d], a_roles, false);
      if (from.index.empty()) continue;
      if (out.access[d].terms().size() != 1 || from.reach.upper - from.reach.lower + 1 > from.step)
        continue;  // different points do not write disjoint parts of the dimension
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
      // The points of the first block that write what is read at o = 0.
      const int64_t last = to.step * (index.b_points - 1) + to.reach.upper;
      index.a_first = floor_div(to.reach.lower - from.reach.lower, from.step);
      index.a_points = floor_div(last - from.reach.lower, from.step) - index.a_first + 1;
      if (index.range < 2) continue;
      const int64_t end = index.a_step * (index.range - 1) + index.a_first + index.a_points;
      whole &= index.a_points == index.a_step && index.a_first <= 0 && end >= a_range;
      // Counts whole parts, although points before the first or after the last one do not run.
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
    // In the order of the second block's indices.
    std::stable_sort(plan_.indices.begin(), plan_.indices.end(),
                     [&](const FusedIndex& x, const FusedIndex& y) {
                       return b_.find_index(x.name) < b_.find_index(y.name);
                     });
    const Refinement* tensor = of_.find(plan_.tensor);
    if (!tensor) return "the tensor is not the parent's";
    plan_.recompute = together;
    plan_.needs_local = !whole;
    plan_.may_be_local = may_be_local(*tensor);
    plan_.work = work_of(a_);
    plan_.bytes = static_cast<double>(tensor->shape.element_count()) *
                  static_cast<double>(byte_size(tensor->shape.type));
    if (plan_.needs_local && !plan_.may_be_local)
      return plan_.recompute > 1 ? "parts of the first one would overlap, and others use the tensor"
                                 : "parts would not cover what others use of the tensor";
    for (const Dim& dim : tensor->shape.dims)
      if (dim.stride < 0) return "the tensor has a negative stride";
    return Refusal::none();
  }

  bool may_be_local(const Refinement& tensor) const {
    return tensor.dir == RefDir::none && !tensor.swizzle && !tensor.is_const &&
           tensor.offset_bytes == 0 && of_.users(tensor.into) == 2;
  }

  // The other tensors that the first block writes. Each part may be written only once, and at a
  // point of the fused block the second block may read only what the first one writes there.
  Refusal match_others() {
    const auto written = std::count_if(a_.refs.begin(), a_.refs.end(), stripe::is_written);
    if (written == 1) return Refusal::none();
    if (plan_.needs_local || plan_.recompute > 1)
      return "the first one writes several tensors, and its parts would overlap";
    for (size_t n = 1; n < shared_.size(); ++n) {
      const Refinement* tensor = of_.find(shared_[n]);
      if (!tensor) return "a tensor is not the parent's";
      for (const FusedIndex& index : plan_.indices)
        if (!same_parts(shared_[n], index))
          return fmt::format("they do not walk alike through '{}'", shared_[n]);
      plan_.others.push_back({shared_[n], may_be_local(*tensor)});
    }
    return Refusal::none();
  }

  // The one dimension of the view along which the index walks forward; nullopt if there is none, or
  // several.
  static std::optional<size_t> walked(const Refinement& view, const std::string& index) {
    std::optional<size_t> dim;
    for (size_t d = 0; d < view.access.size(); ++d) {
      if (!view.access[d].uses(index)) continue;
      if (dim || view.access[d].coefficient(index) < 0) return std::nullopt;
      dim = d;
    }
    return dim;
  }

  // The elements of the view's dimension that the points `first` … `first + points - 1` of the
  // index touch, over all values of the other indices.
  static Interval touched_by(const Block& block, const Refinement& view, size_t d,
                             const std::string& index, int64_t first, int64_t points) {
    const std::map<std::string, Interval> ranges = index_ranges(block);
    const int64_t step = view.access[d].coefficient(index);
    Affine rest = view.access[d];
    rest.add_term(index, -step);
    const Interval others = interval_of(rest, ranges);
    const Interval touched = stripe::reach_of_view(block, view, ranges)[d];
    return {others.lower + touched.lower + step * first,
            others.upper + touched.upper + step * (first + points - 1)};
  }

  // Does the first block write disjoint parts of the tensor along the index, and does the second
  // one read only the part of its own point?
  bool same_parts(const std::string& tensor, const FusedIndex& index) const {
    const Refinement& made = *find_view(a_, tensor);
    const std::optional<size_t> d = walked(made, index.a_index);
    if (!d) return false;
    const int64_t step = made.access[*d].coefficient(index.a_index) * index.a_step;
    const Interval part = touched_by(a_, made, *d, index.a_index, index.a_first, index.a_points);
    if (part.upper - part.lower + 1 > step) return false;
    return std::all_of(b_.refs.begin(), b_.refs.end(), [&](const Refinement& ref) {
      if (ref.dir == RefDir::none || ref.from != tensor) return true;
      if (walked(ref, index.name) != d ||
          ref.access[*d].coefficient(index.name) * index.b_points != step)
        return false;
      const Interval read = touched_by(b_, ref, *d, index.name, 0, index.b_points);
      return read.lower >= part.lower && read.upper < part.lower + step;
    });
  }

  // How all views that the second block has of the tensor walk along the dimension; false if they
  // do so with different indices or steps.
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

  const FusionParent& of_;
  const FusionRules& rules_;
  const Block& a_;
  const Block& b_;
  std::vector<std::string> shared_;  // tensors that go from the first block to the second
  FusionPlan plan_;
};

}  // namespace

FusionParent::FusionParent(const Block& block, const TensorNames& around)
    : block_(block), names_(around.inside(block)) {
  const StatementUsers users(block);
  for (size_t i = 0; i < block.refs.size(); ++i) {
    position_.emplace(block.refs[i].into, i);
    users_[block.refs[i].into] = static_cast<int64_t>(users.of(block.refs[i].into).size());
  }
}

const Refinement* FusionParent::find(const std::string& tensor) const {
  auto at = position_.find(tensor);
  return at == position_.end() ? nullptr : &block_.refs[at->second];
}

int64_t FusionParent::users(const std::string& tensor) const {
  auto users = users_.find(tensor);
  return users == users_.end() ? 0 : users->second;
}

void FusionParent::fusing(const Block& a, const Block& b) {
  std::set<std::string> seen;
  for (const Refinement& ref : a.refs)
    if (ref.dir != RefDir::none) seen.insert(ref.from);
  for (const Refinement& ref : b.refs)
    if (ref.dir != RefDir::none && seen.erase(ref.from)) --users_[ref.from];
}

FusionPlan plan_fusion(const Block& a, const Block& b, const FusionParent& of,
                       const FusionRules& rules) {
  return Planner(a, b, of, rules).plan();
}

}  // namespace stria::passes
