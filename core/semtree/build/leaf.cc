// SPDX-License-Identifier: Apache-2.0
// The statements of one point: loads, stores, aggregation, arithmetic.
#include <algorithm>
#include <limits>

#include "stria/semtree/build/builder.h"
#include "stria/semtree/tree/arithmetic.h"
#include "stria/semtree/tree/expr.h"
#include "stria/stripe/aggregation.h"
#include "stria/stripe/tags.h"

namespace stria::semtree {

Status Builder::statements(Frame& frame, Body& out) {
  for (const stripe::Statement& statement : frame.block->stmts)
    STRIA_RETURN_IF_ERROR(this->statement(frame, statement, out));
  return {};
}

Status Builder::statement(Frame& frame, const stripe::Statement& statement, Body& out) {
  STRIA_RETURN_IF_ERROR(count_statement(*frame.block));
  if (const stripe::Block* block = statement.block()) return nested_block(*block, frame, out);
  if (is_barrier(statement)) return barrier(frame, *statement.special(), out);
  if (above_lanes(frame))
    return unsupported(
        "{} stands above the lanes of kernel '{}'; it may hold loops, lane blocks, stencils and "
        "barriers",
        name_of_block(*frame.block), kernel_.name);
  if (auto* s = std::get_if<stripe::Load>(&statement.op)) return load(frame, *s, out);
  if (auto* s = std::get_if<stripe::Store>(&statement.op)) return store(frame, *s, out);
  if (auto* s = std::get_if<stripe::LoadIndex>(&statement.op)) return load_index(frame, *s, out);
  if (auto* s = std::get_if<stripe::Intrinsic>(&statement.op))
    return intrinsic_call(frame, *s, out);
  if (auto* s = std::get_if<stripe::Constant>(&statement.op)) {
    ExprRef value = constant(s->value);
    frame.scalars[s->into] = {convert_to(compute_type(s->value.type), value), s->value.type};
    return {};
  }
  return special(frame, *statement.special(), out);
}

ExprRef Builder::named(ExprRef expr, std::string_view hint, Body& out) {
  if (expr->kind == ExprKind::variable || expr->kind == ExprKind::constant) return expr;
  const Type type = expr->type;
  const int var = nest_.new_variable(hint, type);
  out.push_back({Let{var, std::move(expr)}});
  return variable(var, type);
}

Result<const View*> Builder::view_of(const Frame& frame, const std::string& name) const {
  auto at = frame.views.find(name);
  if (at == frame.views.end())
    return invalid_argument("{} has no refinement '{}'", name_of_block(*frame.block), name);
  return &at->second;
}

Result<Value> Builder::scalar_of(const Frame& frame, const std::string& name) const {
  auto at = frame.scalars.find(name);
  if (at == frame.scalars.end())
    return invalid_argument("{} has no scalar '${}'", name_of_block(*frame.block), name);
  return at->second;
}

ExprRef Builder::load_place(const Place& p, std::string_view hint, Body& out) {
  const DataType element = function_.element_type(p.memory);
  const Type type{element, p.lanes};
  const int var = nest_.new_variable(hint, type);
  out.push_back({Load{var, p}});
  const ExprRef loaded = variable(var, type);
  ExprRef value = named(convert_to(compute_type(element), loaded), hint, out);
  if (value->kind == ExprKind::variable && value->var != var) stored_as_[value->var] = loaded;
  return value;
}

Result<std::vector<Builder::Choice>> Builder::choices(const Frame& frame, const View& view,
                                                      const std::string& ref,
                                                      const stripe::ChosenCoordinates& at) const {
  std::vector<Choice> out;
  const stripe::Refinement* whole = frame.block->find_ref(ref);
  if (!at.empty() && (!whole || whole->shape.rank() != at.size()))
    return invalid_argument("{} chooses {} coordinates of '{}'", name_of_block(*frame.block),
                            at.size(), ref);
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d].empty()) continue;
    STRIA_ASSIGN(Value value, scalar_of(frame, at[d]));
    const Dim& dim = whole->shape.dims[d];
    if (!is_integer(value.type) || dim.size < 0)
      return invalid_argument("{}: '${}' cannot choose a coordinate of '{}'",
                              name_of_block(*frame.block), at[d], ref);
    out.push_back({value.expr, dim.size, dim.stride * view.scale});
  }
  return out;
}

