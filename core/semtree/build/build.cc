// SPDX-License-Identifier: Apache-2.0
// Blocks, points and constraints: how a nest of Stripe blocks becomes loops, conditions and lanes.
#include "stria/semtree/build/build.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

#include "stria/semtree/build/builder.h"
#include "stria/semtree/build/shared_parameters.h"
#include "stria/semtree/peephole/load_hoisting.h"
#include "stria/semtree/peephole/load_merging.h"
#include "stria/semtree/peephole/register_arrays.h"
#include "stria/semtree/peephole/unused_definitions.h"
#include "stria/semtree/tree/expr.h"
#include "stria/semtree/tree/variables.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/stripe/walk.h"

namespace stria::semtree {
namespace {

// The most points of a loop to unroll that are tested where lanes have different bounds.
constexpr int64_t kMostTested = 16;

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

bool in_location(const stripe::Location& location, const std::string& index) {
  for (const stripe::LocationUnit& unit : location.path)
    for (const Affine& form : unit.units)
      if (form.uses(index)) return true;
  return false;
}

bool is_parallel(const Block& block, const Index& index) {
  return block.tags.has(stripe::tag::kParallel) || in_location(block.location, index.name);
}

// Do lanes whose scalars choose the same coordinates still store to different elements?
bool lanes_store_apart(const Refinement& ref, const stripe::ChosenCoordinates& at,
                       const Index& lane) {
  for (size_t d = 0; d < at.size() && d < ref.access.size(); ++d)
    if (at[d].empty() && ref.access[d].uses(lane.name)) return true;
  return false;
}

// Whether the block's points become the lanes of vector operations: a leaf, in which no lane can
// overwrite what another stored unless all of them run.
bool runs_as_lanes(const Block& block, const Index& lane, const BuildOptions& options) {
  if (!block.tags.has(stripe::tag::kVector) || lane.range > options.max_lanes) return false;
  if (options.only_powers_of_two_lanes && !std::has_single_bit(static_cast<uint64_t>(lane.range)))
    return false;
  const bool masked = std::any_of(block.constraints.begin(), block.constraints.end(),
                                  [&](const Affine& form) { return form.uses(lane.name); });
  for (const stripe::Statement& statement : block.stmts) {
    if (statement.block() || statement.special()) return false;
    auto* store = std::get_if<stripe::Store>(&statement.op);
    const Refinement* ref = store ? block.find_ref(store->into) : nullptr;
    if (ref && !store->at.empty() && !lanes_store_apart(*ref, store->at, lane)) return false;
    if (masked && ref && !ref->agg && ref->dir != RefDir::none &&
        !ref->flat_access().uses(lane.name))
      return false;
  }
  return true;
}

// How a block touches one of its refinements: by a load or a store, with the coordinates that
// scalars choose.
struct Touch {
  const Refinement* ref = nullptr;
  const stripe::ChosenCoordinates* at = nullptr;
  bool writes = false;
};

// The statements of a leaf that touch memory which outlives a point.
std::vector<Touch> touches_of(const Block& leaf) {
  std::vector<Touch> all;
  for (const stripe::Statement& statement : leaf.stmts) {
    Touch touch;
    if (auto* load = std::get_if<stripe::Load>(&statement.op))
      touch = {leaf.find_ref(load->from), &load->at, false};
    else if (auto* store = std::get_if<stripe::Store>(&statement.op))
      touch = {leaf.find_ref(store->into), &store->at, true};
    if (touch.ref && touch.ref->dir != RefDir::none) all.push_back(touch);
  }
  return all;
}

// Where the view begins, as far as that keeps what is known of alignment.
int64_t first_element(const Refinement& ref) {
  const int64_t aligned = kMemoryAlignment / byte_size(ref.shape.type);
  return std::max<int64_t>(ref.flat_access().constant() / aligned * aligned, 0);
}

int64_t points_of(const std::vector<const Index*>& packed) {
  int64_t count = 1;
  for (const Index* index : packed) count *= index->range;
  return count;
}

// The indices, fastest first, in the dimensions of a grid: runs of them, so that the groups' order
// stays, one index to each of the first dimensions as far as the others can have the rest. What
// fits nowhere is in the first one.
std::vector<std::vector<const Index*>> pack(const std::vector<const Index*>& indices,
                                            const std::array<int64_t, 3>& largest) {
  const auto part = [&](size_t from, size_t to) {
    return std::vector<const Index*>(indices.begin() + static_cast<std::ptrdiff_t>(from),
                                     indices.begin() + static_cast<std::ptrdiff_t>(to));
  };
  const size_t count = indices.size();
  for (size_t first = 1; first < count; ++first)
    for (size_t second = std::min(first + 1, count); second <= count; ++second) {
      if (points_of(part(0, first)) > largest[0] || points_of(part(first, second)) > largest[1] ||
          points_of(part(second, count)) > largest[2])
        continue;
      std::vector<std::vector<const Index*>> out = {part(0, first), part(first, second)};
      if (second < count) out.push_back(part(second, count));
      return out;
    }
  return {indices};
}

// ceil(-rest / a) for a > 0, the first t with a * t + rest >= 0.
ExprRef first_above(const LoopNest& nest, const Affine& rest, int64_t a, DataType type) {
  if (a == 1) return nest.value(-rest);
  return exact(
      binary(Op::sub, integer(type, 0), binary(Op::floor_div, nest.value(rest), integer(type, a))));
}
// floor(rest / a) + 1 for a > 0, the first t with -a * t + rest < 0.
ExprRef first_below(const LoopNest& nest, const Affine& rest, int64_t a, DataType type) {
  if (a == 1) return nest.value(rest + 1);
  return exact(
      binary(Op::add, binary(Op::floor_div, nest.value(rest), integer(type, a)), integer(type, 1)));
}

}  // namespace

std::string name_of_block(const Block& block) {
  return block.name.empty() ? "block without a name" : "block '" + block.name + "'";
}

Result<Function> build(const Block& kernel, const Block& main, const BuildOptions& options) {
  STRIA_RETURN_IF_ERROR(check_aggregations(kernel));
  if (!options.narrow_indices) return Builder(kernel, main, options).run();
  BuildOptions narrow = options;
  narrow.index_type = DataType::i32;
  Builder builder(kernel, main, narrow);
  Result<Function> function = builder.run();
  if (builder.fits_32_bits()) return function;
  BuildOptions wide = options;
  wide.index_type = DataType::i64;
  return Builder(kernel, main, wide).run();
}

Result<Function> Builder::run() {
  function_.name = kernel_.name;
  function_.index_type = options_.index_type;
  STRIA_ASSIGN(units_, lane_units(kernel_, subgroups()));
  if (has_lanes()) {
    STRIA_ASSIGN(shared_parts_, shared_parts(kernel_));
  }
  unit_numbers_.resize(units_.size());
  Frame outside;
  STRIA_RETURN_IF_ERROR(make_parameters(outside));
  Frame frame;
  frame.block = &kernel_;
  Body decoding, body;
  STRIA_RETURN_IF_ERROR(spread_points(frame, decoding));
  const bool empty = std::any_of(kernel_.idxs.begin(), kernel_.idxs.end(),
                                 [](const Index& i) { return i.range <= 0; });
  if (!empty) STRIA_RETURN_IF_ERROR(points(frame, outside, kernel_.constraints, body));
  for (Statement& statement : nest_.finish(std::move(body)))
    decoding.push_back(std::move(statement));
  function_.body = std::move(decoding);
  if (options_.index_type == DataType::i32 && !nest_.fits_32_bits())
    return make_error(StatusCode::out_of_range, "kernel '{}' needs indices of more than 32 bits",
                      kernel_.name);
  const Peepholes& peepholes = options_.peepholes;
  STRIA_RETURN_IF_ERROR(place_arrays_in_registers(
      function_, peepholes.register_arrays ? wants_registers_ : has_slots_,
      options_.loads_across_slots));
  if (peepholes.hoist_loads) hoist_loads(function_);
  if (peepholes.merge_loads && options_.shared_vector_bytes > 0)
    merge_loads(function_, options_.shared_vector_bytes);
  if (peepholes.remove_unused) remove_unused(function_);
  find_shared_parameters(function_);
  // What only the missing peephole keeps out of registers does not count: no kernel is refused for
  // want of a peephole.
  int64_t stack = 0;
  for (size_t i = 0; i < function_.arrays.size(); ++i) {
    const Array& array = function_.arrays[i];
    const bool would_be_variables = !peepholes.register_arrays && wants_registers_[i];
    if (!array.in_registers && !array.shared && !array.fragment && !would_be_variables)
      stack += array.count * byte_size(array.type);
  }
  if (stack > options_.stack_limit_bytes)
    return make_error(
        StatusCode::out_of_range,
        "kernel '{}' allocates {} bytes outside registers, the limit is {}: tile its allocations "
        "smaller or make them in the program's entry block",
        kernel_.name, stack, options_.stack_limit_bytes);
  return std::move(function_);
}

Status Builder::make_parameters(Frame& outside) {
  std::map<std::string, int> groups;
  for (const Refinement* ref : stripe::kernel_arguments(kernel_)) {
    const Refinement* whole = main_.find_ref(ref->from);
    if (!whole)
      return invalid_argument(
          "refinement '{}' of kernel '{}' names '{}', which its parent does not have", ref->into,
          kernel_.name, ref->from);
    const int64_t span = whole->shape.span_elements();
    nest_.measure(Affine(span));
    if (options_.index_type == DataType::i32 && !nest_.fits_32_bits())
      return make_error(StatusCode::out_of_range,
                        "tensor '{}' spans {} elements, more than 32-bit indices reach",
                        whole->into, span);
    // Views of one tensor of the program share memory.
    const std::string& tensor = whole->from.empty() ? whole->into : whole->from;
    const int group = groups.emplace(tensor, static_cast<int>(groups.size())).first->second;
    // Two refinements of one tensor have a parameter each: the kernel's views are found by `into`.
    View& view = outside.views[ref->into];
    view.memory = static_cast<int>(function_.params.size());
    view.whole = whole;
    view.coordinates.resize(whole->shape.rank());
    if (options_.argument_offsets) view.first = -first_element(*ref);
    function_.params.push_back({.name = nest_.unique_name(ref->into),
                                .type = whole->shape.type,
                                .readable = ref->dir != RefDir::out,
                                .writable = ref->dir != RefDir::in,
                                .span = span,
                                .alias_group = group,
                                .first = -view.first});
  }
  return {};
}

Status Builder::spread_points(Frame& frame, Body& out) {
  if (has_lanes() && stripe::combines_across_lanes(main_, kernel_))
    return unsupported("lanes of a group in {} add to one element at once", name_of_block(kernel_));
  const Type type{options_.index_type, 1};
  std::vector<const Index*> spread;
  std::vector<std::string> names;
  int64_t count = 1;
  for (const Index& index : kernel_.idxs) {
    if (index.range == 1 || !is_parallel(kernel_, index)) continue;
    if (index.range > 0 && count > std::numeric_limits<int32_t>::max() / index.range) break;
    // Points that add to one element take turns: they become loops, as the rules allow.
    names.push_back(index.name);
    if (stripe::combines_across_points(main_, kernel_, names)) {
      names.pop_back();
      continue;
    }
    count *= index.range;
    spread.push_back(&index);
  }
  function_.trip_count = std::max<int64_t>(count, 0);
  nest_.measure(Affine(2 * function_.trip_count));  // launches round up to whole groups
  // The last index is fastest.
  std::reverse(spread.begin(), spread.end());
  const auto number = [&](const std::vector<const Index*>& packed) {
    const int var = nest_.new_variable(packed.size() == 1 ? packed[0]->name
                                       : in_group()       ? "group"
                                                          : "point",
                                       type);
    unpack(packed, var, frame, out);
    return var;
  };
  if (!has_lanes()) function_.parallel_var = number(spread);
  if (!in_group()) return {};
  function_.group_lanes = units_[0].count * units_[0].inside;
  function_.lane_var = nest_.new_variable("lane", type);
  nest_.bind(function_.vars[static_cast<size_t>(function_.lane_var)].name, function_.lane_var,
             {0, function_.group_lanes - 1});
  if (has_lanes())
    for (const std::vector<const Index*>& packed : pack(spread, options_.largest_grid))
      function_.grid.push_back({number(packed), points_of(packed)});
  return {};
}

// x = rest % range, rest = rest / range.
void Builder::unpack(const std::vector<const Index*>& packed, int number, Frame& frame, Body& out) {
  const Type type{options_.index_type, 1};
  ExprRef rest = variable(number, type);
  for (size_t k = 0; k < packed.size(); ++k) {
    const Index& index = *packed[k];
    int var = number;
    if (packed.size() > 1) {
      const bool last = k + 1 == packed.size();
      var = nest_.new_variable(index.name, type);
      ExprRef range = integer(options_.index_type, index.range);
      out.push_back({Let{var, last ? rest : binary(Op::rem, rest, range)}});
      if (!last) rest = binary(Op::div, rest, range);
    }
    const std::string& name = function_.vars[var].name;
    nest_.bind(name, var, {0, index.range - 1});
    frame.indices[index.name] = Affine::of(name) + (index.affine ? index.affine->constant() : 0);
  }
}

// Does no lane see what another one stores? Vector lanes run statement by statement, points run one
// after the other: a point that reads or overwrites what an earlier one wrote would differ.
bool Builder::lanes_keep_apart(const Block& block, const Index& lane, const Frame& parent) const {
  const auto view_around = [&](const Refinement& ref) {
    auto view = parent.views.find(parent.block ? ref.from : ref.into);
    return view == parent.views.end() ? View() : view->second;  // an unknown name is reported later
  };
  const auto memory_of = [&](const View& view) {
    const size_t memory = static_cast<size_t>(view.memory);
    return view.memory >= 0 && memory < function_.params.size()
               ? -1 - function_.params[memory].alias_group
               : view.memory;
  };
  const std::vector<Touch> all = touches_of(block);
  for (const Touch& store : all) {
    if (!store.writes) continue;
    const View written = view_around(*store.ref);
    for (const Touch& other : all) {
      // Sums of several stores may be taken in any order.
      if (other.writes && (&other == &store || other.ref == store.ref ||
                           (store.ref->agg && store.ref->agg == other.ref->agg)))
        continue;
      const View touched = view_around(*other.ref);
      if (memory_of(touched) != memory_of(written)) continue;
      // Allocations of one array that are used together lie apart.
      if (!function_.is_param(written.memory) && touched.whole != written.whole) continue;
      // Each lane has elements of its own if both accesses touch the same elements and the lane
      // moves them.
      const bool same = touched.offset == written.offset && touched.scale == written.scale &&
                        other.ref->flat_access() == store.ref->flat_access();
      const bool own =
          store.at->empty() && other.at->empty()
              ? store.ref->flat_access().uses(lane.name)
              : lanes_store_apart(*store.ref, *store.at, lane) && store.ref == other.ref &&
                    (other.at->empty() || lanes_store_apart(*other.ref, *other.at, lane));
      if (!same || !own) return false;
    }
  }
  return true;
}

Status Builder::count_statement(const Block& block) {
  if (++statement_count_ <= options_.unrolled_statement_limit) return {};
  return make_error(StatusCode::out_of_range,
                    "kernel '{}' unrolls to more than {} statements, in {}", kernel_.name,
                    options_.unrolled_statement_limit, name_of_block(block));
}

Status Builder::nested_block(const Block& block, const Frame& parent, Body& out) {
  for (const Index& index : block.idxs)
    if (index.range <= 0) return {};
  Frame frame;
  frame.block = &block;
  frame.units = parent.units;
  frame.repeats = parent.repeats;
  frame.in_subgroup = parent.in_subgroup;
  if (const stripe::TagValue* symbol = block.tags.find(stripe::tag::kMicroKernel);
      symbol && options_.micro_kernels)
    if (auto* text = std::get_if<std::string>(symbol)) {
      for (const Index& index : block.idxs)
        frame.indices[index.name] =
            index.affine ? index.affine->substitute(parent.indices) : Affine(0);
      STRIA_RETURN_IF_ERROR(view_parent(frame, parent));
      return micro_kernel(frame, *text, out);
    }
  if (const stripe::TagValue* name = block.tags.find(stripe::tag::kStencil); name && in_group())
    if (auto* text = std::get_if<std::string>(name)) {
      for (const Index& index : block.idxs)
        frame.indices[index.name] =
            index.affine && index.range == 1 ? index.affine->substitute(parent.indices) : Affine(0);
      STRIA_RETURN_IF_ERROR(view_parent(frame, parent));
      if (is_matrix_operation(frame)) return matrix_operation(frame, out);
      return instruction(frame, *text, out);
    }
  std::vector<Affine> conditions;
  if (in_group() && is_lane_block(block))
    STRIA_RETURN_IF_ERROR(bind_lanes(frame, parent, conditions));
  return guarded(conditions, out,
                 [&](Body& inner) { return points(frame, parent, block.constraints, inner); });
}

bool Builder::decide(const Frame& frame, std::vector<Affine>& pending,
                     std::vector<Affine>& open) const {
  std::vector<Affine> later;
  for (Affine& form : pending) {
    const bool decided =
        std::all_of(form.terms().begin(), form.terms().end(),
                    [&](const Affine::Term& term) { return frame.indices.count(term.first) > 0; });
    if (!decided) {
      later.push_back(std::move(form));
      continue;
    }
    Affine inner = form.substitute(frame.indices);
    Interval range = interval_of(inner, nest_.box());
    if (range.upper < 0) return false;
    if (range.lower < 0) open.push_back(std::move(inner));
  }
  pending = std::move(later);
  return true;
}

Status Builder::guarded(const std::vector<Affine>& conditions, Body& out,
                        const std::function<Status(Body&)>& inner) {
  ExprRef all;
  for (const Affine& form : conditions) {
    ExprRef one = nest_.at_least_zero(form);
    all = all ? binary(Op::bit_and, all, one) : one;
  }
  if (!all) return inner(out);
  Body then;
  STRIA_RETURN_IF_ERROR(inner(then));
  if (!then.empty()) append(out, {If{all, std::move(then), {}}});
  return {};
}

Status Builder::points(const Frame& outer, const Frame& parent, std::vector<Affine> pending,
                       Body& out) {
  const Block& block = *outer.block;
  Frame frame = outer;
  const Index* next = nullptr;
  int open_indices = 0;
  for (const Index& index : block.idxs) {
    if (frame.indices.count(index.name)) continue;
    if (index.range == 1) {
      frame.indices[index.name] =
          index.affine ? index.affine->substitute(parent.indices) : Affine(0);
    } else {
      if (!next) next = &index;
      ++open_indices;
    }
  }
  std::vector<Affine> conditions;
  if (!decide(frame, pending, conditions)) return {};
  return guarded(conditions, out, [&](Body& inner) -> Status {
    if (!next) return one_point(frame, parent, inner);
    if (open_indices == 1 && runs_as_lanes(block, *next, options_) &&
        lanes_keep_apart(block, *next, parent))
      return lanes(*next, frame, parent, pending, inner);
    if (is_pipelined(block, frame)) return pipelined(frame, parent, pending, inner);
    if (!block.tags.has(stripe::tag::kUnroll)) return loop(*next, frame, parent, pending, inner);
    const Affine start = next->affine ? next->affine->substitute(parent.indices) : Affine(0);
    for (int64_t i = 0; i < next->range; ++i) {
      STRIA_RETURN_IF_ERROR(count_statement(block));
      frame.indices[next->name] = start + i;
      STRIA_RETURN_IF_ERROR(points(frame, parent, pending, inner));
    }
    return {};
  });
}

Status Builder::loop(const Index& index, Frame frame, const Frame& parent,
                     const std::vector<Affine>& constraints, Body& out) {
  const DataType type = options_.index_type;
  nest_.open();
  const int var = nest_.new_variable(index.name, {type, 1});
  const std::string name = function_.vars[var].name;
  Interval range{0, index.range - 1};
  nest_.bind(name, var, range);
  frame.repeats = frame.repeats || above_lanes(frame);
  frame.indices[index.name] =
      (index.affine ? index.affine->substitute(parent.indices) : Affine(0)) + Affine::of(name);
  // Constraints that this index decides clip its range.
  const bool unroll = frame.block->tags.has(stripe::tag::kUnrollHint);
  std::vector<Affine> pending = constraints, open, inside;
  bool feasible = decide(frame, pending, open);
  ExprRef lower = integer(type, 0), upper = integer(type, index.range);
  const bool tests = unroll && index.range <= kMostTested && bounds_differ_by_lane(open, name);
  for (const Affine& form : open) {
    const int64_t a = form.coefficient(name);
    Affine rest = form;
    rest.add_term(name, -a);
    if (a == 0 || (tests && !rest.is_constant())) {
      inside.push_back(form);
    } else if (a > 0) {
      if (rest.is_constant()) range.lower = std::max(range.lower, ceil_div(-rest.constant(), a));
      lower = binary(Op::max, lower, first_above(nest_, rest, a, type));
    } else {
      if (rest.is_constant()) range.upper = std::min(range.upper, floor_div(rest.constant(), -a));
      upper = binary(Op::min, upper, first_below(nest_, rest, -a, type));
    }
  }
  feasible = feasible && !range.empty();
  Body body;
  if (feasible) {
    nest_.narrow(name, range);
    STRIA_RETURN_IF_ERROR(
        guarded(inside, body, [&](Body& inner) { return points(frame, parent, pending, inner); }));
  }
  const bool empty = body.empty();
  Body closed = nest_.close(name, var, std::move(lower), std::move(upper), std::move(body), unroll);
  if (empty) return {};
  for (Statement& statement : closed) append(out, std::move(statement));
  return {};
}

Status Builder::lanes(const Index& index, Frame frame, const Frame& parent,
                      std::vector<Affine> pending, Body& out) {
  const DataType type = options_.index_type;
  const int64_t count = index.range;
  nest_.bind_lane({0, count - 1});
  frame.lanes = static_cast<int>(count);
  frame.indices[index.name] =
      (index.affine ? index.affine->substitute(parent.indices) : Affine(0)) + Affine::of(kLane);
  std::vector<Affine> open, uniform;
  const bool feasible = decide(frame, pending, open);
  nest_.unbind_lane();
  if (!feasible) return {};
  // Constraints on the lane leave an interval of lanes, which may be empty.
  ExprRef first, last;
  bool may_be_empty = false;
  for (const Affine& form : open) {
    const int64_t a = form.coefficient(kLane);
    Affine rest = form;
    rest.add_term(kLane, -a);
    const int64_t best_lane = a > 0 ? count - 1 : 0;
    may_be_empty = may_be_empty || interval_of(rest + a * best_lane, nest_.box()).lower < 0;
    if (a == 0) {
      uniform.push_back(form);
    } else if (a > 0) {
      ExprRef bound = first_above(nest_, rest, a, type);
      first = first ? binary(Op::max, first, bound) : bound;
    } else {
      ExprRef bound = first_below(nest_, rest, -a, type);
      last = last ? binary(Op::min, last, bound) : bound;
    }
  }
  ExprRef some;
  const auto clamped = [&](const ExprRef& lane) {
    ExprRef inside = binary(Op::min, binary(Op::max, lane, integer(type, 0)), integer(type, count));
    return broadcast(convert_to(DataType::i32, inside), frame.lanes);
  };
  const ExprRef numbers = iota(DataType::i32, frame.lanes);
  if (first) frame.mask = binary(Op::le, clamped(first), numbers);
  if (last) {
    ExprRef below = binary(Op::lt, numbers, clamped(last));
    frame.mask = frame.mask ? binary(Op::bit_and, frame.mask, below) : below;
  }
  if (first && last) may_be_empty = true;
  if (may_be_empty) {
    // Masks keep inactive lanes from memory. An element that all lanes share needs at least one
    // active lane.
    if (first)
      some = binary(Op::lt, first,
                    last ? binary(Op::min, last, integer(type, count)) : integer(type, count));
    if (last) {
      ExprRef positive = binary(Op::lt, integer(type, 0), last);
      some = some ? binary(Op::bit_and, some, positive) : positive;
    }
  }
  return guarded(uniform, out, [&](Body& inner) -> Status {
    Body then;
    if (frame.mask) frame.mask = named(frame.mask, "mask", some ? then : inner);
    if (!some) return one_point(frame, parent, inner);
    STRIA_RETURN_IF_ERROR(one_point(frame, parent, then));
    append(inner, {If{some, std::move(then), {}}});
    return {};
  });
}

Status Builder::view_parent(Frame& frame, const Frame& parent) const {
  for (const Refinement& ref : frame.block->refs) {
    if (ref.dir == RefDir::none) continue;
    // The kernel's own refinements have a parameter each.
    auto from = parent.views.find(parent.block ? ref.from : ref.into);
    if (from == parent.views.end())
      return invalid_argument("refinement '{}' of {} names '{}', which its parent does not have",
                              ref.into, name_of_block(*frame.block), ref.from);
    View view = from->second;
    view.offset += ref.flat_access().substitute(frame.indices) * view.scale;
    for (size_t d = 0; d < ref.access.size() && d < view.coordinates.size(); ++d)
      view.coordinates[d] += ref.access[d].substitute(frame.indices);
    view.agg = ref.agg;
    if (ref.tags.has(stripe::tag::kClamp)) view.beyond = View::Beyond::clamp;
    if (ref.tags.has(stripe::tag::kZeroFill)) view.beyond = View::Beyond::zero_fill;
    frame.views[ref.into] = std::move(view);
  }
  return {};
}

Status Builder::one_point(Frame frame, const Frame& parent, Body& out) {
  STRIA_RETURN_IF_ERROR(view_parent(frame, parent));
  for (const Refinement& ref : frame.block->refs) {
    if (ref.dir != RefDir::none && ref.tags.has(stripe::tag::kFetch))
      STRIA_RETURN_IF_ERROR(prefetch(ref, frame, out));
    if (ref.dir != RefDir::none) continue;
    STRIA_ASSIGN(frame.views[ref.into], allocate(ref, frame, 1));
  }
  return statements(frame, out);
}

Result<View> Builder::allocate(const Refinement& ref, const Frame& frame, int64_t copies) {
  const bool of_group = in_group() && above_lanes(frame) && !slot_form(ref);
  const bool shared = of_group && has_lanes();
  if (of_group && frame.units > 0)
    return unsupported("allocation '{}' of {} is neither of the whole group nor of one lane",
                       ref.into, name_of_block(*frame.block));
  // In a loop of the group, one copy serves all points: barriers separate them (S11).
  if (ref.swizzle && frame.lanes > 1)
    return unsupported(
        "allocation '{}' of {}: what each lane of a vector operation holds has no swizzled layout",
        ref.into, name_of_block(*frame.block));
  for (const Dim& dim : ref.shape.dims)
    if (dim.stride < 0)
      return unsupported("allocation '{}' of {} has a negative stride", ref.into,
                         name_of_block(*frame.block));
  const int64_t span =
      slot_form(ref) ? slots_of(ref) : std::max<int64_t>(ref.shape.span_elements(), 1);
  if (span > options_.stack_limit_bytes)
    return make_error(
        StatusCode::out_of_range,
        "allocation '{}' of {} has {} elements, a kernel's allocations are limited to {} bytes",
        ref.into, name_of_block(*frame.block), span, options_.stack_limit_bytes);
  View view;
  view.memory = static_cast<int>(function_.params.size() + function_.arrays.size());
  view.agg = ref.agg;
  view.whole = &ref;
  view.coordinates.resize(ref.shape.rank());
  if (frame.lanes > 1) {
    view.scale = frame.lanes;
    view.offset = Affine::of(kLane);
  }
  const auto part = shared_parts_.find(&ref);
  const bool in_part = part != shared_parts_.end() && shared;
  if (in_part) {
    view.first = part->second.first;
    const auto [made, added] = shared_memories_.emplace(part->second.array, view.memory);
    view.memory = made->second;
    if (!added) return view;
  }
  function_.arrays.push_back({.name = nest_.unique_name(in_part ? "shared" : ref.into),
                              .type = ref.shape.type,
                              .count = in_part ? part->second.count : span * view.scale * copies,
                              .shared = shared});
  if (is_fragment(ref)) {
    // An operand of a product has its own type; matrix.cc corrects it.
    function_.arrays.back().type = compute_type(ref.shape.type);
    function_.arrays.back().fragment.emplace();
    wants_registers_.push_back(false);
    has_slots_.push_back(false);
    return view;
  }
  const bool located =
      !ref.location.empty() && ref.location.path.back().name == options_.register_unit;
  const bool slots = slot_form(ref) != nullptr;
  wants_registers_.push_back(!shared && !ref.swizzle && (located || slots || span == 1));
  has_slots_.push_back(slots && !shared && !ref.swizzle);
  return view;
}

}  // namespace stria::semtree
