// SPDX-License-Identifier: Apache-2.0
#include "evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stria/builtins/builtin.h"
#include "stria/poly/affine.h"

namespace stria::lanes {
namespace {

using semtree::Expr;
using semtree::ExprKind;
using semtree::Op;

// Values on the way that an expression may need at once.
constexpr size_t kScratch = 1 << 16;

// The builtin whose reference function is the operation; null: `apply` does it itself.
const Builtin* builtin_of(Op op) {
  constexpr size_t kOps = static_cast<size_t>(Op::select) + 1;
  static const std::array<const Builtin*, kOps> table = [] {
    std::array<const Builtin*, kOps> out{};
    const auto is = [&](Op of, const char* name) {
      const Builtin* builtin = find_builtin(name);
      STRIA_CHECK(builtin, "there is no builtin '{}'", name);
      out[static_cast<size_t>(of)] = builtin;
    };
    for (Op of : {Op::neg, Op::abs, Op::sqrt, Op::floor, Op::ceil, Op::add, Op::sub, Op::mul,
                  Op::div, Op::min, Op::max})
      is(of, std::string(semtree::name_of(of)).c_str());
    is(Op::bit_not, "bit_not");
    is(Op::logical_not, "logical_not");
    is(Op::round_even, "round");
    is(Op::rem, "mod");
    is(Op::bit_and, "bit_and");
    is(Op::bit_or, "bit_or");
    is(Op::bit_xor, "bit_xor");
    is(Op::shift_left, "bit_left");
    is(Op::shift_right, "bit_right");
    is(Op::eq, "cmp_eq");
    is(Op::ne, "cmp_ne");
    is(Op::lt, "cmp_lt");
    is(Op::le, "cmp_le");
    return out;
  }();
  return table[static_cast<size_t>(op)];
}

bool is_half(DataType type) { return type == DataType::fp16 || type == DataType::bf16; }

int64_t lowest(DataType type) {
  return std::numeric_limits<int64_t>::min() >> (64 - bit_width(type));
}

}  // namespace

Evaluator::Evaluator(const semtree::Function& function) : scratch_(kScratch) {
  for (const semtree::Variable& variable : function.vars) {
    positions_.push_back(variable_values_);
    variable_values_ += static_cast<size_t>(variable.type.lanes);
  }
}

Status Evaluator::evaluate(const Expr& expr, const Value* variables, Value* out) {
  compute(expr, variables, out);
  return std::exchange(fault_, Status());
}

Value* Evaluator::take(size_t count) {
  taken_ += count;
  STRIA_CHECK(taken_ <= scratch_.size(), "an expression needs more than {} values",
              scratch_.size());
  return &scratch_[taken_ - count];
}

void Evaluator::compute(const Expr& expr, const Value* variables, Value* out) {
  const size_t lanes = static_cast<size_t>(expr.type.lanes), before = taken_;
  std::array<const Value*, 3> operands{};
  STRIA_CHECK(expr.args.size() <= operands.size(), "an expression has {} operands",
              expr.args.size());
  for (size_t i = 0; i < expr.args.size(); ++i) {
    Value* operand = take(static_cast<size_t>(expr.args[i]->type.lanes));
    compute(*expr.args[i], variables, operand);
    operands[i] = operand;
  }
  switch (expr.kind) {
    case ExprKind::constant: std::fill_n(out, lanes, Value{expr.value, false}); break;
    case ExprKind::variable: std::copy_n(variables + position(expr.var), lanes, out); break;
    case ExprKind::iota:
      for (size_t i = 0; i < lanes; ++i)
        out[i] = {Scalar::of_int(expr.type.scalar, static_cast<int64_t>(i)), false};
      break;
    case ExprKind::convert:
      for (size_t i = 0; i < lanes; ++i)
        out[i] = {convert(operands[0][i].scalar, expr.type.scalar), operands[0][i].poison};
      break;
    case ExprKind::reinterpret:
      for (size_t i = 0; i < lanes; ++i) {
        uint64_t bits = 0;
        store_scalar(expr.args[0]->type.scalar, &bits, 0, operands[0][i].scalar);
        out[i] = {load_scalar(expr.type.scalar, &bits, 0), operands[0][i].poison};
      }
      break;
    case ExprKind::broadcast: std::fill_n(out, lanes, operands[0][0]); break;
    case ExprKind::lane: out[0] = operands[0][expr.value.i]; break;
    case ExprKind::reduce: {
      Value all = operands[0][0];
      for (int i = 1; i < expr.args[0]->type.lanes; ++i) {
        const Scalar x[] = {all.scalar, operands[0][i].scalar};
        all = {builtin_of(expr.op)->reference(expr.type.scalar, x),
               all.poison || operands[0][i].poison};
      }
      out[0] = all;
      break;
    }
    case ExprKind::call: {
      const Builtin* builtin = find_builtin(expr.callee);
      if (!builtin || builtin->arity != static_cast<int>(expr.args.size())) {
        fail("there is no function '{}' of {} operands", expr.callee, expr.args.size());
        break;
      }
      for (size_t i = 0; i < lanes; ++i) {
        std::array<Scalar, 3> x;
        bool poison = false;
        for (size_t n = 0; n < expr.args.size(); ++n) {
          x[n] = operands[n][i].scalar;
          poison |= operands[n][i].poison;
        }
        out[i] = {builtin->reference(expr.type.scalar, x.data()), poison};
      }
      break;
    }
    case ExprKind::operation: operate(expr, operands.data(), out); break;
  }
  taken_ = before;
}

void Evaluator::operate(const Expr& expr, const Value* const* operands, Value* out) {
  const bool selects = expr.op == Op::select;
  const DataType type = expr.args[selects ? 1 : 0]->type.scalar;
  for (size_t n = selects ? 2 : 1; n < expr.args.size(); ++n)
    if (expr.args[n]->type.scalar != type)
      fail("operands of '{}' are {} and {}", name_of(expr.op), stria::name_of(type),
           stria::name_of(expr.args[n]->type.scalar));
  if (!selects && is_half(type))
    fail("'{}' of {}, which is only loaded, stored and converted", name_of(expr.op),
         stria::name_of(type));
  const bool one_condition = selects && expr.args[0]->type.lanes == 1;
  for (int i = 0; i < expr.type.lanes; ++i) {
    if (selects) {
      const Value& condition = operands[0][one_condition ? 0 : i];
      out[i] = operands[condition.scalar.truth() ? 1 : 2][i];
      out[i].poison |= condition.poison;
      continue;
    }
    std::array<Scalar, 3> x;
    bool poison = false;
    for (size_t n = 0; n < expr.args.size(); ++n) {
      x[n] = operands[n][i].scalar;
      poison |= operands[n][i].poison;
    }
    // What poison holds breaks no promise.
    out[i] = poison ? Value{convert(Scalar::of_bool(false), expr.type.scalar), true}
                    : Value{apply(expr.op, type, x.data()), false};
  }
}

Scalar Evaluator::apply(Op op, DataType type, const Scalar* x) {
  if (!is_float(type)) {
    const bool divides = op == Op::div || op == Op::rem;
    if (divides && x[1].i == 0) fail("'{}' by 0", name_of(op));
    if (divides && is_signed_integer(type) && x[1].i == -1 && x[0].i == lowest(type))
      fail("'{}' of {} by -1", name_of(op), to_string(x[0]));
    if ((op == Op::shift_left || op == Op::shift_right) &&
        static_cast<uint64_t>(x[1].i) >= static_cast<uint64_t>(bit_width(type)))
      fail("'{}' of {} by {}", name_of(op), stria::name_of(type), to_string(x[1]));
  }
  switch (op) {
    case Op::floor_div:
      if (x[1].i > 0) return Scalar::of_int(type, floor_div(x[0].i, x[1].i));
      fail("'{}' by {}", name_of(op), to_string(x[1]));
      return x[0];
    case Op::trunc: return Scalar::of_float(type, std::trunc(x[0].f));
    case Op::round_away: return Scalar::of_float(type, std::round(x[0].f));
    case Op::fma: return Scalar::of_float(type, std::fma(x[0].f, x[1].f, x[2].f));
    default: return builtin_of(op)->reference(type, x);
  }
}

}  // namespace stria::lanes
