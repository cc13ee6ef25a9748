// SPDX-License-Identifier: Apache-2.0
#include "emit/expressions.h"

#include <algorithm>

namespace stria::vulkan {

using semtree::Expr;
using semtree::ExprKind;
using semtree::Op;

Lanes Expressions::value(const semtree::ExprRef& expr) {
  if (expr->kind == ExprKind::variable) return variable(expr->var);
  if (auto at = known_.find(expr.get()); at != known_.end()) return at->second;
  return known_[expr.get()] = compute(*expr);
}

Lanes Expressions::value_to_store(const semtree::ExprRef& expr) {
  if (expr->kind != ExprKind::convert) return value(expr);
  Lanes out;
  for (const Id lane : value(expr->args[0]))
    out.push_back(values_.convert(expr->args[0]->type.scalar, expr->type.scalar, lane, true));
  return out;
}

Lanes Expressions::compute(const Expr& expr) {
  const auto count = static_cast<size_t>(expr.type.lanes);
  Lanes out;
  switch (expr.kind) {
    case ExprKind::constant: return Lanes(count, values_.constant(expr.value));
    case ExprKind::variable: return variable(expr.var);
    case ExprKind::iota:
      for (int i = 0; i < expr.type.lanes; ++i)
        out.push_back(values_.constant(Scalar::of_int(expr.type.scalar, i)));
      return out;
    case ExprKind::broadcast: return Lanes(count, scalar(expr.args[0]));
    case ExprKind::lane: return {value(expr.args[0])[static_cast<size_t>(expr.value.i)]};
    case ExprKind::reduce: return {reduced(expr, value(expr.args[0]))};
    case ExprKind::convert:
    case ExprKind::reinterpret: {
      const DataType from = expr.args[0]->type.scalar, to = expr.type.scalar;
      for (const Id lane : value(expr.args[0]))
        out.push_back(expr.kind == ExprKind::convert ? values_.convert(from, to, lane)
                                                     : values_.reinterpret(from, to, lane));
      return out;
    }
    case ExprKind::operation:
    case ExprKind::call: break;
  }
  std::vector<Lanes> args;
  for (const semtree::ExprRef& arg : expr.args) args.push_back(value(arg));
  for (size_t i = 0; i < count; ++i) {
    std::vector<Id> x;
    for (const Lanes& arg : args) x.push_back(arg[arg.size() == 1 ? 0 : i]);
    // Lanes of one value are computed once.
    const bool again = i > 0 && std::all_of(args.begin(), args.end(), [&](const Lanes& arg) {
                         return arg.size() == 1 || arg[i] == arg[i - 1];
                       });
    out.push_back(again ? out.back() : one(expr, expr.args[0]->type.scalar, x));
  }
  return out;
}

Id Expressions::one(const Expr& expr, DataType operand, const std::vector<Id>& x) {
  if (expr.kind == ExprKind::call) return calls_.call(expr.callee, expr.type.scalar, x);
  if (expr.op == Op::select) return values_.select(expr.type.scalar, x[0], x[1], x[2]);
  if (expr.op == Op::rem && is_float(operand)) return calls_.call("mod", operand, x);
  return values_.operation(expr.op, operand, x, expr.exact);
}

// Neighbours in pairs, so that no long chain of dependent operations comes out.
Id Expressions::reduced(const Expr& expr, Lanes parts) {
  const DataType type = expr.type.scalar;
  while (parts.size() > 1) {
    Lanes next;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
      next.push_back(expr.op == Op::min || expr.op == Op::max
                         ? values_.extreme(expr.op, type, parts[i], parts[i + 1])
                         : values_.operation(expr.op, type, {parts[i], parts[i + 1]}));
    if (parts.size() % 2) next.push_back(parts.back());
    parts = std::move(next);
  }
  return parts[0];
}

}  // namespace stria::vulkan
