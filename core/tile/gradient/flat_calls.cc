// SPDX-License-Identifier: Apache-2.0
// The statements of the program, with the calls of other functions inlined: each name becomes what
// it stands for in the flat function.
#include <algorithm>
#include <set>

#include "stria/base/text.h"
#include "stria/builtins/composite.h"
#include "stria/builtins/special.h"
#include "stria/tile/gradient/flat_function.h"

namespace stria::tile {

void FlatFunction::add_statements(Scope& scope) {
  for (const Statement& statement : scope.function->statements) {
    if (stop()) return;
    if (out_.statements.size() >= kMaxInlinedStatements) {
      over_limit_ = true;
      error(place(statement.span),
            fmt::format("the function has more than {} statements once its calls are inlined",
                        kMaxInlinedStatements));
      return;
    }
    if (const auto* contraction = std::get_if<Contraction>(&statement.form)) {
      add_contracted(scope, statement, *contraction);
    } else {
      add_assigned(scope, statement, std::get<Assignment>(statement.form));
    }
  }
}

bool FlatFunction::makes_result(const Scope& scope, const Statement& statement) {
  const std::span<const Name> made = assigned_names(statement);
  return std::any_of(made.begin(), made.end(),
                     [&](const Name& name) { return scope.result_names.count(name.text) > 0; });
}

std::vector<Attribute> FlatFunction::inner_attributes(const Scope& scope) {
  std::vector<Attribute> out = scope.attributes;
  std::erase_if(out, [](const Attribute& a) { return a.name.text == "derivative"; });
  return out;
}

FlatFunction::Origin FlatFunction::origin_of(const Scope& scope, const Statement& statement) const {
  Origin origin;
  origin.span = place(statement.span);
  for (Attribute attribute : statement.attributes) {
    if (attribute.name.text == "derivative") {
      std::vector<Name> arguments;
      for (const Name& argument : attribute.arguments) {
        auto at = scope.names.find(argument.text);
        if (at != scope.names.end() && expr(at->second).kind == ExprKind::name)
          arguments.push_back({expr(at->second).text, argument.span});
      }
      if (arguments.empty()) continue;
      attribute.arguments = std::move(arguments);
    }
    if (attribute.name.text == "grad" && attribute.arguments.size() == 1)
      attribute.arguments[0].text = renamed(attribute.arguments[0].text);
    origin.attributes.push_back(std::move(attribute));
  }
  const std::vector<Attribute> outer =
      makes_result(scope, statement) ? scope.attributes : inner_attributes(scope);
  origin.attributes.insert(origin.attributes.end(), outer.begin(), outer.end());
  if (!scope.prefix.empty()) return origin;
  origin.comments = statement.comments;
  origin.end_comment = statement.end_comment;
  return origin;
}

void FlatFunction::add_assigned(Scope& scope, const Statement& statement,
                                const Assignment& assignment) {
  const Expr value = scope.function->exprs[static_cast<size_t>(assignment.value)];
  Origin origin = origin_of(scope, statement);
  const Function* callee = value.kind == ExprKind::call ? callee_of(value.text) : nullptr;
  const std::vector<std::string> targets = target_names(scope, assignment);
  const std::string& target = targets[0];
  const bool own = std::any_of(statement.attributes.begin(), statement.attributes.end(),
                               [](const Attribute& a) { return a.name.text == "grad"; });
  if (callee == nullptr) {
    const size_t before = out_.statements.size();
    ExprId made = kNoExpr;
    if (value.kind == ExprKind::call && stands_alone(value.text)) {
      std::vector<ExprId> args;
      for (ExprId arg : value.args) {
        const ExprId argument = translate(scope, arg, target);
        args.push_back(is_constant(argument) ? argument
                                             : name(as_name(argument, target + "_argument")));
      }
      made = call(value.text, std::move(args), origin.span);
    } else {
      made = translate(scope, assignment.value, target);
    }
    // Else its derivative would be called with names that stand in no text of the user's.
    if (own && out_.statements.size() > before)
      error(origin.span,
            "a statement with [[grad(…)]] is one operation, one call, or an expression of "
            "tensors: give what is called or computed inside it a statement before");
    scope.names[assignment.targets[0].text] = name(target, assignment.targets[0].span);
    add_assignment(target, made, std::move(origin));
    return;
  }
  std::vector<ExprId> args, results;
  for (ExprId arg : value.args) args.push_back(translate(scope, arg, target));
  if (own) {
    for (ExprId& arg : args) arg = simple(arg, target + "_argument");
    add_call(targets, value.text, std::move(args), std::move(origin));
    for (const std::string& made : targets) results.push_back(name(made));
  } else {
    results = add_inlined(scope, *callee, args, targets, origin.span, origin.attributes);
  }
  for (size_t i = 0; i < results.size(); ++i) scope.names[assignment.targets[i].text] = results[i];
}

ExprId FlatFunction::translate(Scope& scope, ExprId id, const std::string& target) {
  Expr e = scope.function->exprs[static_cast<size_t>(id)];
  e.span = place(e.span);
  e.name_span = place(e.name_span);
  if (e.kind == ExprKind::call) return translate_call(scope, e, target);
  if (e.kind != ExprKind::name) return push(std::move(e));
  auto at = scope.names.find(e.text);
  if (at == scope.names.end()) {
    error(e.span, fmt::format("there is no tensor or dimension '{}'", e.text));
    return integer(0);
  }
  Expr meant = expr(at->second);
  meant.span = e.span;
  meant.name_span = e.name_span;
  return push(std::move(meant));
}

ExprId FlatFunction::translate_call(Scope& scope, const Expr& e, const std::string& target) {
  const Function* callee = callee_of(e.text);
  std::vector<ExprId> args;
  for (ExprId arg : e.args) args.push_back(translate(scope, arg, target));
  if (stop()) return integer(0);
  if (callee != nullptr) {
    const std::string result = fresh_name(without_quote(target) + "_" + e.text);
    const std::vector<ExprId> results =
        add_inlined(scope, *callee, args, {result}, e.span, inner_attributes(scope));
    return results.empty() ? integer(0) : results[0];
  }
  if (!stands_alone(e.text)) {
    Expr made = e;
    made.args = std::move(args);
    return push(std::move(made));
  }
  const std::string result = fresh_name(without_quote(target) + "_" + e.text);
  for (ExprId& arg : args)
    if (!is_constant(arg)) arg = name(as_name(arg, result + "_argument"));
  add_assignment(result, call(e.text, std::move(args), e.span),
                 {inner_attributes(scope), {}, "", e.span});
  return name(result, e.span);
}

bool FlatFunction::stands_alone(const std::string& function) const {
  if (const Special* special = find_special(function)) return makes_statement(*special);
  return find_composite(function) != nullptr && callee_of(function) == nullptr;
}

Access FlatFunction::translate(Scope& scope, const Access& access, const std::string& target) {
  Access out;
  out.span = place(access.span);
  out.tensor.span = place(access.tensor.span);
  for (ExprId id : access.indices) out.indices.push_back(translate(scope, id, target));
  return out;
}

void FlatFunction::add_contracted(Scope& scope, const Statement& statement,
                                  const Contraction& contraction) {
  const std::string local = contraction.out.tensor.text;
  const std::string target = tensor_name(scope, local);
  Origin origin = origin_of(scope, statement);
  auto tensor = [&](const Name& of) {
    auto at = scope.names.find(of.text);
    if (at == scope.names.end()) {
      error(of.span, fmt::format("there is no tensor '{}'", of.text));
      return of.text;
    }
    return as_name(at->second, without_quote(target) + "_" + of.text);
  };
  Contraction out = contraction;
  out.out = translate(scope, contraction.out, target);
  out.out.tensor.text = target;
  for (ExprId& size : out.sizes) size = translate(scope, size, target);
  for (size_t i = 0; i < out.operands.size(); ++i) {
    out.operands[i] = translate(scope, contraction.operands[i], target);
    out.operands[i].tensor.text = tensor(contraction.operands[i].tensor);
  }
  for (Constraint& constraint : out.constraints) {
    constraint.form = translate(scope, constraint.form, target);
    constraint.bound = translate(scope, constraint.bound, target);
  }
  if (!contraction.default_tensor.text.empty())
    out.default_tensor.text = tensor(contraction.default_tensor);
  scope.names[local] = name(target, contraction.out.tensor.span);
  add_contraction(std::move(out), std::move(origin));
}

// ---- calls ----

const Function* FlatFunction::callee_of(std::string_view name) const {
  const Composite* composite = find_composite(name);
  const bool own = composite != nullptr &&
                   (composite->gradient.why_not != nullptr || composite->gradient.of[0] != nullptr);
  return own ? nullptr : find_function(name);
}

std::vector<ExprId> FlatFunction::add_inlined(const Scope& caller, const Function& callee,
                                              const std::vector<ExprId>& args,
                                              const std::vector<std::string>& results,
                                              SourceSpan span, std::vector<Attribute> attributes) {
  if (Refusal refusal = admit(caller, callee)) {
    over_limit_ = true;
    error(span, refusal.reason());
    return {};
  }
  std::vector<Argument> arguments;
  for (ExprId arg : args) arguments.push_back({arg, expr(arg).span});
  return inline_call(callee, span, arguments, results, std::move(attributes));
}

bool FlatFunction::bind_argument(Scope& callee, const Parameter& parameter, ExprId argument,
                                 SourceSpan where) {
  const std::string base = without_quote(callee.prefix) + "_";
  auto agree = [&](ExprId& known, ExprId size, const std::string& name) {
    if (!same_size(known, size)) known = simple(call("match", {known, size}, where), base + name);
  };
  const ExprId value = simple(argument, base + parameter.name.text);
  auto [known, fresh] = callee.names.emplace(parameter.name.text, value);
  if (!fresh) agree(known->second, value, parameter.name.text);  // it names a dimension as well
  if (!parameter.has_dims || expr(value).kind != ExprKind::name || !is_tensor(expr(value).text))
    return true;
  const std::vector<ExprId> sizes = sizes_of(expr(value).text, parameter.dims.size());
  for (size_t i = 0; i < parameter.dims.size(); ++i) {
    const std::string& dim = parameter.dims[i].text;
    const ExprId size = simple(sizes[i], base + dim);
    auto [at, first] = callee.names.emplace(dim, size);
    if (!first) agree(at->second, size, dim);
  }
  return true;
}

std::vector<ExprId> FlatFunction::walk_callee(Scope& callee) {
  const SourceSpan span = active_calls().back().span;
  add_statements(callee);
  std::vector<ExprId> results;
  for (const Name& result : callee.function->results) {
    const std::string& made = callee.result_names.at(result.text);
    if (!has(made)) {
      // No statement of its own makes it: it is a dimension or a mistake.
      auto at = callee.names.find(result.text);
      add_assignment(made, at == callee.names.end() ? integer(0) : at->second, {{}, {}, "", span});
    }
    results.push_back(name(made, span));
  }
  return results;
}

std::string FlatFunction::renamed(const std::string& function) const {
  return program_function(function) != nullptr ? prefix_ + "_" + function : function;
}

std::vector<Function> FlatFunction::helpers() const {
  // What the statements call, and what that calls.
  std::vector<std::string> open;
  std::set<std::string> called;
  auto calls_of = [&](const Function& function, const Statement& statement) {
    for (const Attribute& attribute : statement.attributes)
      if (attribute.name.text == "grad" && attribute.arguments.size() == 1)
        open.push_back(attribute.arguments[0].text);
    if (const auto* assignment = std::get_if<Assignment>(&statement.form)) {
      const Expr& e = function.exprs[static_cast<size_t>(assignment->value)];
      if (e.kind == ExprKind::call) open.push_back(e.text);
    }
  };
  for (const Statement& statement : out_.statements) calls_of(out_, statement);
  std::map<std::string, const Function*> by_new_name;
  for (const Function& function : program_.functions)
    by_new_name[renamed(function.name.text)] = &function;
  std::set<const Function*> copies;
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    auto at = by_new_name.find(name);
    if (!called.insert(name).second || at == by_new_name.end()) continue;
    copies.insert(at->second);
    for (const Expr& e : at->second->exprs)
      if (e.kind == ExprKind::call) open.push_back(renamed(e.text));
    for (const Statement& statement : at->second->statements)
      for (const Attribute& attribute : statement.attributes)
        if (attribute.name.text == "grad" && attribute.arguments.size() == 1)
          open.push_back(renamed(attribute.arguments[0].text));
  }
  std::vector<Function> out;
  for (const Function& function : program_.functions) {
    if (copies.count(&function) == 0) continue;
    Function copy = function;
    copy.name.text = renamed(copy.name.text);
    for (Expr& e : copy.exprs)
      if (e.kind == ExprKind::call) e.text = renamed(e.text);
    for (Statement& statement : copy.statements)
      for (Attribute& attribute : statement.attributes)
        if (attribute.name.text == "grad" && attribute.arguments.size() == 1)
          attribute.arguments[0].text = renamed(attribute.arguments[0].text);
    out.push_back(std::move(copy));
  }
  return out;
}

}  // namespace stria::tile
