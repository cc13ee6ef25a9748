// SPDX-License-Identifier: Apache-2.0
// A function that the entry does not reach has no types and sizes to be bound with; what can be
// wrong without them is found here.
#include <algorithm>
#include <set>

#include "stria/base/text.h"
#include "stria/builtins/special.h"
#include "stria/tile/bind/binder.h"

namespace stria::tile {

void Binder::check_names(const Function& function) {
  Scope scope;  // every name stands for nothing in particular
  scope.function = &function;
  for (const Parameter& parameter : function.parameters) define(scope, parameter.name, Entity{});
  // Behind all parameters: a number may be given that a dimension must agree with, f(X[R], R).
  for (const Parameter& parameter : function.parameters)
    for (const Name& dim : parameter.dims) scope.names.emplace(dim.text, Entity::failed(dim.span));
  // `whole`: the call is all that is assigned, and may give several results.
  auto check_expr = [&](auto&& self, ExprId id, std::string_view what, bool whole = false) -> void {
    const Expr& e = function.exprs[static_cast<size_t>(id)];
    if (e.kind == ExprKind::name) look_up(scope, e.text, e.span, what);
    for (ExprId arg : e.args) self(self, arg, what);
    if (e.kind != ExprKind::call) return;
    if (const Function* callee = find_function(e.text)) {
      if (whole || check_one_result(*callee, e)) check_argument_count(*callee, e);
    } else if (const Builtin* builtin = find_builtin(e.text)) {
      if (!check_argument_count(*builtin, e) || builtin->types != TypeRule::cast ||
          e.args.size() < 2)
        return;
      const Expr& bits = function.exprs[static_cast<size_t>(e.args[1])];
      if (bits.kind != ExprKind::integer) return;
      if (Result<DataType> type = cast_type(*builtin, bits.integer); !type.ok())
        error(e.name_span, type.status());
    } else if (const Special* special = find_special(e.text)) {
      check_arguments(*special, e);
    } else {
      unknown_function(e);
    }
  };
  auto check_contraction = [&](const Contraction& c) {
    std::map<std::string, SourceSpan> used;
    auto check_access = [&](const Access& access) {
      for (ExprId id : access.indices) {
        check_expr(check_expr, id, "dimension");
        collect_indices(function, id, used);
      }
    };
    check_access(c.out);
    for (ExprId size : c.sizes) check_expr(check_expr, size, "tensor or dimension");
    for (const Access& operand : c.operands) {
      look_up(scope, operand.tensor.text, operand.tensor.span, "tensor");
      check_access(operand);
    }
    std::vector<std::string> names;
    for (const auto& index : used) names.push_back(index.first);
    for (const Constraint& constraint : c.constraints) {
      check_expr(check_expr, constraint.form, "dimension");
      check_expr(check_expr, constraint.bound, "tensor or dimension");
      std::map<std::string, SourceSpan> here;
      collect_indices(function, constraint.form, here);
      for (const auto& [name, span] : here)
        if (used.count(name) == 0) report_index_only_in_constraint(name, span, names);
    }
    if (!c.default_tensor.text.empty())
      look_up(scope, c.default_tensor.text, c.default_tensor.span, "tensor");
  };
  for (const Statement& statement : function.statements) {
    if (stop()) return;
    if (const auto* c = std::get_if<Contraction>(&statement.form)) {
      check_contraction(*c);
      define(scope, c->out.tensor, Entity::failed(c->out.tensor.span));
      continue;
    }
    const auto& a = std::get<Assignment>(statement.form);
    const Expr& value = function.exprs[static_cast<size_t>(a.value)];
    check_expr(check_expr, a.value, "tensor or dimension", true);
    const Function* callee = value.kind == ExprKind::call ? find_function(value.text) : nullptr;
    check_result_count(a, value, callee);
    for (const Name& target : a.targets) define(scope, target, Entity::failed(target.span));
  }
  for (const Name& result : function.results)
    if (scope.names.count(result.text) == 0)
      error(result.span, fmt::format("output '{}' is never assigned", result.text));
}

void Binder::check_recursion() {
  enum class State : uint8_t { active, done };
  std::unordered_map<const Function*, State> states;
  for (const Function* function : bound_functions_) states[function] = State::done;
  struct Frame {
    const Function* function;
    size_t next;  // expression to look at
  };
  for (const Function& start : program_.functions) {
    if (!states.emplace(&start, State::active).second) continue;
    // Not by recursion: a file may have thousands of functions, each calling the next.
    std::vector<Frame> path = {{&start, 0}};
    while (!path.empty() && !stop()) {
      Frame& frame = path.back();
      if (frame.next == frame.function->exprs.size()) {
        states[frame.function] = State::done;
        path.pop_back();
        continue;
      }
      const Expr& e = frame.function->exprs[frame.next++];
      const Function* callee = e.kind == ExprKind::call ? program_function(e.text) : nullptr;
      if (callee == nullptr) continue;
      auto [at, fresh] = states.emplace(callee, State::active);
      if (fresh) {
        path.push_back({callee, 0});
      } else if (at->second == State::active) {
        error(e.name_span, recursion_text(e.text));
      }
    }
  }
}

}  // namespace stria::tile