namespace {

// Whether a number of `type` can be above `limit` >= 0.
bool may_exceed(DataType type, int64_t limit) {
  const int bits = bit_width(type) - (is_signed_integer(type) ? 1 : 0);
  return bits >= 63 || limit < (int64_t{1} << bits) - 1;
}

// The coordinate clamped to 0 .. size-1, in its own type.
ExprRef clamped(ExprRef x, int64_t size) {
  const DataType type = x->type.scalar;
  if (is_signed_integer(type)) x = binary(Op::max, x, integer(type, 0));
  return may_exceed(type, size - 1) ? binary(Op::min, x, integer(type, size - 1)) : x;
}

// Whether the coordinate is in 0 .. size-1; null if its type allows nothing else.
ExprRef inside(const ExprRef& x, int64_t size) {
  const DataType type = x->type.scalar;
  ExprRef all;
  if (is_signed_integer(type)) all = binary(Op::le, integer(type, 0), x);
  if (may_exceed(type, size - 1)) {
    ExprRef below = binary(Op::le, x, integer(type, size - 1));
    all = all ? binary(Op::bit_and, all, below) : below;
  }
  return all;
}

}  // namespace

void Builder::move_place(Place& p, const std::vector<Choice>& choices, const Frame& frame,
                         Body& out) {
  const DataType type = options_.index_type;
  p.multiple = 1;
  p.exists = false;  // the view may reach beyond its allocation
  ExprRef moved;
  for (const Choice& choice : choices) {
    ExprRef term = binary(Op::mul, convert_to(type, choice.value), integer(type, choice.stride));
    moved = moved ? binary(Op::add, moved, term) : term;
  }
  if (moved->type.lanes > 1) {
    // Each lane has coordinates of its own.
    if (p.lanes > 1)
      moved = binary(Op::add, moved, binary(Op::mul, iota(type, p.lanes), integer(type, p.stride)));
    p.lanes = frame.lanes;
    p.stride = 1;
    p.mask = frame.mask;
  }
  p.offset = named(p.offset ? binary(Op::add, moved, p.offset) : moved, "chosen", out);
}

// Do the lanes lie in a row, in a tensor?
bool Builder::runs_in_memory(const Place& p, const Frame& frame) const {
  return p.lanes > 1 && p.lanes == frame.lanes && p.stride == 1 && function_.is_param(p.memory) &&
         (!p.offset || p.offset->type.lanes == 1);
}

Status Builder::load(Frame& frame, const stripe::Load& load, Body& out) {
  STRIA_ASSIGN(const View* view, view_of(frame, load.from));
  STRIA_ASSIGN(std::vector<Choice> chosen, choices(frame, *view, load.from, load.at));
  for (Choice& choice : chosen) choice.value = clamped(choice.value, choice.size);
  STRIA_ASSIGN(Place p, place(*view, frame, out));
  if (!chosen.empty()) move_place(p, chosen, frame, out);
  STRIA_ASSIGN(const ExprRef inside, move_inside(*view, frame, p, out));
  const DataType element = function_.element_type(view->memory);
  const size_t position = out.size();
  ExprRef value = load_place(p, load.into, out);
  if (const stripe::Refinement* ref = frame.block->find_ref(load.from);
      ref && runs_in_memory(p, frame))
    std::get<Load>(out[position].op).prefetch =
        ref->tags.integer(stripe::tag::kPrefetch).value_or(0);
  if (inside) {
    const Scalar zero = convert(Scalar::of_int(DataType::i32, 0), value->type.scalar);
    value = named(select(inside, value, constant(zero)), load.into, out);
  }
  frame.scalars[load.into] = {value, element};
  return {};
}

Status Builder::prefetch(const stripe::Refinement& ref, const Frame& frame, Body& out) {
  const View& view = frame.views.at(ref.into);
  if (!function_.is_param(view.memory) || frame.lanes > 1 || ref.swizzle ||
      ref.shape.element_count() == 0)
    return {};
  STRIA_ASSIGN(Place first, place(view, frame, out));
  // One dimension lies in a row; the others count the runs.
  std::vector<Dim> outer;
  for (const Dim& dim : ref.shape.dims) {
    if (dim.stride == 1 && first.lanes == 1) {
      first.lanes = static_cast<int>(std::min<int64_t>(dim.size, std::numeric_limits<int>::max()));
    } else if (dim.size > 1) {
      outer.push_back(dim);
    }
  }
  std::vector<int64_t> offsets = {0};
  for (const Dim& dim : outer) {
    std::vector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < dim.size; ++i) {
        STRIA_RETURN_IF_ERROR(count_statement(*frame.block));
        next.push_back(offset + i * dim.stride);
      }
    offsets = std::move(next);
  }
  for (int64_t offset : offsets) {
    Place run = first;
    run.constant += offset;
    nest_.measure(view.offset + (run.constant - first.constant) + run.lanes);
    out.push_back({Prefetch{std::move(run), ref.dir != stripe::RefDir::in}});
  }
  return {};
}

