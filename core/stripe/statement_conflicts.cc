// SPDX-License-Identifier: Apache-2.0
// The variables of the block and of those around it are shared by its statements; each block inside
// one has variables of its own (block_points.h).
#include "stria/stripe/statement_conflicts.h"

#include <algorithm>

#include "stria/poly/find_point.h"
#include "stria/poly/index_forms.h"

namespace stria::stripe {
namespace {

bool holds_barrier(const Statement& stmt) {
  if (is_barrier(stmt)) return true;
  const Block* inner = stmt.block();
  return inner && std::any_of(inner->stmts.begin(), inner->stmts.end(), holds_barrier);
}

}  // namespace

struct StatementConflicts::View {
  const Refinement* allocation = nullptr;
  const Refinement* chain = nullptr;  // the outermost one that aggregates
  int chain_depth = 0;
  std::optional<std::vector<Affine>> start;  // in the allocation; none: unknown
};

struct StatementConflicts::Access {
  const BlockPoints* points = nullptr;  // where it is executed
  View view;
  std::vector<int64_t> extent;  // elements from `start` per dimension
  bool writes = false;
  bool combines = false;  // a store, which into an aggregation only adds its value
};

StatementConflicts::~StatementConflicts() = default;

StatementConflicts::StatementConflicts(const Place& place) {
  std::vector<const Place*> path;
  for (const Place* at = &place; at; at = at->parent) path.insert(path.begin(), at);
  const BlockPoints* level = nullptr;
  Views views;
  for (const Place* at : path) {
    level = open(*at->block, level);
    Views inner;
    for (const Refinement& ref : at->block->refs)
      inner[ref.into] = view_of(ref, *level, views, at->depth);
    views = std::move(inner);
  }
  depth_ = place.depth;
  shared_ = level;
  const Block& block = *place.block;
  accesses_.resize(block.stmts.size());
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    const Statement& stmt = block.stmts[i];
    std::vector<Access>& list = accesses_[i];
    collect(block, stmt, *level, views, depth_, list);
    fence_.push_back(holds_barrier(stmt));
    if (fence_.back()) fences_.push_back(i);
    for (const Access& access : list) {
      std::vector<size_t>& all = touched_[access.view.allocation];
      if (all.empty() || all.back() != i) all.push_back(i);
      std::vector<size_t>& writers = written_[access.view.allocation];
      if (access.writes && (writers.empty() || writers.back() != i)) writers.push_back(i);
    }
  }
  scalars(block);
}

const BlockPoints* StatementConflicts::open(const Block& block, const BlockPoints* outer) {
  points_.push_back(
      std::make_unique<BlockPoints>(points_of(block, outer, static_cast<int64_t>(points_.size()))));
  return points_.back().get();
}

StatementConflicts::View StatementConflicts::view_of(const Refinement& ref,
                                                     const BlockPoints& level, const Views& outer,
                                                     int depth) const {
  View view;
  auto parent = outer.find(ref.from);
  if (ref.dir == RefDir::none || parent == outer.end()) {
    // The root of the visit may be inside a program: its views are as good as allocations.
    view.allocation = &ref;
    view.start = std::vector<Affine>(ref.shape.rank());
  } else {
    view = parent->second;
  }
  if (!ref.agg) {
    view.chain = nullptr;
  } else if (!view.chain) {
    view.chain = &ref;
    view.chain_depth = depth;
  }
  for (size_t d = 0; view.start && d < ref.access.size(); ++d) {
    auto composed = substitute_checked(ref.access[d], level.forms);
    if (!composed.ok() || !is_small(*composed)) {
      view.start.reset();
    } else {
      (*view.start)[d] += *composed;
      if (!is_small((*view.start)[d])) view.start.reset();
    }
  }
  return view;
}

void StatementConflicts::touch(const Block& block, const std::string& name,
                               const BlockPoints& level, const Views& views, bool writes,
                               std::vector<Access>& out) const {
  Access access{&level, views.at(name), {}, writes, false};
  for (const Dim& dim : block.find_ref(name)->shape.dims) access.extent.push_back(dim.size);
  out.push_back(std::move(access));
}

// Everything that one run of the statement of `block`, which is `depth` deep, touches.
void StatementConflicts::collect(const Block& block, const Statement& stmt,
                                 const BlockPoints& level, const Views& views, int depth,
                                 std::vector<Access>& out) {
  if (auto* s = std::get_if<Load>(&stmt.op)) touch(block, s->from, level, views, false, out);
  if (auto* s = std::get_if<Store>(&stmt.op)) {
    touch(block, s->into, level, views, true, out);
    out.back().combines = true;
  }
  if (auto* s = stmt.special()) {
    for (const std::string& name : s->inputs) touch(block, name, level, views, false, out);
    for (const std::string& name : s->outputs) touch(block, name, level, views, true, out);
  }
  const Block* inner = stmt.block();
  if (!inner) return;
  const BlockPoints& points = *open(*inner, &level);
  if (!points.runs) return;
  Views inner_views;
  for (const Refinement& ref : inner->refs)
    inner_views[ref.into] = view_of(ref, points, views, depth + 1);
  for (const Statement& each : inner->stmts)
    collect(*inner, each, points, inner_views, depth + 1, out);
}

