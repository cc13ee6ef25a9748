// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/tree/variables.h"

#include "stria/semtree/tree/each_expression.h"
#include "stria/semtree/tree/expr.h"

namespace stria::semtree {
namespace {

ExprRef replaced(const ExprRef& expr, const std::map<int, ExprRef>& by) {
  if (!expr) return expr;
  if (expr->kind == ExprKind::variable) {
    auto found = by.find(expr->var);
    return found == by.end() ? expr : found->second;
  }
  std::shared_ptr<Expr> changed;
  for (size_t i = 0; i < expr->args.size(); ++i) {
    ExprRef arg = replaced(expr->args[i], by);
    if (arg == expr->args[i]) continue;
    if (!changed) changed = std::make_shared<Expr>(*expr);
    changed->args[i] = std::move(arg);
  }
  return changed ? ExprRef(std::move(changed)) : expr;
}

void add_used(const ExprRef& expr, std::set<int>& to) {
  if (!expr) return;
  if (expr->kind == ExprKind::variable) to.insert(expr->var);
  for (const ExprRef& arg : expr->args) add_used(arg, to);
}

}  // namespace

void add_used(const Statement& statement, std::set<int>& to) {
  each_expression(statement, [&](const ExprRef& expr) { add_used(expr, to); });
}

void add_written(const Statement& statement, std::set<int>& to) {
  if (auto* store = std::get_if<Store>(&statement.op)) to.insert(store->place.memory);
  if (auto* operation = std::get_if<Instruction>(&statement.op))
    for (const Instruction::Operand& operand : operation->operands)
      if (operand.written) to.insert(operand.memory);
  if (auto* call = std::get_if<MicroKernel>(&statement.op))
    for (const MicroKernel::Operand& operand : call->operands)
      if (operand.written) to.insert(operand.place.memory);
  if (auto* fill = std::get_if<MatrixFill>(&statement.op)) to.insert(fill->to.memory);
  if (auto* load = std::get_if<MatrixLoad>(&statement.op)) to.insert(load->to.memory);
  if (auto* store = std::get_if<MatrixStore>(&statement.op)) to.insert(store->to.place.memory);
  if (auto* product = std::get_if<MatrixMultiply>(&statement.op)) to.insert(product->sum.memory);
}

void replace_variables(Body& body, const std::map<int, ExprRef>& by) {
  walk(body, [&](Statement& statement) {
    each_expression(statement, [&](ExprRef& expr) { expr = replaced(expr, by); });
  });
}

}  // namespace stria::semtree
