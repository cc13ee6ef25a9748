// SPDX-License-Identifier: Apache-2.0
#include "kernel_run.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>

#include "fault_text.h"
#include "lane_run.h"
#include "matrix_values.h"
#include "touched_memory.h"

namespace stria::lanes {
namespace {

using semtree::Body;
using semtree::Expr;
using semtree::Place;
using semtree::Statement;
using Statements = std::span<const Statement>;

class KernelRun {
 public:
  KernelRun(const semtree::Function& function, const std::vector<Argument>& arguments,
            uint64_t seed, RunCounts& counts, int64_t subgroup_lanes)
      : function_(function),
        text_(function),
        subgroup_lanes_(subgroup_lanes),
        random_(seed),
        counts_(counts),
        memory_(function, arguments, counts, subgroup_lanes),
        lanes_(function, memory_) {
    find_meetings(function.body);
    find_matrices(function.body);
  }

  Status run() {
    STRIA_RETURN_IF_ERROR(memory_.check_arguments());
    if (!matrices_.empty() && (subgroup_lanes_ <= 0 || lanes() % subgroup_lanes_ != 0))
      return text_.fault("groups of {} lanes are no whole subgroups of {}, which hold matrices",
                         lanes(), subgroup_lanes_);
    memory_.begin_launch();
    std::vector<int64_t> groups(static_cast<size_t>(function_.trip_count));
    std::iota(groups.begin(), groups.end(), 0);
    std::shuffle(groups.begin(), groups.end(), random_);
    for (int64_t group : groups) STRIA_RETURN_IF_ERROR(run_group(group));
    return {};
  }

 private:
  int64_t lanes() const { return function_.group_lanes; }

  // --- before the first group

  // Statements that hold a barrier, which lanes run side by side.
  bool find_meetings(const Body& body) {
    bool any = false;
    for (const Statement& statement : body) {
      bool meets = std::holds_alternative<semtree::Barrier>(statement.op);
      if (auto* loop = std::get_if<semtree::For>(&statement.op)) meets = find_meetings(loop->body);
      if (auto* branch = std::get_if<semtree::If>(&statement.op))
        meets = find_meetings(branch->then);
      if (meets) meetings_.insert(&statement);
      any |= meets;
    }
    return any;
  }

  // Statements that hold an operation on matrices, or a barrier of the subgroup: its lanes run them
  // side by side.
  bool find_matrices(const Body& body) {
    bool any = false;
    for (const Statement& statement : body) {
      bool holds = std::holds_alternative<semtree::MatrixFill>(statement.op) ||
                   std::holds_alternative<semtree::MatrixLoad>(statement.op) ||
                   std::holds_alternative<semtree::MatrixStore>(statement.op) ||
                   std::holds_alternative<semtree::MatrixMultiply>(statement.op) ||
                   std::holds_alternative<semtree::ElementLoop>(statement.op) ||
                   std::holds_alternative<semtree::SubgroupBarrier>(statement.op);
      if (auto* loop = std::get_if<semtree::For>(&statement.op)) holds = find_matrices(loop->body);
      if (auto* branch = std::get_if<semtree::If>(&statement.op))
        holds = find_matrices(branch->then);
      if (holds) matrices_.insert(&statement);
      any |= holds;
    }
    return any;
  }
  bool holds_matrices(Statements statements) const {
    return std::any_of(statements.begin(), statements.end(),
                       [&](const Statement& statement) { return matrices_.count(&statement); });
  }

  // --- a group

  Status run_group(int64_t group) {
    group_ = group;
    ++counts_.groups;
    counts_.groups_of_lanes += lanes() > 1;
    lanes_.begin_group(group);
    memory_.begin_group(group);
    for (int64_t lane = 0; lane < lanes(); ++lane) {
      int64_t rest = group;
      for (const semtree::Function::GridDim& dim : function_.grid) {
        lanes_.set(lane, dim.var, rest % dim.size);
        rest /= dim.size;
      }
      if (function_.grid.empty() && function_.parallel_var >= 0)
        lanes_.set(lane, function_.parallel_var, group);
      if (function_.lane_var >= 0) lanes_.set(lane, function_.lane_var, lane);
    }
    order_.resize(static_cast<size_t>(lanes()));
    std::iota(order_.begin(), order_.end(), 0);
    return together(function_.body);
  }

  // All lanes, each for itself up to what holds a barrier.
  Status together(const Body& body) {
    for (size_t begin = 0; begin < body.size();) {
      size_t end = begin;
      while (end < body.size() && !meetings_.count(&body[end])) ++end;
      if (end > begin) {
        const Statements part = Statements(body).subspan(begin, end - begin);
        std::shuffle(order_.begin(), order_.end(), random_);
        if (holds_matrices(part)) {
          STRIA_RETURN_IF_ERROR(by_subgroups(part));
        } else {
          for (int64_t lane : order_) STRIA_RETURN_IF_ERROR(lanes_.run(part, lane));
        }
      }
      if (end < body.size()) STRIA_RETURN_IF_ERROR(meet(body[end]));
      begin = end + 1;
    }
    return {};
  }

