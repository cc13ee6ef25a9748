// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/tree/variables.h"

#include <algorithm>

#include "stria/semtree/tree/expr.h"

namespace stria::semtree {
namespace {

// Calls visit(expression) on those of the statement itself, null ones too, const or not.
template <typename AnyStatement, typename Visitor>
void each_expression(AnyStatement& statement, const Visitor& visit) {
  const auto place = [&](auto& where) {
    visit(where.offset);
    visit(where.mask);
  };
  if (auto* let = std::get_if<Let>(&statement.op)) visit(let->value);
  if (auto* load = std::get_if<Load>(&statement.op)) place(load->place);
  if (auto* store = std::get_if<Store>(&statement.op)) {
    place(store->place);
    visit(store->value);
  }
  if (auto* loop = std::get_if<For>(&statement.op)) {
    visit(loop->lower);
    visit(loop->upper);
  }
  if (auto* branch = std::get_if<If>(&statement.op)) visit(branch->condition);
  if (auto* prefetch = std::get_if<Prefetch>(&statement.op)) place(prefetch->place);
  const auto matrix = [&](auto& at) {
    place(at.place);
    if (at.rows) visit(at.rows);
    if (at.columns) visit(at.columns);
  };
  if (auto* load = std::get_if<MatrixLoad>(&statement.op)) matrix(load->from);
  if (auto* store = std::get_if<MatrixStore>(&statement.op)) matrix(store->to);
}

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

class UnusedRemover {
 public:
  explicit UnusedRemover(const Function& function) : used_(function.vars.size(), false) {}

  // From the last statement on: what uses a variable stands behind what defines it.
  void run(Body& body) {
    std::vector<bool> stays(body.size());
    for (size_t i = body.size(); i-- > 0;) {
      stays[i] = is_needed(body[i]);
      if (stays[i]) each_expression(body[i], [&](const ExprRef& expr) { mark(expr); });
    }
    size_t kept = 0;
    for (size_t i = 0; i < body.size(); ++i) {
      if (!stays[i]) continue;
      if (kept != i) body[kept] = std::move(body[i]);
      ++kept;
    }
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(kept), body.end());
  }

 private:
  bool is_needed(Statement& statement) {
    if (auto* let = std::get_if<Let>(&statement.op)) return used_[static_cast<size_t>(let->var)];
    if (auto* load = std::get_if<Load>(&statement.op)) return used_[static_cast<size_t>(load->var)];
    if (auto* loop = std::get_if<For>(&statement.op)) {
      run(loop->body);
      return !loop->body.empty();
    }
    if (auto* branch = std::get_if<If>(&statement.op)) {
      std::erase_if(branch->kept, [&](int var) { return !used_[static_cast<size_t>(var)]; });
      run(branch->then);
      return !branch->then.empty();
    }
    if (auto* loop = std::get_if<ElementLoop>(&statement.op)) {
      run(loop->body);
      return !loop->body.empty();
    }
    return true;
  }

  void mark(const ExprRef& expr) {
    if (!expr) return;
    if (expr->kind == ExprKind::variable) used_[static_cast<size_t>(expr->var)] = true;
    for (const ExprRef& arg : expr->args) mark(arg);
  }

  std::vector<bool> used_;
};

}  // namespace

void add_used(const Statement& statement, std::set<int>& to) {
  each_expression(statement, [&](const ExprRef& expr) { add_used(expr, to); });
}

void add_written(const Statement& statement, std::set<int>& to) {
  if (auto* store = std::get_if<Store>(&statement.op)) to.insert(store->place.memory);
  if (auto* operation = std::get_if<Instruction>(&statement.op))
    for (const Instruction::Operand& operand : operation->operands)
      if (operand.written) to.insert(operand.memory);
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

void remove_unused(Function& function) { UnusedRemover(function).run(function.body); }

}  // namespace stria::semtree
