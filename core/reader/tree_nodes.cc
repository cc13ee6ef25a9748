// SPDX-License-Identifier: Apache-2.0
// Structs are taken apart by bindings, all of their members by name: a member that the tree gets
// and the view lacks does not compile. Nor does a kind, for switches have no default.
#include "stria/reader/tree_nodes.h"

#include <variant>

#include "stria/base/status.h"
#include "stria/semtree/tree/expr.h"

namespace stria::reader {

using namespace semtree;

namespace {

stria_data_type type_of(DataType type) { return static_cast<stria_data_type>(type); }

stria_tree_expression_kind kind_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::constant: return STRIA_TREE_CONSTANT;
    case ExprKind::variable: return STRIA_TREE_VARIABLE;
    case ExprKind::iota: return STRIA_TREE_IOTA;
    case ExprKind::operation: return STRIA_TREE_OPERATION;
    case ExprKind::convert: return STRIA_TREE_CONVERT;
    case ExprKind::reinterpret: return STRIA_TREE_REINTERPRET;
    case ExprKind::broadcast: return STRIA_TREE_BROADCAST;
    case ExprKind::reduce: return STRIA_TREE_REDUCE;
    case ExprKind::lane: return STRIA_TREE_LANE;
    case ExprKind::call: return STRIA_TREE_CALL;
  }
  STRIA_CHECK(false, "an expression of kind {}", static_cast<int>(kind));
  return 0;
}

stria_tree_fragment_use use_of(ArrayFragment::Use use) {
  switch (use) {
    case ArrayFragment::Use::left: return STRIA_TREE_FRAGMENT_LEFT;
    case ArrayFragment::Use::right: return STRIA_TREE_FRAGMENT_RIGHT;
    case ArrayFragment::Use::sum: return STRIA_TREE_FRAGMENT_SUM;
  }
  STRIA_CHECK(false, "a use of fragments {}", static_cast<int>(use));
  return 0;
}

void set_value(const Scalar& value, stria_tree_expression& to) {
  if (is_float(value.type))
    to.number = value.f;
  else
    to.integer = value.i;
}

}  // namespace

stria_tree_operation number_of(Op op) {
  switch (op) {
    case Op::neg: return STRIA_TREE_NEG;
    case Op::bit_not: return STRIA_TREE_BIT_NOT;
    case Op::logical_not: return STRIA_TREE_NOT;
    case Op::abs: return STRIA_TREE_ABS;
    case Op::sqrt: return STRIA_TREE_SQRT;
    case Op::floor: return STRIA_TREE_FLOOR;
    case Op::ceil: return STRIA_TREE_CEIL;
    case Op::round_even: return STRIA_TREE_ROUND_EVEN;
    case Op::round_away: return STRIA_TREE_ROUND_AWAY;
    case Op::trunc: return STRIA_TREE_TRUNCATE;
    case Op::add: return STRIA_TREE_ADD;
    case Op::sub: return STRIA_TREE_SUB;
    case Op::mul: return STRIA_TREE_MUL;
    case Op::div: return STRIA_TREE_DIV;
    case Op::rem: return STRIA_TREE_REM;
    case Op::floor_div: return STRIA_TREE_FLOOR_DIV;
    case Op::min: return STRIA_TREE_MIN;
    case Op::max: return STRIA_TREE_MAX;
    case Op::bit_and: return STRIA_TREE_AND;
    case Op::bit_or: return STRIA_TREE_OR;
    case Op::bit_xor: return STRIA_TREE_XOR;
    case Op::shift_left: return STRIA_TREE_SHIFT_LEFT;
    case Op::shift_right: return STRIA_TREE_SHIFT_RIGHT;
    case Op::eq: return STRIA_TREE_EQ;
    case Op::ne: return STRIA_TREE_NE;
    case Op::lt: return STRIA_TREE_LT;
    case Op::le: return STRIA_TREE_LE;
    case Op::fma: return STRIA_TREE_FMA;
    case Op::select: return STRIA_TREE_SELECT;
  }
  STRIA_CHECK(false, "an operation {}", static_cast<int>(op));
  return 0;
}