  Status meet(const Statement& statement) {
    if (auto* branch = std::get_if<semtree::If>(&statement.op)) {
      STRIA_ASSIGN(const int64_t condition,
                   same_for_all(*branch->condition, statement, order_, kMeet));
      return condition != 0 ? together(branch->then) : Status();
    }
    if (auto* loop = std::get_if<semtree::For>(&statement.op)) {
      STRIA_ASSIGN(const int64_t lower, same_for_all(*loop->lower, statement, order_, kMeet));
      STRIA_ASSIGN(const int64_t upper, same_for_all(*loop->upper, statement, order_, kMeet));
      for (int64_t i = lower; i < upper; ++i) {
        for (int64_t lane = 0; lane < lanes(); ++lane) lanes_.set(lane, loop->var, i);
        STRIA_RETURN_IF_ERROR(together(loop->body));
      }
      return {};
    }
    ++counts_.barriers;
    memory_.pass(std::get<semtree::Barrier>(statement.op));
    return {};
  }

  static constexpr const char* kMeet = "meet at the barriers in";
  static constexpr const char* kCome = "come together to the matrices in";

  // Of an expression around what `of` run together.
  Result<int64_t> same_for_all(const Expr& expr, const Statement& statement,
                               std::vector<int64_t> of, const char* together) {
    std::sort(of.begin(), of.end());
    std::optional<int64_t> first;
    for (int64_t lane : of) {
      STRIA_ASSIGN(const int64_t value, lanes_.number(expr, lane, statement));
      if (first && value != *first)
        return text_.fault("lanes {} and {} of group {} do not {} {}: {} and {}", of[0], lane,
                           group_, together, text_.text_of(statement), *first, value);
      first = value;
    }
    return *first;
  }

  // --- a subgroup

  // Statements without barriers, in one subgroup after the other.
  Status by_subgroups(Statements statements) {
    std::vector<int64_t> subgroups(static_cast<size_t>(lanes() / subgroup_lanes_));
    std::iota(subgroups.begin(), subgroups.end(), 0);
    std::shuffle(subgroups.begin(), subgroups.end(), random_);
    for (const int64_t subgroup : subgroups) {
      std::vector<int64_t> members(static_cast<size_t>(subgroup_lanes_));
      std::iota(members.begin(), members.end(), subgroup * subgroup_lanes_);
      STRIA_RETURN_IF_ERROR(in_subgroup(statements, members));
    }
    return {};
  }

  // `members`: the subgroup's lanes, in order.
  Status in_subgroup(Statements statements, const std::vector<int64_t>& members) {
    for (size_t i = 0; i < statements.size(); ++i) {
      if (matrices_.count(&statements[i])) {
        STRIA_RETURN_IF_ERROR(as_one(statements[i], members));
        continue;
      }
      std::vector<int64_t> order = members;
      std::shuffle(order.begin(), order.end(), random_);
      for (const int64_t lane : order)
        STRIA_RETURN_IF_ERROR(lanes_.run(statements.subspan(i, 1), lane));
    }
    return {};
  }

  Status as_one(const Statement& statement, const std::vector<int64_t>& members) {
    if (auto* branch = std::get_if<semtree::If>(&statement.op)) {
      STRIA_ASSIGN(const int64_t condition,
                   same_for_all(*branch->condition, statement, members, kCome));
      return condition != 0 ? in_subgroup(branch->then, members) : Status();
    }
    if (auto* loop = std::get_if<semtree::For>(&statement.op)) {
      STRIA_ASSIGN(const int64_t lower, same_for_all(*loop->lower, statement, members, kCome));
      STRIA_ASSIGN(const int64_t upper, same_for_all(*loop->upper, statement, members, kCome));
      for (int64_t i = lower; i < upper; ++i) {
        for (const int64_t lane : members) lanes_.set(lane, loop->var, i);
        STRIA_RETURN_IF_ERROR(in_subgroup(loop->body, members));
      }
      return {};
    }
    if (std::holds_alternative<semtree::SubgroupBarrier>(statement.op)) {
      memory_.pass_subgroup(members[0] / subgroup_lanes_);
      return {};
    }
    if (auto* fill = std::get_if<semtree::MatrixFill>(&statement.op)) {
      STRIA_ASSIGN(const MatrixValues to, memory_.matrix(fill->to, members[0], statement));
      if (fill->value.type != to.array.type)
        return text_.fault("{} fills with {}", text_.text_of(statement), name_of(fill->value.type));
      for (int64_t i = 0; i < to.count(); ++i) to.memory.store(to.first + i, {fill->value, false});
      return {};
    }
    if (auto* load = std::get_if<semtree::MatrixLoad>(&statement.op))
      return move(load->from, load->to, false, members, statement);
    if (auto* store = std::get_if<semtree::MatrixStore>(&statement.op))
      return move(store->to, store->from, true, members, statement);
    if (auto* product = std::get_if<semtree::MatrixMultiply>(&statement.op)) {
      STRIA_ASSIGN(const MatrixValues sum, memory_.matrix(product->sum, members[0], statement));
      STRIA_ASSIGN(const MatrixValues a, memory_.matrix(product->a, members[0], statement));
      STRIA_ASSIGN(const MatrixValues b, memory_.matrix(product->b, members[0], statement));
      if (!is_product(sum.array, a.array, b.array))
        return text_.fault("{}: the matrices do not fit together", text_.text_of(statement));
      add_product(sum, a, b);
      ++counts_.products;
      return {};
    }
    return elements(std::get<semtree::ElementLoop>(statement.op), members, statement);
  }

