// SPDX-License-Identifier: Apache-2.0
#include "kernel_run.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <span>

#include "matrix_values.h"
#include "stria/semtree/tree/print.h"

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
        arguments_(arguments),
        subgroup_lanes_(subgroup_lanes),
        random_(seed),
        counts_(counts),
        evaluator_(function) {
    for (const semtree::Array& array : function.arrays)
      arrays_.emplace_back(array.type, array.count * copies_of(array), array.shared);
    find_meetings(function.body);
    find_matrices(function.body);
  }

  Status run() {
    STRIA_RETURN_IF_ERROR(check_arguments());
    if (!matrices_.empty() && (subgroup_lanes_ <= 0 || lanes() % subgroup_lanes_ != 0))
      return fault("groups of {} lanes are no whole subgroups of {}, which hold matrices", lanes(),
                   subgroup_lanes_);
    launch_ = ++last_phase();
    std::vector<int64_t> groups(static_cast<size_t>(function_.trip_count));
    std::iota(groups.begin(), groups.end(), 0);
    std::shuffle(groups.begin(), groups.end(), random_);
    for (int64_t group : groups) STRIA_RETURN_IF_ERROR(run_group(group));
    return {};
  }

 private:
  int64_t lanes() const { return function_.group_lanes; }
  // Elements of the memory for each one that the array counts.
  int64_t copies_of(const semtree::Array& array) const {
    if (array.shared) return 1;
    if (!array.fragment) return lanes();
    const int64_t subgroups = subgroup_lanes_ > 0 ? lanes() / subgroup_lanes_ : 0;
    return subgroups * array.fragment->rows * array.fragment->columns;
  }
  // Of barriers and launches of the whole process: memory outlives a run.
  static uint64_t& last_phase() {
    thread_local uint64_t phase = 0;
    return phase;
  }

  template <typename... Args>
  Status fault(fmt::format_string<Args...> text, Args&&... args) const {
    return invalid_argument("kernel '{}': {}", function_.name,
                            fmt::format(text, std::forward<Args>(args)...));
  }
  // The statement's first line.
  std::string text_of(const Statement& statement) const {
    const std::string text = semtree::print(statement, function_);
    return "`" + text.substr(0, text.find('\n')) + "`";
  }

  // --- before the first group

  Status check_arguments() const {
    if (arguments_.size() != function_.params.size())
      return fault("it takes {} arguments, not {}", function_.params.size(), arguments_.size());
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const semtree::Parameter& param = function_.params[i];
      const auto& [memory, first] = arguments_[i];
      if (memory->type != param.type || first < 0 || first + param.span > memory->count())
        return fault("'{}' has {} elements of {} from element {} on of {} of {}", param.name,
                     param.span, name_of(param.type), first, memory->count(),
                     name_of(memory->type));
      for (size_t k = 0; k < i; ++k) {
        const semtree::Parameter& other = function_.params[k];
        if (memory == arguments_[k].memory && other.alias_group != param.alias_group &&
            first < arguments_[k].first + other.span && arguments_[k].first < first + param.span)
          return fault("'{}' and '{}' overlap, and it is told that they do not", other.name,
                       param.name);
      }
    }
    return {};
  }

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

  // Statements that hold an operation on matrices, which lanes of a subgroup run side by side.
  bool find_matrices(const Body& body) {
    bool any = false;
    for (const Statement& statement : body) {
      bool holds = std::holds_alternative<semtree::MatrixFill>(statement.op) ||
                   std::holds_alternative<semtree::MatrixLoad>(statement.op) ||
                   std::holds_alternative<semtree::MatrixStore>(statement.op) ||
                   std::holds_alternative<semtree::MatrixMultiply>(statement.op) ||
                   std::holds_alternative<semtree::ElementLoop>(statement.op);
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
    variables_.assign(evaluator_.variable_values() * static_cast<size_t>(lanes()), {});
    for (Memory& array : arrays_) array.forget();
    group_phase_ = shared_phase_ = parameters_phase_ = ++last_phase();
    for (int64_t lane = 0; lane < lanes(); ++lane) {
      int64_t rest = group;
      for (const semtree::Function::GridDim& dim : function_.grid) {
        set(lane, dim.var, rest % dim.size);
        rest /= dim.size;
      }
      if (function_.grid.empty() && function_.parallel_var >= 0)
        set(lane, function_.parallel_var, group);
      if (function_.lane_var >= 0) set(lane, function_.lane_var, lane);
    }
    order_.resize(static_cast<size_t>(lanes()));
    std::iota(order_.begin(), order_.end(), 0);
    return together(function_.body);
  }

  Value* variables(int64_t lane) {
    return variables_.data() + static_cast<size_t>(lane) * evaluator_.variable_values();
  }
  void set(int64_t lane, int var, int64_t value) {
    const DataType type = function_.vars[static_cast<size_t>(var)].type.scalar;
    variables(lane)[evaluator_.position(var)] = {Scalar::of_int(type, value), false};
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
          for (int64_t lane : order_) STRIA_RETURN_IF_ERROR(alone(part, lane));
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
        for (int64_t lane = 0; lane < lanes(); ++lane) set(lane, loop->var, i);
        STRIA_RETURN_IF_ERROR(together(loop->body));
      }
      return {};
    }
    ++counts_.barriers;
    shared_phase_ = ++last_phase();
    if (std::get<semtree::Barrier>(statement.op).parameters) parameters_phase_ = shared_phase_;
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
      STRIA_ASSIGN(const int64_t value, number(expr, lane, statement));
      if (first && value != *first)
        return fault("lanes {} and {} of group {} do not {} {}: {} and {}", of[0], lane, group_,
                     together, text_of(statement), *first, value);
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
      for (const int64_t lane : order) STRIA_RETURN_IF_ERROR(alone(statements.subspan(i, 1), lane));
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
        for (const int64_t lane : members) set(lane, loop->var, i);
        STRIA_RETURN_IF_ERROR(in_subgroup(loop->body, members));
      }
      return {};
    }
    if (auto* fill = std::get_if<semtree::MatrixFill>(&statement.op)) {
      STRIA_ASSIGN(const MatrixValues to, matrix(fill->to, members[0], statement));
      if (fill->value.type != to.array.type)
        return fault("{} fills with {}", text_of(statement), name_of(fill->value.type));
      for (int64_t i = 0; i < to.count(); ++i) to.memory.store(to.first + i, {fill->value, false});
      return {};
    }
    if (auto* load = std::get_if<semtree::MatrixLoad>(&statement.op))
      return move(load->from, load->to, false, members, statement);
    if (auto* store = std::get_if<semtree::MatrixStore>(&statement.op))
      return move(store->to, store->from, true, members, statement);
    if (auto* product = std::get_if<semtree::MatrixMultiply>(&statement.op)) {
      STRIA_ASSIGN(const MatrixValues sum, matrix(product->sum, members[0], statement));
      STRIA_ASSIGN(const MatrixValues a, matrix(product->a, members[0], statement));
      STRIA_ASSIGN(const MatrixValues b, matrix(product->b, members[0], statement));
      if (!is_product(sum.array, a.array, b.array))
        return fault("{}: the matrices do not fit together", text_of(statement));
      add_product(sum, a, b);
      ++counts_.products;
      return {};
    }
    return elements(std::get<semtree::ElementLoop>(statement.op), members, statement);
  }

  Result<MatrixValues> matrix(const semtree::FragmentRef& ref, int64_t lane,
                              const Statement& statement) {
    const bool is_array = !function_.is_param(ref.memory);
    if (!is_array || !function_.array(ref.memory).fragment || ref.number < 0 ||
        ref.number >= function_.array(ref.memory).count)
      return fault("{}: there is no matrix {} of '{}'", text_of(statement), ref.number,
                   function_.memory_name(ref.memory));
    const semtree::Array& array = function_.array(ref.memory);
    const int64_t before = lane / subgroup_lanes_ * array.count + ref.number;
    Memory& memory = arrays_[static_cast<size_t>(ref.memory) - function_.params.size()];
    return MatrixValues{array, memory, before * array.fragment->rows * array.fragment->columns};
  }

  // Each element once, by the lane that holds it.
  Status move(const semtree::MatrixPlace& at, const semtree::FragmentRef& ref, bool writes,
              const std::vector<int64_t>& members, const Statement& statement) {
    STRIA_ASSIGN(const MatrixValues held, matrix(ref, members[0], statement));
    const Place& place = at.place;
    if (place.lanes != 1 || place.mask || (at.row_stride != 1 && at.column_stride != 1))
      return fault("{} has several lanes, a mask, or no step of 1", text_of(statement));
    int64_t offset = 0;
    if (place.offset) {
      STRIA_ASSIGN(offset, same_for_all(*place.offset, statement, members, kCome));
    }
    if (offset % place.multiple != 0)
      return fault("{}: the place's offset {} in '{}' is no multiple of {}", text_of(statement),
                   offset, function_.memory_name(place.memory), place.multiple);
    for (int64_t i = 0; i < held.count(); ++i) {
      const int64_t lane = members[static_cast<size_t>(holder(held.array, i, subgroup_lanes_))];
      const Target to = target(place.memory, lane);
      if (to.own || (to.param && writes && !to.param->writable))
        return fault("{}: lanes do not share '{}', or it is only read", text_of(statement),
                     function_.memory_name(place.memory));
      const int64_t element = offset + place.constant + i / held.columns() * at.row_stride +
                              i % held.columns() * at.column_stride;
      STRIA_ASSIGN(const Element reached,
                   reach(to, place.memory, element, lane, writes, statement));
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
        return fault("{}: the matrices '{}' and '{}' are not of one form and type",
                     text_of(statement), first->name, array.name);
    }
    if (!first) return fault("{} touches no matrix", text_of(statement));
    std::vector<int64_t> order = members;
    std::shuffle(order.begin(), order.end(), random_);
    const int64_t count = first->fragment->rows * first->fragment->columns;
    for (const int64_t lane : order)
      for (int64_t i = 0; i < count; ++i) {
        if (holder(*first, i, subgroup_lanes_) != lane - members[0]) continue;
        element_ = i;
        STRIA_RETURN_IF_ERROR(alone(loop.body, lane));
      }
    element_ = -1;
    return {};
  }

  // --- a lane

  Status alone(Statements statements, int64_t lane) {
    for (const Statement& statement : statements) {
      if (auto* let = std::get_if<semtree::Let>(&statement.op)) {
        STRIA_RETURN_IF_ERROR(evaluate(*let->value, lane,
                                       variables(lane) + evaluator_.position(let->var), statement));
      } else if (auto* load = std::get_if<semtree::Load>(&statement.op)) {
        STRIA_RETURN_IF_ERROR(touch(load->place, lane, false, statement));
        Value* to = variables(lane) + evaluator_.position(load->var);
        for (size_t i = 0; i < places_.size(); ++i)
          to[i] = places_[i].memory ? places_[i].memory->load(places_[i].element)
                                    : Value{convert(Scalar::of_bool(false),
                                                    function_.element_type(load->place.memory)),
                                            false};
      } else if (auto* store = std::get_if<semtree::Store>(&statement.op)) {
        if (store->value->type !=
            semtree::Type{function_.element_type(store->place.memory), store->place.lanes})
          return fault("{} stores {}", text_of(statement), to_string(store->value->type));
        stored_.resize(static_cast<size_t>(store->place.lanes));
        STRIA_RETURN_IF_ERROR(evaluate(*store->value, lane, stored_.data(), statement));
        STRIA_RETURN_IF_ERROR(touch(store->place, lane, true, statement));
        for (size_t i = 0; i < places_.size(); ++i)
          if (places_[i].memory) places_[i].memory->store(places_[i].element, stored_[i]);
      } else if (auto* loop = std::get_if<semtree::For>(&statement.op)) {
        STRIA_ASSIGN(const int64_t lower, number(*loop->lower, lane, statement));
        STRIA_ASSIGN(const int64_t upper, number(*loop->upper, lane, statement));
        for (int64_t i = lower; i < upper; ++i) {
          set(lane, loop->var, i);
          STRIA_RETURN_IF_ERROR(alone(loop->body, lane));
        }
      } else if (auto* branch = std::get_if<semtree::If>(&statement.op)) {
        STRIA_ASSIGN(const int64_t condition, number(*branch->condition, lane, statement));
        if (condition != 0) STRIA_RETURN_IF_ERROR(alone(branch->then, lane));
      } else if (auto* operation = std::get_if<semtree::Instruction>(&statement.op)) {
        return unsupported(
            "kernel '{}': '{}' is an operation of hardware, which has no meaning here",
            function_.name, operation->name);
      }  // A prefetch touches nothing.
    }
    return {};
  }

  Status evaluate(const Expr& expr, int64_t lane, Value* out, const Statement& statement) {
    const Status status = evaluator_.evaluate(expr, variables(lane), out);
    return status.ok() ? status
                       : fault("lane {} of group {}, {}: {}", lane, group_, text_of(statement),
                               status.message());
  }

  // Of a scalar that decides where or whether something is done.
  Result<int64_t> number(const Expr& expr, int64_t lane, const Statement& statement) {
    Value value;
    STRIA_RETURN_IF_ERROR(evaluate(expr, lane, &value, statement));
    if (value.poison)
      return fault("lane {} of group {}, {}: '{}' hangs on what was never written", lane, group_,
                   text_of(statement),
                   semtree::print(std::make_shared<const Expr>(expr), function_));
    return value.scalar.i;
  }

  struct Element {
    Memory* memory = nullptr;
    int64_t element = 0;
  };
  // What a lane knows by the number of a memory.
  struct Target {
    Memory* memory = nullptr;
    int64_t first = 0, size = 0;
    const semtree::Parameter* param = nullptr;
    bool own = false;  // no other lane's
  };

  Target target(int number, int64_t lane) {
    if (function_.is_param(number)) {
      const Argument& argument = arguments_[static_cast<size_t>(number)];
      const semtree::Parameter& param = function_.params[static_cast<size_t>(number)];
      return {argument.memory, argument.first, param.span, &param, false};
    }
    const semtree::Array& array = function_.array(number);
    Memory& memory = arrays_[static_cast<size_t>(number) - function_.params.size()];
    return {&memory, array.shared ? 0 : lane * array.count, array.count, nullptr, !array.shared};
  }

  // Puts the elements of the place into places_, null for lanes that the mask leaves out, and
  // records the access.
  Status touch(const Place& place, int64_t lane, bool writes, const Statement& statement) {
    if (!function_.is_param(place.memory) && function_.array(place.memory).fragment)
      return touch_matrix(place, lane, statement);
    const size_t count = static_cast<size_t>(place.lanes);
    const Target at = target(place.memory, lane);
    const std::string& name = function_.memory_name(place.memory);
    const auto where = [&] {
      return fmt::format("lane {} of group {}, {}", lane, group_, text_of(statement));
    };
    if (at.param && writes && !at.param->writable)
      return fault("{} writes to '{}', which is only read", text_of(statement), name);
    const bool gathers = place.offset && place.offset->type.lanes > 1;
    offsets_.assign(gathers ? count : 1, {Scalar::of_int(DataType::i64, 0), false});
    if (place.offset)
      STRIA_RETURN_IF_ERROR(evaluate(*place.offset, lane, offsets_.data(), statement));
    masks_.assign(count, {Scalar::of_bool(true), false});
    if (place.mask) STRIA_RETURN_IF_ERROR(evaluate(*place.mask, lane, masks_.data(), statement));
    places_.assign(count, {});
    for (size_t i = 0; i < count; ++i) {
      if (masks_[i].poison) return fault("{}: the mask hangs on what was never written", where());
      if (!masks_[i].scalar.truth()) continue;
      const Value& offset = offsets_[gathers ? i : 0];
      if (offset.poison)
        return fault("{}: the place in '{}' hangs on what was never written", where(), name);
      if (!gathers && offset.scalar.i % place.multiple != 0)
        return fault("{}: the place's offset {} in '{}' is no multiple of {}", where(),
                     offset.scalar.i, name, place.multiple);
      const int64_t element =
          offset.scalar.i + place.constant + (gathers ? 0 : static_cast<int64_t>(i) * place.stride);
      STRIA_ASSIGN(places_[i], reach(at, place.memory, element, lane, writes, statement));
    }
    return {};
  }

  // The same for an element of a matrix that the lane holds.
  Status touch_matrix(const Place& place, int64_t lane, const Statement& statement) {
    if (element_ < 0 || place.lanes != 1 || place.offset || place.mask)
      return fault("{} touches a matrix, and is no single element in a loop over them",
                   text_of(statement));
    STRIA_ASSIGN(const MatrixValues held, matrix({place.memory, place.constant}, lane, statement));
    places_.assign(1, {&held.memory, held.first + element_});
    return {};
  }

  // The element of this number, of which the access is recorded.
  Result<Element> reach(const Target& at, int memory, int64_t element, int64_t lane, bool writes,
                        const Statement& statement) {
    const std::string& name = function_.memory_name(memory);
    if (element < 0 || element >= at.size)
      return fault("lane {} of group {}, {}: element {} of '{}', which has {}", lane, group_,
                   text_of(statement), element, name, at.size);
    const Element out{at.memory, at.first + element};
    if (!at.own)
      STRIA_RETURN_IF_ERROR(record(out, at.param, {lane, &statement}, writes, name, element));
    return out;
  }

  // `element` is its number in `name`.
  Status record(const Element& at, const semtree::Parameter* param, const Party& lane, bool writes,
                const std::string& name, int64_t element) {
    ++counts_.accesses;
    const auto index = static_cast<size_t>(at.element);
    const uint64_t phase = !param          ? shared_phase_
                           : param->shared ? parameters_phase_
                                           : group_phase_;
    const Party by_lane = at.memory->by_lanes[index].add(phase, lane, writes);
    if (by_lane.number >= 0)
      return fault(
          "lanes {} and {} of group {} touch element {} of '{}' with no barrier between that "
          "orders it: {} and {}",
          by_lane.number, lane.number, group_, element, name, text_of(*by_lane.statement),
          text_of(*lane.statement));
    if (!param) return {};
    const Party by_group =
        at.memory->by_groups[index].add(launch_, {group_, lane.statement}, writes);
    if (by_group.number >= 0)
      return fault("groups {} and {} touch element {} of '{}': {} and {}", by_group.number, group_,
                   element, name, text_of(*by_group.statement), text_of(*lane.statement));
    return record_store(at, lane, writes, name, element);
  }

  // What is stored over something that nothing has read was computed twice.
  Status record_store(const Element& at, const Party& lane, bool writes, const std::string& name,
                      int64_t element) {
    uint64_t& stored = at.memory->stored[static_cast<size_t>(at.element)];
    if (!writes) {
      stored = 0;
      return {};
    }
    ++counts_.stores;
    if (stored == launch_)
      return fault(
          "element {} of '{}' is stored twice, and nothing read it in between: lane {} of "
          "group {}, {}",
          element, name, lane.number, group_, text_of(*lane.statement));
    stored = launch_;
    return {};
  }

  const semtree::Function& function_;
  const std::vector<Argument>& arguments_;
  const int64_t subgroup_lanes_;
  std::mt19937_64 random_;
  RunCounts& counts_;
  Evaluator evaluator_;
  // Those that are not shared once for each lane, one behind the other; matrices once for each
  // subgroup.
  std::vector<Memory> arrays_;
  std::set<const Statement*> meetings_, matrices_;
  // Spans of time in which nothing orders what is touched: of the launch for groups, for lanes of
  // the group in parameters through which they hand nothing on, since a barrier in those through
  // which they do, and in shared arrays.
  uint64_t launch_ = 0, group_phase_ = 0, parameters_phase_ = 0, shared_phase_ = 0;
  int64_t group_ = 0;
  std::vector<int64_t> order_;    // of the lanes
  std::vector<Value> variables_;  // lane by lane
  // Of the statement that runs.
  std::vector<Element> places_;
  std::vector<Value> stored_, offsets_, masks_;
  int64_t element_ = -1;  // of matrices, in a loop over those that a lane holds
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