std::optional<Op> operation_of(stria_tree_operation number) {
  for (int op = 0; op <= static_cast<int>(Op::select); ++op)
    if (number_of(static_cast<Op>(op)) == number) return static_cast<Op>(op);
  return std::nullopt;
}

// ---- expressions and places

const stria_tree_expression* TreeNodes::expression(const ExprRef& from) {
  if (!from) return nullptr;
  if (const auto found = made_.find(from.get()); found != made_.end()) return found->second;
  const auto& [kind, type, value, var, op, reassociate, exact, callee, args] = *from;
  auto* out = arena_.make<stria_tree_expression>();
  out->kind = kind_of(kind);
  out->type = type_of(type.scalar);
  out->lanes = type.lanes;
  out->variable = kind == ExprKind::variable ? var : -1;
  if (kind == ExprKind::operation || kind == ExprKind::reduce) out->operation = number_of(op);
  if (kind == ExprKind::constant || kind == ExprKind::lane) set_value(value, *out);
  out->function = text_of(callee);
  const auto operands = arena_.list<const stria_tree_expression*>(
      args, [&](const ExprRef& one) { return expression(one); });
  out->operands = operands.data;
  out->operand_count = operands.count;
  out->reassociate = reassociate ? 1 : 0;
  out->exact = exact ? 1 : 0;
  made_.emplace(from.get(), out);
  return out;
}

const stria_tree_place* TreeNodes::place(const Place& from) {
  const auto& [memory, offset, constant, lanes, stride, multiple, mask, exists] = from;
  auto* out = arena_.make<stria_tree_place>();
  out->memory = memory;
  out->lanes = lanes;
  out->offset = expression(offset);
  out->constant = constant;
  out->stride = stride;
  out->multiple = multiple;
  out->mask = expression(mask);
  out->exists = exists ? 1 : 0;
  return out;
}

const stria_tree_matrix* TreeNodes::matrix(const MatrixPlace& from) {
  const auto& [first, row_stride, column_stride, rows, columns] = from;
  auto* out = arena_.make<stria_tree_matrix>();
  out->place = place(first);
  out->row_stride = row_stride;
  out->column_stride = column_stride;
  out->rows = expression(rows);
  out->columns = expression(columns);
  return out;
}

// ---- statements

void TreeNodes::set(const Let& from, stria_tree_statement& to) {
  const auto& [var, value] = from;
  to.kind = STRIA_TREE_LET;
  to.variable = var;
  to.value = expression(value);
}

void TreeNodes::set(const Load& from, stria_tree_statement& to) {
  const auto& [var, at, prefetch] = from;
  to.kind = STRIA_TREE_LOAD;
  to.variable = var;
  to.place = place(at);
  to.prefetch = prefetch;
}

void TreeNodes::set(const Store& from, stria_tree_statement& to) {
  const auto& [at, value, stream, prefetch] = from;
  to.kind = STRIA_TREE_STORE;
  to.place = place(at);
  to.value = expression(value);
  to.stream = stream ? 1 : 0;
  to.prefetch = prefetch;
}

void TreeNodes::set(const For& from, stria_tree_statement& to) {
  const auto& [var, lower, upper, statements, unroll] = from;
  to.kind = STRIA_TREE_FOR;
  to.variable = var;
  to.lower = expression(lower);
  to.upper = expression(upper);
  set_body(statements, to);
  to.unroll = unroll ? 1 : 0;
}

void TreeNodes::set(const If& from, stria_tree_statement& to) {
  const auto& [condition, then, kept] = from;
  to.kind = STRIA_TREE_IF;
  to.value = expression(condition);
  set_body(then, to);
  const auto numbers =
      arena_.list<const int32_t>(kept, [](int var) { return static_cast<int32_t>(var); });
  to.kept = numbers.data;
  to.kept_count = numbers.count;
}

