// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/peephole/unused_definitions.h"

#include <algorithm>
#include <vector>

#include "stria/semtree/tree/each_expression.h"

namespace stria::semtree {
namespace {

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

void remove_unused(Function& function) { UnusedRemover(function).run(function.body); }

}  // namespace stria::semtree
