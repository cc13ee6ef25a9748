// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/tree/expr.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "stria/base/status.h"
#include "stria/poly/affine.h"

namespace stria::semtree {
namespace {

ExprRef make(Expr expr) { return std::make_shared<const Expr>(std::move(expr)); }

bool is_integral(const ExprRef& a) { return !is_float(a->type.scalar); }

bool less(DataType type, int64_t a, int64_t b) {
  return is_unsigned_integer(type) ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

// The value of op(a, b) of integers, or false if it is not folded.
bool fold_integers(Op op, DataType type, int64_t a, int64_t b, Scalar* out) {
  auto number = [&](uint64_t value) {
    *out = Scalar::of_int(type, static_cast<int64_t>(value));
    return true;
  };
  auto truth = [&](bool value) {
    *out = Scalar::of_bool(value);
    return true;
  };
  const uint64_t ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
    case Op::add: return number(ua + ub);
    case Op::sub: return number(ua - ub);
    case Op::mul: return number(ua * ub);
    case Op::min: return number(less(type, b, a) ? ub : ua);
    case Op::max: return number(less(type, a, b) ? ub : ua);
    case Op::bit_and: return number(ua & ub);
    case Op::bit_or: return number(ua | ub);
    case Op::bit_xor: return number(ua ^ ub);
    case Op::floor_div: return b > 0 && number(static_cast<uint64_t>(floor_div(a, b)));
    case Op::eq: return truth(a == b);
    case Op::ne: return truth(a != b);
    case Op::lt: return truth(less(type, a, b));
    case Op::le: return truth(!less(type, b, a));
    default: return false;
  }
}

// x op constant where the result is x or the constant.
ExprRef simplify_identity(Op op, const ExprRef& a, const ExprRef& b) {
  if (!is_integral(a)) return nullptr;
  const bool boolean = a->type.scalar == DataType::boolean;
  switch (op) {
    case Op::add:
    case Op::bit_or:
    case Op::bit_xor:
      if (is_integer_constant(b, 0)) return a;
      if (is_integer_constant(a, 0)) return b;
      if (boolean && op == Op::bit_or && (is_integer_constant(a, 1) || is_integer_constant(b, 1)))
        return is_integer_constant(a, 1) ? a : b;
      return nullptr;
    case Op::sub:
    case Op::shift_left:
    case Op::shift_right: return is_integer_constant(b, 0) ? a : nullptr;
    case Op::mul:
      if (is_integer_constant(a, 0) || is_integer_constant(b, 1)) return a;
      if (is_integer_constant(b, 0) || is_integer_constant(a, 1)) return b;
      return nullptr;
    case Op::div:
    case Op::floor_div: return is_integer_constant(b, 1) ? a : nullptr;
    case Op::bit_and:
      if (is_integer_constant(a, 0)) return a;
      if (is_integer_constant(b, 0)) return b;
      if (boolean && is_integer_constant(a, 1)) return b;
      if (boolean && is_integer_constant(b, 1)) return a;
      return nullptr;
    default: return nullptr;
  }
}

}  // namespace

ExprRef constant(const Scalar& value, int lanes) {
  return make({.kind = ExprKind::constant, .type = {value.type, lanes}, .value = value});
}

ExprRef integer(DataType type, int64_t value, int lanes) {
  return constant(Scalar::of_int(type, value), lanes);
}

ExprRef variable(int var, Type type) {
  return make({.kind = ExprKind::variable, .type = type, .var = var});
}

ExprRef iota(DataType type, int lanes) {
  return make({.kind = ExprKind::iota, .type = {type, lanes}});
}

ExprRef unary(Op op, ExprRef a) {
  if (a->kind == ExprKind::constant && is_integral(a)) {
    const DataType type = a->type.scalar;
    if (op == Op::neg)
      return integer(type, static_cast<int64_t>(-static_cast<uint64_t>(a->value.i)), a->type.lanes);
    if (op == Op::logical_not) return constant(Scalar::of_bool(a->value.i == 0), a->type.lanes);
  }
  Type type = a->type;
  return make({.kind = ExprKind::operation, .type = type, .op = op, .args = {std::move(a)}});
}

ExprRef binary(Op op, ExprRef a, ExprRef b, bool reassociate) {
  const int lanes = std::max(a->type.lanes, b->type.lanes);
  a = broadcast(std::move(a), lanes);
  b = broadcast(std::move(b), lanes);
  STRIA_CHECK(a->type == b->type, "operands of '{}' are {} and {}", name_of(op), to_string(a->type),
              to_string(b->type));
  if (is_constant(a) && is_constant(b) && is_integral(a)) {
    Scalar folded;
    if (fold_integers(op, a->type.scalar, a->value.i, b->value.i, &folded))
      return constant(folded, lanes);
  }
  if (ExprRef simple = simplify_identity(op, a, b)) return simple;
  Type type{is_comparison(op) ? DataType::boolean : a->type.scalar, lanes};
  return make({.kind = ExprKind::operation,
               .type = type,
               .op = op,
               .reassociate = reassociate,
               .args = {std::move(a), std::move(b)}});
}

ExprRef exact(ExprRef operation) {
  if (operation->kind != ExprKind::operation || operation->exact) return operation;
  Expr copy = *operation;
  copy.exact = true;
  return make(std::move(copy));
}

ExprRef fma(ExprRef a, ExprRef b, ExprRef c) {
  const int lanes = std::max({a->type.lanes, b->type.lanes, c->type.lanes});
  Type type{a->type.scalar, lanes};
  return make({.kind = ExprKind::operation,
               .type = type,
               .op = Op::fma,
               .reassociate = true,
               .args = {broadcast(std::move(a), lanes), broadcast(std::move(b), lanes),
                        broadcast(std::move(c), lanes)}});
}

ExprRef select(ExprRef condition, ExprRef a, ExprRef b) {
  if (is_constant(condition)) {
    const int lanes = std::max({condition->type.lanes, a->type.lanes, b->type.lanes});
    return broadcast(condition->value.i != 0 ? a : b, lanes);
  }
  const int lanes = std::max({condition->type.lanes, a->type.lanes, b->type.lanes});
  a = broadcast(std::move(a), lanes);
  b = broadcast(std::move(b), lanes);
  Type type = a->type;
  return make({.kind = ExprKind::operation,
               .type = type,
               .op = Op::select,
               .args = {std::move(condition), std::move(a), std::move(b)}});
}

// A comparison with NaN is false, so `b` comes through if it is NaN, and `a` is asked first.
ExprRef float_extreme(Op op, ExprRef a, ExprRef b) {
  const int lanes = std::max(a->type.lanes, b->type.lanes);
  a = broadcast(std::move(a), lanes);
  b = broadcast(std::move(b), lanes);
  ExprRef first = op == Op::max ? binary(Op::lt, b, a) : binary(Op::lt, a, b);
  Expr out = *select(binary(Op::ne, a, a), a, select(std::move(first), a, b));
  out.reassociate = true;
  return make(std::move(out));
}

std::optional<FloatExtreme> as_float_extreme(const Expr& e) {
  if (e.kind != ExprKind::operation || e.op != Op::select || !e.reassociate) return std::nullopt;
  const Expr& other = *e.args[2];
  const bool larger = other.args[0]->args[1] == e.args[1];
  return FloatExtreme{larger ? Op::max : Op::min, e.args[1], other.args[2]};
}

ExprRef convert_to(DataType type, ExprRef a) {
  if (a->type.scalar == type) return a;
  if (is_constant(a)) return constant(convert(a->value, type), a->type.lanes);
  Type to{type, a->type.lanes};
  return make({.kind = ExprKind::convert, .type = to, .args = {std::move(a)}});
}

ExprRef reinterpret(DataType type, ExprRef a) {
  const DataType from = a->type.scalar;
  STRIA_CHECK(
      type != DataType::boolean && from != DataType::boolean && bit_width(type) == bit_width(from),
      "the bits of {} cannot be {}", stria::name_of(from), stria::name_of(type));
  if (from == type) return a;
  if (a->kind == ExprKind::reinterpret) return reinterpret(type, a->args[0]);
  if (is_constant(a)) {
    uint64_t bits = 0;
    store_scalar(from, &bits, 0, a->value);
    const Scalar value = load_scalar(type, &bits, 0);
    // A constant does not say which NaN it is.
    const bool is_nan =
        (is_float(from) && std::isnan(a->value.f)) || (is_float(type) && std::isnan(value.f));
    if (!is_nan) return constant(value, a->type.lanes);
  }
  const Type to{type, a->type.lanes};
  return make({.kind = ExprKind::reinterpret, .type = to, .args = {std::move(a)}});
}

ExprRef broadcast(ExprRef a, int lanes) {
  if (a->type.lanes == lanes) return a;
  STRIA_CHECK(a->type.lanes == 1, "{} lanes cannot become {}", a->type.lanes, lanes);
  if (is_constant(a)) return constant(a->value, lanes);
  Type type{a->type.scalar, lanes};
  return make({.kind = ExprKind::broadcast, .type = type, .args = {std::move(a)}});
}

ExprRef reduce(Op op, ExprRef a) {
  if (a->type.lanes == 1) return a;
  Type type{a->type.scalar, 1};
  return make({.kind = ExprKind::reduce,
               .type = type,
               .op = op,
               .reassociate = true,
               .args = {std::move(a)}});
}

ExprRef lane(ExprRef a, int number) {
  if (a->type.lanes == 1) return a;
  const Type type{a->type.scalar, 1};
  return make({.kind = ExprKind::lane,
               .type = type,
               .value = Scalar::of_int(DataType::i32, number),
               .args = {std::move(a)}});
}

ExprRef call(std::string callee, std::vector<ExprRef> args) {
  int lanes = 1;
  for (const ExprRef& arg : args) lanes = std::max(lanes, arg->type.lanes);
  for (ExprRef& arg : args) arg = broadcast(std::move(arg), lanes);
  Type type{args[0]->type.scalar, lanes};
  return make(
      {.kind = ExprKind::call, .type = type, .callee = std::move(callee), .args = std::move(args)});
}

bool is_constant(const ExprRef& a) { return a->kind == ExprKind::constant; }

bool is_integer_constant(const ExprRef& a, int64_t value) {
  return is_constant(a) && is_integral(a) && a->value.i == value;
}

bool same(const ExprRef& a, const ExprRef& b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind || !(a->type == b->type) || a->op != b->op ||
      a->var != b->var || a->callee != b->callee || a->args.size() != b->args.size())
    return false;
  const bool has_value = a->kind == ExprKind::constant || a->kind == ExprKind::lane;
  if (has_value && std::memcmp(&a->value.i, &b->value.i, sizeof a->value.i) != 0) return false;
  return std::equal(a->args.begin(), a->args.end(), b->args.begin(), same);
}

}  // namespace stria::semtree