void TreeNodes::set(const Barrier& from, stria_tree_statement& to) {
  const auto& [parameters] = from;
  to.kind = STRIA_TREE_BARRIER;
  to.parameters = parameters ? 1 : 0;
}

void TreeNodes::set(const SubgroupBarrier&, stria_tree_statement& to) {
  static_assert(std::is_empty_v<SubgroupBarrier>);
  to.kind = STRIA_TREE_SUBGROUP_BARRIER;
}

void TreeNodes::set(const Prefetch& from, stria_tree_statement& to) {
  const auto& [at, writes] = from;
  to.kind = STRIA_TREE_PREFETCH;
  to.place = place(at);
  to.writes = writes ? 1 : 0;
}

const stria_tree_operand* TreeNodes::operand(const Instruction::Operand& from) {
  const auto& [memory, slots, written] = from;
  auto* out = arena_.make<stria_tree_operand>();
  out->memory = memory;
  out->written = written ? 1 : 0;
  out->slots = slots.data();
  out->slot_count = slots.size();
  return out;
}

const stria_tree_operand* TreeNodes::operand(const MicroKernel::Operand& from) {
  const auto& [at, sizes, strides, written] = from;
  STRIA_CHECK(sizes.size() == strides.size(), "{} sizes and {} strides of an operand", sizes.size(),
              strides.size());
  auto* out = arena_.make<stria_tree_operand>();
  out->memory = at.memory;
  out->written = written ? 1 : 0;
  out->place = place(at);
  out->sizes = sizes.data();
  out->strides = strides.data();
  out->dim_count = sizes.size();
  return out;
}

template <typename From>
void TreeNodes::set_operands(const From& from, stria_tree_statement& to) {
  const auto operands =
      arena_.list<const stria_tree_operand*>(from, [&](const auto& one) { return operand(one); });
  to.operands = operands.data;
  to.operand_count = operands.count;
}

void TreeNodes::set(const Instruction& from, stria_tree_statement& to) {
  const auto& [name, operands] = from;
  to.kind = STRIA_TREE_INSTRUCTION;
  to.name = text_of(name);
  set_operands(operands, to);
}

void TreeNodes::set(const MicroKernel& from, stria_tree_statement& to) {
  const auto& [symbol, operands] = from;
  to.kind = STRIA_TREE_MICRO_KERNEL;
  to.name = text_of(symbol);
  set_operands(operands, to);
}

void TreeNodes::set_fragments(std::initializer_list<const FragmentRef*> from,
                              stria_tree_statement& to) {
  const auto fragments = arena_.list<const stria_tree_fragment>(from, [](const FragmentRef* one) {
    const auto& [memory, number] = *one;
    return stria_tree_fragment{memory, 0, number};
  });
  to.fragments = fragments.data;
  to.fragment_count = fragments.count;
}

void TreeNodes::set(const MatrixFill& from, stria_tree_statement& to) {
  const auto& [fragment, value] = from;
  to.kind = STRIA_TREE_MATRIX_FILL;
  set_fragments({&fragment}, to);
  auto* constant = arena_.make<stria_tree_expression>();
  constant->kind = STRIA_TREE_CONSTANT;
  constant->type = type_of(value.type);
  constant->lanes = 1;
  constant->variable = -1;
  set_value(value, *constant);
  to.value = constant;
}

void TreeNodes::set(const MatrixLoad& from, stria_tree_statement& to) {
  const auto& [fragment, at] = from;
  to.kind = STRIA_TREE_MATRIX_LOAD;
  set_fragments({&fragment}, to);
  to.matrix = matrix(at);
}

void TreeNodes::set(const MatrixStore& from, stria_tree_statement& to) {
  const auto& [at, fragment] = from;
  to.kind = STRIA_TREE_MATRIX_STORE;
  to.matrix = matrix(at);
  set_fragments({&fragment}, to);
}