Status Builder::load_index(Frame& frame, const stripe::LoadIndex& load, Body& out) {
  Affine form = load.from.substitute(frame.indices);
  const int64_t a = form.coefficient(kLane);
  form.add_term(kLane, -a);
  ExprRef value = nest_.value(form);
  if (a != 0) {
    ExprRef lanes = exact(
        binary(Op::mul, iota(options_.index_type, frame.lanes), integer(options_.index_type, a)));
    value = exact(binary(Op::add, value, lanes));
  }
  frame.scalars[load.into] = {named(convert_to(load.type, value), load.into, out), load.type};
  return {};
}

Status Builder::intrinsic_call(Frame& frame, const stripe::Intrinsic& call, Body& out) {
  if (call.outputs.size() != 1)
    return unsupported("intrinsic '{}' in {} has {} outputs", call.name,
                       name_of_block(*frame.block), call.outputs.size());
  std::vector<ExprRef> operands;
  for (const std::string& name : call.inputs) {
    STRIA_ASSIGN(Value value, scalar_of(frame, name));
    operands.push_back(value.expr);
  }
  const Namer namer = [&](ExprRef expr) { return named(std::move(expr), call.outputs[0], out); };
  Result<ExprRef> made = intrinsic(call.name, call.type, operands, namer);
  if (!made) return made.status().with_context(name_of_block(*frame.block));
  ExprRef result = *made;
  const bool product =
      result->kind == ExprKind::operation && result->op == Op::mul && is_float(result->type.scalar);
  ExprRef value = namer(result);
  if (product) products_[value->var] = result;
  // Comparisons and logic give bool whatever the operation type is.
  const DataType type =
      value->type.scalar == compute_type(call.type) ? call.type : value->type.scalar;
  frame.scalars[call.outputs[0]] = {std::move(value), type};
  return {};
}

Status Builder::store(Frame& frame, const stripe::Store& store, Body& out) {
  STRIA_ASSIGN(const View* view, view_of(frame, store.into));
  STRIA_ASSIGN(Value value, scalar_of(frame, store.from));
  STRIA_ASSIGN(std::vector<Choice> chosen, choices(frame, *view, store.into, store.at));
  STRIA_ASSIGN(Place p, place(*view, frame, out));
  if (chosen.empty()) {
    store_element(frame, *view, p, value.expr, out);
    const stripe::Refinement* ref = frame.block->find_ref(store.into);
    if (!ref || view->agg || !runs_in_memory(p, frame)) return {};
    auto& stored = std::get<Store>(out.back().op);
    stored.stream = ref->tags.has(stripe::tag::kStream) && !p.mask;
    stored.prefetch = ref->tags.integer(stripe::tag::kPrefetch).value_or(0);
    return {};
  }
  // A store whose chosen coordinate is outside the view does nothing: a condition, or a mask if
  // lanes differ.
  ExprRef condition, mask;
  for (const Choice& choice : chosen) {
    if (choice.size == 0) return {};
    ExprRef one = inside(choice.value, choice.size);
    if (!one) continue;
    ExprRef& all = one->type.lanes > 1 ? mask : condition;
    all = all ? binary(Op::bit_and, all, one) : one;
  }
  Body then;
  Body& body = condition ? then : out;
  move_place(p, chosen, frame, body);
  if (mask) p.mask = named(p.mask ? binary(Op::bit_and, p.mask, mask) : mask, "inside", body);
  store_element(frame, *view, p, value.expr, body);
  if (condition) append(out, {If{condition, std::move(then), {}}});
  return {};
}

