// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/allocation_lives.h"

#include <algorithm>

#include "stria/stripe/lane_blocks.h"
#include "stria/stripe/statement_order.h"
#include "stria/stripe/tags.h"

namespace stria::stripe {
namespace {

// Which statements use which of the block's refinements.
std::map<std::string_view, std::vector<size_t>> users_of(const Block& block) {
  std::map<std::string_view, std::vector<size_t>> users;
  auto use = [&](const std::string& name, size_t i) {
    std::vector<size_t>& list = users[name];
    if (list.empty() || list.back() != i) list.push_back(i);
  };
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    const Statement& stmt = block.stmts[i];
    if (auto* s = std::get_if<Load>(&stmt.op)) use(s->from, i);
    if (auto* s = std::get_if<Store>(&stmt.op)) use(s->into, i);
    if (auto* s = stmt.special()) {
      for (const std::string& name : s->inputs) use(name, i);
      for (const std::string& name : s->outputs) use(name, i);
    }
    if (const Block* inner = stmt.block())
      for (const Refinement& ref : inner->refs)
        if (ref.dir != RefDir::none) use(ref.from, i);
  }
  return users;
}

// Dead at statement i only if all users run before or after it.
bool alive_at(const StatementOrder& order, const std::vector<size_t>& users, size_t i) {
  auto before = [&](size_t u) { return u != i && order.runs_before(u, i); };
  auto after = [&](size_t u) { return u != i && order.runs_before(i, u); };
  return !std::all_of(users.begin(), users.end(), before) &&
         !std::all_of(users.begin(), users.end(), after);
}

bool all_before(const StatementOrder& order, const std::vector<size_t>& users,
                const std::vector<size_t>& others) {
  for (size_t u : users)
    for (size_t v : others)
      if (!order.runs_before(u, v)) return false;
  return true;
}

bool numbers_a_unit(const Block& block, const Index& index) {
  for (const LocationUnit& unit : block.location.path)
    for (const Affine& form : unit.units)
      if (form.uses(index.name)) return true;
  return false;
}

// Do the block's points run one after the other?
bool repeats(const Block& block) {
  return !block.tags.has(tag::kParallel) &&
         std::any_of(block.idxs.begin(), block.idxs.end(), [&](const Index& index) {
           return index.range > 1 && !numbers_a_unit(block, index);
         });
}

}  // namespace

bool places(const Block& block, const Refinement& allocation) {
  const TagValue* value = block.tags.find(tag::kPlaced);
  if (!value) return false;
  const auto* memory = std::get_if<std::string>(value);
  return !memory ||
         (!allocation.location.empty() && allocation.location.path.back().name == *memory);
}

bool holds_placed(const Block& block) {
  return block.tags.has(tag::kPlaced) ||
         std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
           return stmt.block() && holds_placed(*stmt.block());
         });
}

const Block* placing_block(const Place& place, const Refinement& allocation) {
  for (const Place* at = &place; at; at = at->parent)
    if (places(*at->block, allocation)) return at->block;
  return nullptr;
}

struct AllocationLives::Node {
  const Node* parent = nullptr;
  size_t position = 0;  // among the parent's statements
  int depth = 0;
  int64_t copies = 1;
  StatementOrder order;
  // The located block whose lanes run what is in this block, all of them; null: none.
  const Node* group = nullptr;
  bool repeats = false;  // this block, or one around it in the group, is a loop
  Users barriers;
};

int64_t pipeline_copies(const Block& block) {
  if (block.tags.has(tag::kOneCopy)) return 1;
  return std::max<int64_t>(1, block.tags.integer(tag::kPipeline).value_or(1));
}

AllocationLives::AllocationLives(const Block& entry) { scan(entry, nullptr, 0, {}); }
AllocationLives::~AllocationLives() = default;

