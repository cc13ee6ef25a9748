// SPDX-License-Identifier: Apache-2.0
// The lanes of a group: which points each of them runs, barriers, pipelines, and operations that
// lanes do together (docs/semantics.md S11 to S14).
#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "stria/semtree/build/builder.h"
#include "stria/semtree/tree/expr.h"
#include "stria/semtree/tree/variables.h"
#include "stria/stripe/tags.h"

namespace stria::semtree {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::Refinement;

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool has_barrier(const stripe::Statement& statement) {
  const Block* inner = statement.block();
  return is_barrier(statement) ||
         (inner && std::any_of(inner->stmts.begin(), inner->stmts.end(), has_barrier));
}

}  // namespace

const std::string& Builder::unit_number(size_t unit) {
  std::string& name = unit_numbers_[unit];
  if (!name.empty()) return name;
  const DataType type = options_.index_type;
  const LaneUnit& u = units_[unit];
  const std::string& lane = function_.vars[static_cast<size_t>(function_.lane_var)].name;
  if (units_.size() == 1) return name = lane;
  ExprRef value = variable(function_.lane_var, {type, 1});
  if (u.inside > 1) value = binary(Op::div, value, integer(type, u.inside));
  if (unit > 0) value = binary(Op::rem, value, integer(type, u.count));
  return name = nest_.define_outside(lower_case(u.name) + "_number", value, {0, u.count - 1});
}

const std::string& Builder::subgroup_number() {
  std::string& name = subgroup_number_;
  if (!name.empty()) return name;
  const DataType type = options_.index_type;
  const int64_t lanes = options_.subgroup_lanes;
  const ExprRef value =
      binary(Op::div, variable(function_.lane_var, {type, 1}), integer(type, lanes));
  return name = nest_.define_outside(lower_case(options_.subgroup_unit) + "_number", value,
                                     {0, ceil_div(function_.group_lanes, lanes) - 1});
}

Status Builder::bind_lanes(Frame& frame, const Frame& parent, std::vector<Affine>& conditions) {
  if (is_subgroup_block(*frame.block, subgroups())) {
    frame.in_subgroup = true;
    return bind_unit(frame.block->location.path[0], units_.size(),
                     ceil_div(function_.group_lanes, options_.subgroup_lanes), subgroup_number(),
                     frame, parent, conditions);
  }
  for (const stripe::LocationUnit& place : frame.block->location.path) {
    const size_t unit = frame.units++;
    STRIA_RETURN_IF_ERROR(
        bind_unit(place, unit, units_[unit].count, unit_number(unit), frame, parent, conditions));
  }
  return {};
}