  // Each element once, by the lane that holds it.
  Status move(const semtree::MatrixPlace& at, const semtree::FragmentRef& ref, bool writes,
              const std::vector<int64_t>& members, const Statement& statement) {
    STRIA_ASSIGN(const MatrixValues held, memory_.matrix(ref, members[0], statement));
    const Place& place = at.place;
    if (place.lanes != 1 || place.mask || (at.row_stride != 1 && at.column_stride != 1))
      return text_.fault("{} has several lanes, a mask, or no step of 1", text_.text_of(statement));
    if (at.rows || at.columns)
      return text_.fault("{}: no device moves a part of a matrix", text_.text_of(statement));
    int64_t offset = 0;
    if (place.offset) {
      STRIA_ASSIGN(offset, same_for_all(*place.offset, statement, members, kCome));
    }
    if (offset % place.multiple != 0)
      return text_.fault("{}: the place's offset {} in '{}' is no multiple of {}",
                         text_.text_of(statement), offset, function_.memory_name(place.memory),
                         place.multiple);
    for (int64_t i = 0; i < held.count(); ++i) {
      const int64_t lane = members[static_cast<size_t>(holder(held.array, i, subgroup_lanes_))];
      if (memory_.is_own(place.memory) || (writes && !memory_.is_writable(place.memory)))
        return text_.fault("{}: lanes do not share '{}', or it is only read",
                           text_.text_of(statement), function_.memory_name(place.memory));
      const int64_t element = offset + place.constant + i / held.columns() * at.row_stride +
                              i % held.columns() * at.column_stride;
      STRIA_ASSIGN(const TouchedMemory::Element reached,
                   memory_.reach(place.memory, element, lane, writes, statement));
      const Value value =
          writes ? held.memory.load(held.first + i) : reached.memory->load(reached.element);
      const DataType type = writes ? reached.memory->type : held.array.type;
      const Value converted{convert(value.scalar, type), value.poison};
      if (writes)
        reached.memory->store(reached.element, converted);
      else
        held.memory.store(held.first + i, converted);
    }
    return {};
  }

  // Each lane runs the body for the elements that it holds.
  Status elements(const semtree::ElementLoop& loop, const std::vector<int64_t>& members,
                  const Statement& statement) {
    const semtree::Array* first = nullptr;
    for (const Statement& inner : loop.body) {
      const Place* place = nullptr;
      if (auto* load = std::get_if<semtree::Load>(&inner.op)) place = &load->place;
      if (auto* store = std::get_if<semtree::Store>(&inner.op)) place = &store->place;
      if (!place || function_.is_param(place->memory)) continue;
      const semtree::Array& array = function_.array(place->memory);
      if (!array.fragment) continue;
      if (!first) first = &array;
      if (array.type != first->type || *array.fragment != *first->fragment)
        return text_.fault("{}: the matrices '{}' and '{}' are not of one form and type",
                           text_.text_of(statement), first->name, array.name);
    }
    if (!first) return text_.fault("{} touches no matrix", text_.text_of(statement));
    std::vector<int64_t> order = members;
    std::shuffle(order.begin(), order.end(), random_);
    const int64_t count = first->fragment->rows * first->fragment->columns;
    for (const int64_t lane : order)
      for (int64_t i = 0; i < count; ++i) {
        if (holder(*first, i, subgroup_lanes_) != lane - members[0]) continue;
        STRIA_RETURN_IF_ERROR(lanes_.run(loop.body, lane, i));
      }
    return {};
  }

  const semtree::Function& function_;
  const FaultText text_;
  const int64_t subgroup_lanes_;
  std::mt19937_64 random_;
  RunCounts& counts_;
  TouchedMemory memory_;
  LaneRun lanes_;
  std::set<const Statement*> meetings_, matrices_;
  int64_t group_ = 0;
  std::vector<int64_t> order_;  // of the lanes
};

}  // namespace

RunCounts& RunCounts::operator+=(const RunCounts& other) {
  groups += other.groups;
  groups_of_lanes += other.groups_of_lanes;
  barriers += other.barriers;
  accesses += other.accesses;
  stores += other.stores;
  products += other.products;
  refused += other.refused;
  return *this;
}

Status run_kernel(const semtree::Function& function, const std::vector<Argument>& arguments,
                  uint64_t seed, RunCounts& counts, int64_t subgroup_lanes) {
  return KernelRun(function, arguments, seed, counts, subgroup_lanes).run();
}

}  // namespace stria::lanes