void StatementConflicts::scalars(const Block& block) {
  defined_by_.resize(block.stmts.size());
  std::map<std::string, size_t> defined;
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    const Operation& op = block.stmts[i].op;
    auto use = [&](const std::string& name) {
      auto at = defined.find(name);
      if (at != defined.end()) defined_by_[i].push_back(at->second);
    };
    if (auto* s = std::get_if<Load>(&op)) {
      for (const std::string& name : s->at) use(name);
      defined[s->into] = i;
    }
    if (auto* s = std::get_if<LoadIndex>(&op)) defined[s->into] = i;
    if (auto* s = std::get_if<Constant>(&op)) defined[s->into] = i;
    if (auto* s = std::get_if<Store>(&op)) {
      for (const std::string& name : s->at) use(name);
      use(s->from);
    }
    if (auto* s = std::get_if<Intrinsic>(&op)) {
      for (const std::string& name : s->inputs) use(name);
      for (const std::string& name : s->outputs) defined[name] = i;
    }
  }
}

std::vector<size_t> StatementConflicts::candidates(size_t b) const {
  std::vector<size_t> found = defined_by_[b];
  auto add_before = [&](const std::vector<size_t>& list) {
    found.insert(found.end(), list.begin(), std::lower_bound(list.begin(), list.end(), b));
  };
  for (const Access& access : accesses_[b])
    add_before(access.writes ? touched_.at(access.view.allocation)
                             : written_.at(access.view.allocation));
  for (size_t a = 0; a < b && fence_[b]; ++a) found.push_back(a);
  add_before(fences_);
  std::sort(found.begin(), found.end(), std::greater<>());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Do both only add a value to one running aggregation, the block's own or one of a block around it?
// One that opens inside a statement starts again there.
bool StatementConflicts::combine(const Access& a, const Access& b, int depth) {
  return a.combines && b.combines && a.view.chain && a.view.chain == b.view.chain &&
         a.view.chain_depth <= depth;
}

bool StatementConflicts::must_wait(size_t b, size_t a) {
  if (fence_[a] || fence_[b]) return true;
  const std::vector<size_t>& sources = defined_by_[b];
  if (std::find(sources.begin(), sources.end(), a) != sources.end()) return true;
  bool unknown = false;
  for (const Access& second : accesses_[b])
    for (const Access& first : accesses_[a]) {
      if (first.view.allocation != second.view.allocation) continue;
      if ((!first.writes && !second.writes) || combine(first, second, depth_)) continue;
      const Answer answer = meet(first, second);
      if (answer == Answer::meet) return true;
      unknown = unknown || answer == Answer::unknown;
    }
  if (unknown) ++undecided_;
  return unknown;
}

StatementConflicts::Answer StatementConflicts::meet(const Access& a, const Access& b) const {
  if (!a.view.start || !b.view.start) return Answer::unknown;
  if (!a.points->exact || !b.points->exact) return Answer::unknown;
  // The blocks around both are shared.
  std::map<std::string, Interval> box = a.points->box();
  box.merge(b.points->box());
  std::vector<Affine> constraints = a.points->all_constraints();
  for (const BlockPoints* at = b.points; at && at != shared_; at = at->outer)
    constraints.insert(constraints.end(), at->constraints.begin(), at->constraints.end());
  std::vector<Affine> conditions;
  for (size_t d = 0; d < a.extent.size(); ++d) {
    if (a.extent[d] < 1 || b.extent[d] < 1) return Answer::apart;
    if (!is_small(Affine(a.extent[d])) || !is_small(Affine(b.extent[d]))) return Answer::unknown;
    const Affine distance = (*b.view.start)[d] - (*a.view.start)[d];
    const Interval range = interval_of(distance, box);
    if (range.upper < 1 - b.extent[d] || range.lower > a.extent[d] - 1) return Answer::apart;
    conditions.push_back(distance + (b.extent[d] - 1));
    conditions.push_back(Affine(a.extent[d] - 1) - distance);
  }
  for (const Affine& form : constraints)
    if (interval_of(form, box).upper < 0) return Answer::apart;
  constraints.insert(constraints.end(), conditions.begin(), conditions.end());
  if (find_point(box, constraints)) return Answer::meet;
  IntegerSet points = IntegerSet::box({box.begin(), box.end()});
  for (const Affine& form : constraints) points.add_ge(form);
  Result<bool> empty = points.is_empty();
  if (!empty.ok()) return Answer::unknown;
  return *empty ? Answer::apart : Answer::meet;
}

}  // namespace stria::stripe