void Builder::store_element(Frame& frame, const View& view, const Place& p, const ExprRef& value,
                            Body& out) {
  if (view.agg) return store_combined(frame, view, p, value, out);
  const DataType element = function_.element_type(view.memory);
  // A value that was widened when it was loaded is copied as it was.
  auto same = value->kind == ExprKind::variable ? stored_as_.find(value->var) : stored_as_.end();
  ExprRef stored = same != stored_as_.end() && same->second->type.scalar == element
                       ? same->second
                       : convert_to(element, value);
  // If lanes store to one element, the last one is seen.
  stored = p.lanes == 1 ? lane(stored, stored->type.lanes - 1) : broadcast(stored, p.lanes);
  out.push_back({Store{p, std::move(stored)}});
}

Status Builder::special(Frame& frame, const stripe::Special& special, Body& out) {
  const bool copy = special.name == "copy";
  if (!copy && special.name != "zero")
    return unsupported("special '{}' in {} is not supported on this device", special.name,
                       name_of_block(*frame.block));
  if (special.outputs.size() != 1 || special.inputs.size() != (copy ? 1u : 0u))
    return invalid_argument("special '{}' in {} takes {} inputs and 1 output, got {} and {}",
                            special.name, name_of_block(*frame.block), copy ? 1 : 0,
                            special.inputs.size(), special.outputs.size());
  stripe::Block loops;
  loops.name = frame.block->name;
  const auto add_view = [&](const std::string& name, stripe::RefDir dir,
                            std::string into) -> Status {
    const stripe::Refinement* whole = frame.block->find_ref(name);
    if (!whole)
      return invalid_argument("{} has no refinement '{}'", name_of_block(*frame.block), name);
    stripe::Refinement view = *whole;
    view.dir = dir;
    view.from = name;
    view.into = std::move(into);
    view.agg.reset();
    for (size_t d = 0; d < view.shape.dims.size(); ++d) {
      const std::string index = fmt::format("i{}", d);
      if (dir == stripe::RefDir::out)
        loops.idxs.push_back({index, view.shape.dims[d].size, {}, {}});
      view.access[d] = Affine::of(index);
    }
    loops.refs.push_back(std::move(view));
    return {};
  };
  STRIA_RETURN_IF_ERROR(add_view(special.outputs[0], stripe::RefDir::out, "to"));
  if (copy) {
    STRIA_RETURN_IF_ERROR(add_view(special.inputs[0], stripe::RefDir::in, "from"));
    if (loops.refs[0].shape.sizes() != loops.refs[1].shape.sizes())
      return invalid_argument("special 'copy' in {} copies {} to {}", name_of_block(*frame.block),
                              to_string(loops.refs[1].shape.type, loops.refs[1].shape.sizes()),
                              to_string(loops.refs[0].shape.type, loops.refs[0].shape.sizes()));
    loops.stmts.emplace_back(stripe::Load{"from", "value"});
  } else {
    loops.stmts.emplace_back(stripe::Constant{
        "value", convert(Scalar::of_int(DataType::i32, 0), loops.refs[0].shape.type)});
  }
  loops.stmts.emplace_back(stripe::Store{"value", "to"});
  return nested_block(loops, frame, out);
}

void Builder::store_combined(Frame& frame, const View& view, const Place& p, const ExprRef& stored,
                             Body& out) {
  const stripe::AggOp op = view.agg->op;
  const DataType type = view.agg->type, arithmetic = compute_type(type);
  ExprRef value = convert_to(arithmetic, convert_to(type, stored));
  auto product = value->kind == ExprKind::variable ? products_.find(value->var) : products_.end();
  if (p.lanes == 1 && frame.lanes > 1) {
    value = broadcast(value, frame.lanes);
    if (frame.mask)
      value = select(frame.mask, value,
                     constant(convert(stripe::identity_of(*view.agg), arithmetic), frame.lanes));
    value = reduce(reduction(op, arithmetic), named(value, "terms", out));
    product = products_.end();
  }
  value = named(value, "value", out);
  ExprRef old = convert_to(arithmetic, load_place(p, "sum", out));
  ExprRef sum = op == stripe::AggOp::add && product != products_.end()
                    ? fma(product->second->args[0], product->second->args[1], old)
                    : combine(op, named(old, "sum", out), value);
  sum = convert_to(type, named(broadcast(sum, p.lanes), "sum", out));
  out.push_back({Store{p, convert_to(function_.element_type(p.memory), sum)}});
}

}  // namespace stria::semtree