void TreeNodes::set(const MatrixMultiply& from, stria_tree_statement& to) {
  const auto& [sum, a, b] = from;
  to.kind = STRIA_TREE_MATRIX_MULTIPLY;
  set_fragments({&sum, &a, &b}, to);
}

void TreeNodes::set(const ElementLoop& from, stria_tree_statement& to) {
  const auto& [statements] = from;
  to.kind = STRIA_TREE_ELEMENT_LOOP;
  set_body(statements, to);
}

TreeNodes::Body TreeNodes::body(const semtree::Body& from) {
  return arena_.list<const stria_tree_statement*>(from, [&](const Statement& one) {
    const auto& [op] = one;
    auto* out = arena_.make<stria_tree_statement>();
    out->variable = -1;
    std::visit([&](const auto& kind) { set(kind, *out); }, op);
    return out;
  });
}

template <typename To>
void TreeNodes::set_body(const semtree::Body& from, To& to) {
  const Body statements = body(from);
  to.body = statements.data;
  to.body_count = statements.count;
}

// ---- the kernel

const stria_tree_variable* TreeNodes::variable(const Variable& from) {
  const auto& [name, type] = from;
  auto* out = arena_.make<stria_tree_variable>();
  out->name = text_of(name);
  out->type = type_of(type.scalar);
  out->lanes = type.lanes;
  return out;
}

const stria_tree_parameter* TreeNodes::parameter(const Parameter& from) {
  // Readers get trees without offsets of arguments: `first` is 0.
  const auto& [name, type, readable, writable, span, alias_group, shared, first] = from;
  auto* out = arena_.make<stria_tree_parameter>();
  out->name = text_of(name);
  out->type = type_of(type);
  out->alias_group = alias_group;
  out->span = span;
  out->readable = readable ? 1 : 0;
  out->writable = writable ? 1 : 0;
  out->shared = shared ? 1 : 0;
  return out;
}

const stria_tree_array* TreeNodes::array(const Array& from) {
  const auto& [name, type, count, in_registers, slot_lanes, shared, aligned, overlaid, fragment] =
      from;
  auto* out = arena_.make<stria_tree_array>();
  out->name = text_of(name);
  out->type = type_of(type);
  out->slot_lanes = slot_lanes;
  out->count = count;
  out->in_registers = in_registers ? 1 : 0;
  out->shared = shared ? 1 : 0;
  out->aligned = aligned ? 1 : 0;
  out->overlaid = overlaid ? 1 : 0;
  if (fragment) {
    const auto& [use, rows, columns] = *fragment;
    out->fragment_use = use_of(use);
    out->fragment_rows = rows;
    out->fragment_columns = columns;
  }
  return out;
}

TreeNodes::TreeNodes(const Function& function) {
  // Index type, points, lanes and notes are in stria_tree_view.
  const auto& [name, index_type, params, arrays, vars, parallel_var, trip_count, grid, group_lanes,
               lane_var, statements, notes] = function;
  auto* out = arena_.make<stria_tree_nodes>();
  out->name = text_of(name);
  const auto parameters = arena_.list<const stria_tree_parameter*>(
      params, [&](const Parameter& one) { return parameter(one); });
  out->parameters = parameters.data;
  out->parameter_count = parameters.count;
  const auto memories =
      arena_.list<const stria_tree_array*>(arrays, [&](const Array& one) { return array(one); });
  out->arrays = memories.data;
  out->array_count = memories.count;
  const auto variables = arena_.list<const stria_tree_variable*>(
      vars, [&](const Variable& one) { return variable(one); });
  out->variables = variables.data;
  out->variable_count = variables.count;
  out->parallel_variable = parallel_var;
  out->lane_variable = lane_var;
  STRIA_CHECK(grid.size() <= 3, "a grid of {} dimensions", grid.size());
  out->grid_count = static_cast<int32_t>(grid.size());
  for (size_t d = 0; d < 3; ++d) out->grid_variables[d] = d < grid.size() ? grid[d].var : -1;
  set_body(statements, *out);
  nodes_ = out;
}

}  // namespace stria::reader