void AllocationLives::scan(const Block& block, const Node* parent, size_t position,
                           const std::map<std::string, Interval>& around) {
  std::unique_ptr<Node>& made = blocks_[&block];
  made = std::make_unique<Node>(Node{parent, position, parent ? parent->depth + 1 : 0,
                                     parent ? parent->copies : 1, StatementOrder(block)});
  Node& node = *made;
  const bool inside = parent && parent->group && is_between(block);
  node.group = inside ? parent->group : holds_lane_blocks(block) ? &node : nullptr;
  node.repeats = repeats(block) || (inside && parent->repeats);
  for (size_t i = 0; i < block.stmts.size(); ++i)
    if (is_barrier(block.stmts[i])) node.barriers.push_back(i);
  if (__builtin_mul_overflow(node.copies, pipeline_copies(block), &node.copies)) node.copies = 0;
  in_order_ = in_order_ && !block.tags.has(tag::kDeps);

  const std::map<std::string, Interval> box = block.index_box(around);
  const auto users = users_of(block);
  const size_t begin_of_all = all_.size();
  size_t begin = statements_;
  for (const Refinement& ref : block.refs) {
    if (ref.dir != RefDir::none) continue;
    LiveAllocation allocation{&ref, &block, 0, 0, 0};
    if (node.copies == 0 ||
        __builtin_mul_overflow(ref.shape.span_bytes(), node.copies, &allocation.bytes))
      allocation.bytes = -1;
    all_.push_back(allocation);
    nodes_.push_back(&node);
    const auto at = users.find(ref.into);
    users_.push_back(at == users.end() ? std::vector<size_t>() : at->second);
    Units& units = units_.emplace_back();
    Steps steps;
    for (const LocationUnit& unit : ref.location.path) {
      steps.push_back(unit.name);
      units.emplace_back();
      for (const Affine& form : unit.units) units.back().push_back(interval_of(form, box));
    }
    memory_.push_back(memories_.try_emplace(std::move(steps), memories_.size()).first->second);
  }
  const size_t end_of_own = all_.size();
  std::vector<std::pair<size_t, size_t>> times;  // of each statement
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    const size_t at = statements_++;
    if (const Block* inner = block.stmts[i].block()) scan(*inner, &node, i, box);
    times.emplace_back(at, statements_ - 1);
  }
  // What a block without statements allocates is alive where that block stands.
  if (statements_ == begin && begin > 0) --begin;
  const size_t end = std::max(begin, statements_ - (statements_ > begin ? 1 : 0));
  for (size_t a = begin_of_all; a < all_.size(); ++a) {
    const bool own = a < end_of_own;
    if (node.copies != 1 || (own && node.depth == 0)) {
      all_[a].first = begin;
      all_[a].last = end;
    } else if (own) {
      all_[a].first = users_[a].empty() ? begin : times[users_[a].front()].first;
      all_[a].last = users_[a].empty() ? begin : times[users_[a].back()].second;
    }
  }
}

// Do the lanes of a group share it? No barrier orders what owners hold.
bool AllocationLives::by_lanes(size_t a) const {
  const Location& location = all_[a].ref->location;
  return nodes_[a]->group && (location.empty() || location.path.back().owners.empty());
}

// Have all lanes finished with the one before any begins with the other?
bool AllocationLives::parted(const Node& around, const Users& a, const Users& b) {
  const auto before = [&](const Users& users, size_t barrier) {
    return std::all_of(users.begin(), users.end(),
                       [&](size_t user) { return around.order.runs_before(user, barrier); });
  };
  const auto after = [&](const Users& users, size_t barrier) {
    return std::all_of(users.begin(), users.end(),
                       [&](size_t user) { return around.order.runs_before(barrier, user); });
  };
  bool between = false, beside = !around.repeats;
  for (const size_t at : around.barriers) {
    between |= (before(a, at) && after(b, at)) || (before(b, at) && after(a, at));
    beside |= (before(a, at) && before(b, at)) || (after(a, at) && after(b, at));
  }
  return between && beside;
}

bool AllocationLives::alive_together(size_t a, size_t b) const {
  const bool barriers = nodes_[a]->group == nodes_[b]->group && by_lanes(a) && by_lanes(b);
  if (!barriers && in_order_ && (all_[a].last < all_[b].first || all_[b].last < all_[a].first))
    return false;
  const Node* of_a = nodes_[a];
  const Node* of_b = nodes_[b];
  // The statements of the innermost block around both in which they are, unless they are its own.
  const Node* in_a = nullptr;
  const Node* in_b = nullptr;
  while (of_a != of_b) {
    if (of_a->depth >= of_b->depth) {
      in_a = of_a;
      of_a = of_a->parent;
    } else {
      in_b = of_b;
      of_b = of_b->parent;
    }
  }
  const Node& around = *of_a;
  if (around.copies != 1) return true;
  if (barriers && !users_[a].empty() && !users_[b].empty() &&
      !parted(around, in_a ? Users{in_a->position} : users_[a],
              in_b ? Users{in_b->position} : users_[b]))
    return true;
  if (in_a && in_b) {
    const size_t x = std::min(in_a->position, in_b->position);
    const size_t y = std::max(in_a->position, in_b->position);
    return !around.order.runs_before(x, y);
  }
  if (around.depth == 0) return true;
  if (in_b) return alive_at(around.order, users_[a], in_b->position);
  if (in_a) return alive_at(around.order, users_[b], in_a->position);
  return !all_before(around.order, users_[a], users_[b]) &&
         !all_before(around.order, users_[b], users_[a]);
}

bool AllocationLives::may_be_one_memory(size_t a, size_t b) const {
  if (memory_[a] != memory_[b]) return false;
  const auto& path_a = all_[a].ref->location.path;
  const auto& path_b = all_[b].ref->location.path;
  for (size_t i = 0; i < path_a.size(); ++i) {
    for (size_t n = 0; n < std::min(units_[a][i].size(), units_[b][i].size()); ++n) {
      const Interval &x = units_[a][i][n], &y = units_[b][i][n];
      if (std::max(x.lower, y.lower) > std::min(x.upper, y.upper)) return false;
      if (all_[a].owner != all_[b].owner) continue;
      const Affine distance = path_a[i].units[n] - path_b[i].units[n];
      if (distance.is_constant() && distance.constant() != 0) return false;
    }
  }
  return true;
}

int64_t AllocationLives::copies(const Block& block) const { return blocks_.at(&block)->copies; }

}  // namespace stria::stripe