Status Builder::bind_unit(const stripe::LocationUnit& place, size_t unit, int64_t count,
                          const std::string& number, Frame& frame, const Frame& parent,
                          std::vector<Affine>& conditions) {
  const Block& block = *frame.block;
  const DataType type = options_.index_type;
  // The unit's number in terms of the block's indices: mixed radix, from the smallest coefficient
  // up.
  Affine fixed(place.units[0].constant());
  std::vector<std::pair<int64_t, const Index*>> digits;
  for (const auto& [name, coefficient] : place.units[0].terms()) {
    const Index* index = block.find_index(name);
    if (!index)
      return invalid_argument("the location of {} names '{}', no index of it", name_of_block(block),
                              name);
    if (index->range == 1) {
      fixed +=
          (index->affine ? index->affine->substitute(parent.indices) : Affine(0)) * coefficient;
    } else if (index->affine || frame.indices.count(name)) {
      return unsupported(
          "index '{}' of {} starts at another index, or names two units; lanes are numbered from "
          "0",
          name, name_of_block(block));
    } else {
      digits.emplace_back(coefficient, index);
    }
  }
  if (!fixed.is_constant() || (!digits.empty() && fixed.constant() != 0))
    return unsupported(
        "the number of unit '{}' of {} is {}; a number, or a sum of the block's own indices is "
        "supported",
        place.name, name_of_block(block), place.units[0].to_string());
  if (digits.empty()) {
    // One lane: number == fixed.
    if (count > 1) {
      conditions.push_back(Affine::of(number) - fixed.constant());
      conditions.push_back(Affine(fixed.constant()) - Affine::of(number));
    }
    return {};
  }
  std::sort(digits.begin(), digits.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  int64_t next = 1;
  for (const auto& [coefficient, index] : digits) {
    if (coefficient != next)
      return unsupported(
          "the number of unit '{}' of {} is {}, which leaves numbers out or gives them twice",
          place.name, name_of_block(block), place.units[0].to_string());
    next *= index->range;
    std::string& name = lane_indices_[{unit, {coefficient, index->range}}];
    if (name.empty()) {
      ExprRef value = nest_.value(Affine::of(number));
      if (coefficient > 1) value = binary(Op::div, value, integer(type, coefficient));
      if (next < count) value = binary(Op::rem, value, integer(type, index->range));
      const bool whole = value->kind == ExprKind::variable;
      name = whole ? number : nest_.define_outside(index->name, value, {0, index->range - 1});
    }
    frame.indices[index->name] = Affine::of(name);
  }
  if (next < count) conditions.push_back(Affine(next - 1) - Affine::of(number));
  return {};
}

bool Builder::bounds_differ_by_lane(const std::vector<Affine>& constraints,
                                    const std::string& index) const {
  bool differ = false;
  for (const Affine& form : constraints) {
    const int64_t a = form.coefficient(index);
    const bool is_constant = form.terms().size() == 1;
    if (a == 0 || is_constant) continue;
    const auto names = [&](const std::string& name) { return form.coefficient(name) != 0; };
    if (std::none_of(lane_indices_.begin(), lane_indices_.end(),
                     [&](const auto& entry) { return names(entry.second); }) &&
        std::none_of(unit_numbers_.begin(), unit_numbers_.end(), names))
      return false;
    differ = true;
  }
  return differ;
}

Status Builder::barrier(const Frame& frame, const stripe::Special& special, Body& out) {
  if (!special.inputs.empty() || !special.outputs.empty())
    return invalid_argument("special 'barrier' in {} takes no operands",
                            name_of_block(*frame.block));
  if (in_group() && frame.units > 0)
    return unsupported("a barrier in {} would not be met by all lanes of the group",
                       name_of_block(*frame.block));
  if (has_lanes()) out.push_back({Barrier{}});
  return {};
}

bool Builder::is_pipelined(const Block& block, const Frame& frame) const {
  // Without a barrier each lane uses what it has fetched itself, one point after the other.
  return in_group() && above_lanes(frame) &&
         block.tags.integer(stripe::tag::kPipeline).value_or(1) > 1 &&
         std::any_of(block.stmts.begin(), block.stmts.end(), has_barrier);
}

namespace {

bool has_load(const Statement& statement) {
  if (const auto* branch = std::get_if<If>(&statement.op))
    return std::any_of(branch->then.begin(), branch->then.end(), has_load);
  return std::holds_alternative<Load>(statement.op);
}

void add_assigned(const Statement& statement, std::set<int>& to) {
  if (const auto* let = std::get_if<Let>(&statement.op)) to.insert(let->var);
  if (const auto* load = std::get_if<Load>(&statement.op)) to.insert(load->var);
  if (const auto* branch = std::get_if<If>(&statement.op))
    to.insert(branch->kept.begin(), branch->kept.end());
}

// Splits `fetch` into `loads`, with all that loads need, and `stores`, with what waits for them,
// under the same conditions. Conditions inside are split likewise. The variables that the halves
// use are added to `needed` and `used_later`.
void take_apart(Body fetch, If& loads, If& stores, std::set<int>& needed,
                std::set<int>& used_later) {
  Body first, later;  // backwards
  for (auto statement = fetch.rbegin(); statement != fetch.rend(); ++statement) {
    if (auto* branch = std::get_if<If>(&statement->op); branch && has_load(*statement)) {
      If early{branch->condition, {}, {}}, late = early;
      take_apart(std::move(branch->then), early, late, needed, used_later);
      add_used(Statement{Let{-1, branch->condition}}, needed);
      first.push_back({std::move(early)});
      if (late.then.empty()) continue;
      add_used(Statement{Let{-1, branch->condition}}, used_later);
      later.push_back({std::move(late)});
      continue;
    }
    const auto* let = std::get_if<Let>(&statement->op);
    const bool is_first = has_load(*statement) || (let && needed.count(let->var));
    add_used(*statement, is_first ? needed : used_later);
    (is_first ? first : later).push_back(std::move(*statement));
  }
  std::set<int> assigned;
  for (const Statement& statement : first) add_assigned(statement, assigned);
  std::set_intersection(assigned.begin(), assigned.end(), used_later.begin(), used_later.end(),
                        std::back_inserter(loads.kept));
  loads.then.assign(std::make_move_iterator(first.rbegin()), std::make_move_iterator(first.rend()));
  stores.then.assign(std::make_move_iterator(later.rbegin()),
                     std::make_move_iterator(later.rend()));
}

}  // namespace

// Emits `barrier; for k { if k+N-1 < range: fetch(k+N-1); rest(k); barrier }`. The barrier
// separates what is fetched from those who read it, and rest(k-1) from the fetch that overwrites
// its copy of the allocations. At the loop's end it means the same as at its beginning, for every
// driver; some compile one at the beginning wrongly (docs/emitters.md).
//
// The tag #hold splits a fetch that consists of loads and of stores to memory of the group, under
// whatever conditions, if rest() leaves what it loads alone: `for k { if k+N-1 < range: its loads;
// barrier; rest(k); if k+N-1 < range: its stores }`. Nothing waits for the loads before rest(k) is
// done, and no compiler moves them over the barrier, down to the stores. The last barrier separates
// all but the last rest(k) from what comes behind the loop, as the block's own barrier would.
//
// A loop tagged #one_copy has one copy of its allocations: `fetch(0); barrier; for k { loads(k+1);
// rest(k); barrier; stores(k+1); barrier }`. At the last point lanes fetch it a second time, which
// is cheaper than a condition that every point has to test.
//
// `pending` are constraints on the loop's own indices. They are the same for all lanes: a point
// that fails them is neither fetched nor worked on.
Status Builder::pipelined(const Frame& outer, const Frame& parent,
                          const std::vector<Affine>& pending, Body& out) {
  const Block& block = *outer.block;
  const DataType type = options_.index_type;
  // Points are numbered in lexicographic order: index i is number / below % range.
  struct Digit {
    const Index* index = nullptr;
    int64_t below = 1;
  };
  std::vector<Digit> digits;
  int64_t range = 1;
  for (auto index = block.idxs.rbegin(); index != block.idxs.rend(); ++index) {
    if (outer.indices.count(index->name)) continue;
    digits.push_back({&*index, range});
    range *= index->range;
  }
  const int64_t depth = std::min(*block.tags.integer(stripe::tag::kPipeline), range);
  const auto first_barrier = std::find_if(block.stmts.begin(), block.stmts.end(), has_barrier);
  if (outer.repeats)
    return unsupported("{} is #pipeline; it may have no loop of the group around it",
                       name_of_block(block));
  const bool one_copy = block.tags.has(stripe::tag::kOneCopy);
  if (one_copy && *block.tags.integer(stripe::tag::kPipeline) != 2)
    return unsupported("{} is #one_copy and #pipeline={}; lanes hold what they fetch for one point",
                       name_of_block(block), *block.tags.integer(stripe::tag::kPipeline));
  std::map<std::string, View> made;
  Frame frame = outer;
  frame.repeats = true;
  for (const Refinement& ref : block.refs) {
    if (ref.dir != stripe::RefDir::none) continue;
    STRIA_ASSIGN(made[ref.into], allocate(ref, frame, one_copy ? 1 : depth));
  }
  // The index's value at the point of that number.
  const auto value_at = [&](const Digit& digit, const Affine& point) {
    if (digits.size() == 1) return point;
    if (point.is_constant()) return Affine(point.constant() / digit.below % digit.index->range);
    ExprRef value = nest_.value(point);
    if (digit.below > 1) value = binary(Op::div, value, integer(type, digit.below));
    if (digit.below * digit.index->range < range)
      value = binary(Op::rem, value, integer(type, digit.index->range));
    return Affine::of(nest_.define(digit.index->name, value, {0, digit.index->range - 1}));
  };
  // The statements before the first barrier, or the others, at `point`, with the copy number `copy`
  // of the allocations.
  const auto part = [&](const Affine& point, const Affine& copy, bool fetches, Body& to) -> Status {
    Frame at = frame;
    for (const Digit& digit : digits) {
      const std::optional<Affine>& affine = digit.index->affine;
      at.indices[digit.index->name] =
          (affine ? affine->substitute(parent.indices) : Affine(0)) + value_at(digit, point);
    }
    STRIA_RETURN_IF_ERROR(view_parent(at, parent));
    for (const auto& [name, view] : made) {
      View& own = at.views[name] = view;
      if (!slot_form(*view.whole) && !one_copy)
        own.offset += copy * std::max<int64_t>(view.whole->shape.span_elements(), 1);
    }
    std::vector<Affine> undecided = pending, conditions;
    if (!decide(at, undecided, conditions)) return {};
    return guarded(conditions, to, [&](Body& inner) -> Status {
      for (auto s = block.stmts.begin(); s != block.stmts.end(); ++s)
        if ((s < first_barrier) == fetches && !(s == first_barrier && is_barrier(*s)))
          STRIA_RETURN_IF_ERROR(statement(at, *s, inner));
      return {};
    });
  };
  for (int64_t i = 0; i + 1 < depth; ++i)
    STRIA_RETURN_IF_ERROR(part(Affine(i), Affine(i), true, out));
  nest_.open();
  const int var =
      nest_.new_variable(digits.size() == 1 ? digits[0].index->name : "point", {type, 1});
  const std::string name = function_.vars[static_cast<size_t>(var)].name;
  nest_.bind(name, var, {0, range - 1});
  const auto copy_of = [&](const ExprRef& point) {
    return Affine::of(
        nest_.define("copy", binary(Op::rem, point, integer(type, depth)), {0, depth - 1}));
  };
  const ExprRef ahead = exact(binary(Op::add, variable(var, {type, 1}), integer(type, depth - 1)));
  const std::string next = nest_.define("next", ahead, {depth - 1, range + depth - 2});
  const ExprRef beyond = nest_.value(Affine::of(next));
  const std::string last =
      nest_.define("fetched", binary(Op::min, beyond, integer(type, range - 1)), {0, range - 1});
  const Affine copy = copy_of(variable(var, {type, 1})), next_copy = copy_of(beyond);
  Body fetch, rest, body;
  STRIA_RETURN_IF_ERROR(part(Affine::of(last), next_copy, true, fetch));
  STRIA_RETURN_IF_ERROR(part(Affine::of(name), copy, false, rest));
  const auto barrier = [&](Body& to) {
    if (has_lanes()) to.push_back({Barrier{}});
  };
  const ExprRef comes = binary(Op::lt, beyond, integer(type, range));
  const bool hold = block.tags.has(stripe::tag::kHold);
  const bool apart = (one_copy || hold) && goes_apart(fetch, rest);
  if (one_copy) {
    if (!apart)
      return unsupported(
          "{} is #one_copy; what it fetches is not loads and then stores to its own allocations",
          name_of_block(block));
    If loads, stores;
    std::set<int> needed, used_later;
    take_apart(std::move(fetch), loads, stores, needed, used_later);
    barrier(out);
    body = std::move(loads.then);
    std::move(rest.begin(), rest.end(), std::back_inserter(body));
    barrier(body);
    std::move(stores.then.begin(), stores.then.end(), std::back_inserter(body));
    barrier(body);
  } else if (apart) {
    If loads{comes, {}, {}}, stores{comes, {}, {}};
    std::set<int> needed, used_later;
    take_apart(std::move(fetch), loads, stores, needed, used_later);
    body.push_back({std::move(loads)});
    barrier(body);
    std::move(rest.begin(), rest.end(), std::back_inserter(body));
    body.push_back({std::move(stores)});
  } else {
    if (hold && has_lanes())
      function_.notes.push_back(
          fmt::format("lanes do not hold what {} fetches: it is more than loads of what its points "
                      "leave alone and stores to shared memory",
                      name_of_block(block)));
    barrier(out);
    if (!fetch.empty()) body.push_back({If{comes, std::move(fetch), {}}});
    std::move(rest.begin(), rest.end(), std::back_inserter(body));
    barrier(body);
  }
  for (Statement& statement :
       nest_.close(name, var, integer(type, 0), integer(type, range), std::move(body)))
    out.push_back(std::move(statement));
  return {};
}

// Does the fetch have loads that may stand before `rest`, with its stores behind it?
bool Builder::goes_apart(const Body& fetch, const Body& rest) const {
  std::set<int> written;
  const auto add = [&](const Statement& statement) { add_written(statement, written); };
  walk(fetch, add);
  walk(rest, add);
  const auto may_go = [&](const auto& self, const Statement& statement) -> bool {
    if (auto* store = std::get_if<Store>(&statement.op))
      return !function_.is_param(store->place.memory) &&
             function_.array(store->place.memory).shared;
    if (auto* branch = std::get_if<If>(&statement.op))
      return std::all_of(branch->then.begin(), branch->then.end(),
                         [&](const Statement& inner) { return self(self, inner); });
    const auto* load = std::get_if<Load>(&statement.op);
    if (!load) return std::holds_alternative<Let>(statement.op);
    return std::none_of(written.begin(), written.end(),
                        [&](int memory) { return nest_.may_alias(memory, load->place.memory); });
  };
  return std::any_of(fetch.begin(), fetch.end(), has_load) &&
         std::all_of(fetch.begin(), fetch.end(),
                     [&](const Statement& statement) { return may_go(may_go, statement); });
}

Status Builder::instruction(const Frame& frame, const std::string& name, Body& out) {
  const Block& block = *frame.block;
  if (!above_lanes(frame))
    return unsupported(
        "{} is the stencil '{}', which lanes run together; it stands inside one lane",
        name_of_block(block), name);
  Instruction operation;
  operation.name = name;
  std::vector<const Refinement*> refs;
  for (const Refinement& ref : block.refs) refs.push_back(&ref);
  std::sort(refs.begin(), refs.end(),
            [](const auto* a, const auto* b) { return a->into < b->into; });
  for (const Refinement* ref : refs) {
    const View& view = frame.views.at(ref->into);
    const stripe::BitFieldForm* slot = view.whole ? slot_form(*view.whole) : nullptr;
    if (!slot)
      return unsupported("operand '{}' of the stencil '{}' in {} is not held by lanes", ref->into,
                         name, name_of_block(block));
    // The elements that the block's points touch, from the view's corner.
    std::vector<int64_t> extent;
    int64_t elements = 1;
    for (size_t d = 0; d < view.coordinates.size(); ++d) {
      int64_t reach = std::max<int64_t>(ref->shape.dims[d].size, 1);
      for (const auto& [index_name, coefficient] : ref->access[d].terms()) {
        const Index* index = block.find_index(index_name);
        const int64_t steps = index ? index->range - 1 : 0;
        const bool small = coefficient >= 0 && coefficient <= kMostLanes && steps <= kMostLanes;
        reach = small ? std::min(reach + coefficient * steps, kMostLanes + 1) : kMostLanes + 1;
      }
      extent.push_back(reach);
      elements = std::min(elements * reach, kMostLanes + 1);
    }
    if (elements > kMostLanes)
      return unsupported(
          "operand '{}' of the stencil '{}' in {} goes backward, or has more than {} elements",
          ref->into, name, name_of_block(block), kMostLanes);
    Instruction::Operand operand{view.memory, {}, ref->dir != stripe::RefDir::in};
    std::vector<int64_t> at(extent.size(), 0);
    for (;;) {
      std::vector<Affine> coordinates = view.coordinates;
      for (size_t d = 0; d < at.size(); ++d) coordinates[d] += at[d];
      Result<Affine> value = value_of(*slot, coordinates, nest_.box());
      if (!value)
        return value.status().with_context(
            fmt::format("operand '{}' of {}", ref->into, name_of_block(block)));
      if (!value->is_constant())
        return unsupported(
            "operand '{}' of the stencil '{}' in {} lies in slot {}; registers have constant "
            "numbers: "
            "unroll the loops around it",
            ref->into, name, name_of_block(block), value->to_string());
      operand.slots.push_back(value->constant());
      size_t d = at.size();
      while (d > 0 && ++at[d - 1] >= extent[d - 1]) at[--d] = 0;
      if (d == 0) break;
    }
    std::sort(operand.slots.begin(), operand.slots.end());
    operand.slots.erase(std::unique(operand.slots.begin(), operand.slots.end()),
                        operand.slots.end());
    operation.operands.push_back(std::move(operand));
  }
  out.push_back({std::move(operation)});
  return {};
}

}  // namespace stria::semtree
