// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/gradient/flat_function.h"

#include <algorithm>
#include <set>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/composite.h"
#include "stria/builtins/special.h"
#include "stria/tile/bind/binder.h"
#include "stria/tile/bind/library.h"

namespace stria::tile {
namespace {

// Of the function with its calls inlined.
constexpr size_t kMaxFlatStatements = 200'000;
constexpr size_t kMaxExprs = 4'000'000;

std::string unquoted(std::string name) {
  if (!name.empty() && name.back() == '\'') name.pop_back();
  return name;
}

}  // namespace

FlatFunction::FlatFunction(const Program& program, Diagnostics& diagnostics, std::string prefix)
    : program_(program), diagnostics_(diagnostics), prefix_(std::move(prefix)) {
  for (const Function& function : program.functions)
    functions_.emplace(function.name.text, &function);
}

bool FlatFunction::stop() const { return over_limit_ || diagnostics_.error_count() >= 20; }

bool FlatFunction::error(SourceSpan span, std::string message) {
  for (const Diagnostic& d : diagnostics_.all())
    if (d.span.begin == span.begin && d.message == message) return false;
  diagnostics_.error(span, std::move(message));
  return false;
}

const Function* FlatFunction::find_function(std::string_view name) const {
  auto at = functions_.find(std::string(name));
  if (at != functions_.end()) return at->second;
  const Composite* composite = find_composite(name);
  const bool own = composite != nullptr &&
                   (composite->gradient.why_not != nullptr || composite->gradient.of[0] != nullptr);
  return own ? nullptr : library_function(name);
}

// ---- names ----

std::string FlatFunction::numbered_name(const std::string& base) {
  const std::string plain = unquoted(base);
  int& suffix = next_suffix_[plain];
  for (;;) {
    std::string name = fmt::format("{}_{}", plain, ++suffix);
    if (taken_.insert(name).second) return name;
  }
}

std::string FlatFunction::fresh_name(const std::string& wanted) {
  return taken_.insert(wanted).second ? wanted : numbered_name(wanted);
}

void FlatFunction::rename(size_t index, const std::string& from, const std::string& to) {
  Statement& statement = out_.statements[index];
  if (auto* contraction = std::get_if<Contraction>(&statement.form)) {
    contraction->out.tensor.text = to;
  } else {
    for (Name& target : std::get<Assignment>(statement.form).targets)
      if (target.text == from) target.text = to;
  }
  auto node = names_.extract(from);
  node.key() = to;
  names_.insert(std::move(node));
}

void FlatFunction::rename_all(const std::string& from, const std::string& to) {
  for (size_t i = 0; i < out_.statements.size(); ++i) {
    Statement& statement = out_.statements[i];
    if (auto* c = std::get_if<Contraction>(&statement.form)) {
      if (c->out.tensor.text == from) c->out.tensor.text = to;
      for (Access& operand : c->operands)
        if (operand.tensor.text == from) operand.tensor.text = to;
      if (c->default_tensor.text == from) c->default_tensor.text = to;
    } else {
      for (Name& target : std::get<Assignment>(statement.form).targets)
        if (target.text == from) target.text = to;
    }
  }
  for (Expr& e : out_.exprs)
    if (e.kind == ExprKind::name && e.text == from) e.text = to;
  auto node = names_.extract(from);
  node.key() = to;
  names_.insert(std::move(node));
}

void FlatFunction::define(const std::string& name, FlatName what) {
  taken_.insert(name);
  names_[name] = std::move(what);
}

std::string FlatFunction::out_name(Scope& scope, const std::string& local) {
  auto at = scope.out_names.find(local);
  if (at != scope.out_names.end()) return at->second;
  // The entry's own names were reserved at the start.
  return scope.prefix.empty() ? local : fresh_name(unquoted(scope.prefix) + "_" + local);
}

// ---- expressions ----

ExprId FlatFunction::push(Expr e) {
  if (out_.exprs.size() >= kMaxExprs && !over_limit_) {
    over_limit_ = true;
    error(
        e.span,
        fmt::format("the function has more than {} operations and names once its calls are inlined",
                    kMaxExprs));
  }
  out_.exprs.push_back(std::move(e));
  return static_cast<ExprId>(out_.exprs.size() - 1);
}

ExprId FlatFunction::name(const std::string& text, SourceSpan span) {
  Expr e;
  e.kind = ExprKind::name;
  e.text = text;
  e.span = e.name_span = span;
  return push(std::move(e));
}

ExprId FlatFunction::integer(int64_t value) {
  Expr e;
  e.integer = value;
  return push(std::move(e));
}

ExprId FlatFunction::floating(double value) {
  Expr e;
  e.kind = ExprKind::floating;
  e.floating = value;
  return push(std::move(e));
}

ExprId FlatFunction::index(const std::string& text) {
  Expr e;
  e.kind = ExprKind::index;
  e.text = text;
  return push(std::move(e));
}

ExprId FlatFunction::call(std::string_view function, std::vector<ExprId> args, SourceSpan span) {
  Expr e;
  e.kind = ExprKind::call;
  e.text = std::string(function);
  e.args = std::move(args);
  e.span = e.name_span = span;
  return push(std::move(e));
}

bool FlatFunction::is_integer(ExprId id, int64_t value) const {
  return expr(id).kind == ExprKind::integer && expr(id).integer == value;
}

bool FlatFunction::is_constant(ExprId id) const {
  const Expr& e = expr(id);
  switch (e.kind) {
    case ExprKind::integer:
    case ExprKind::floating: return true;
    case ExprKind::index: return false;
    case ExprKind::name: return has(e.text) && at(e.text).kind == FlatName::Kind::constant;
    case ExprKind::call: break;
  }
  const Special* special = find_special(e.text);
  if (special != nullptr) return special->number != nullptr || e.text == "size";
  const Builtin* builtin = find_builtin(e.text);
  if (builtin == nullptr || builtin->types == TypeRule::cast) return false;
  return std::all_of(e.args.begin(), e.args.end(), [&](ExprId arg) { return is_constant(arg); });
}

size_t FlatFunction::nodes(ExprId id, size_t most) const {
  size_t count = 1;
  for (ExprId arg : expr(id).args) {
    if (count >= most) break;
    count += nodes(arg, most - count);
  }
  return count;
}

std::string FlatFunction::as_name(ExprId value, const std::string& wanted) {
  if (expr(value).kind == ExprKind::name) return expr(value).text;
  std::string name = fresh_name(wanted);
  add_assignment(name, value, {{}, {}, "", expr(value).span});
  return name;
}

ExprId FlatFunction::simple(ExprId value, const std::string& wanted) {
  if (expr(value).kind != ExprKind::call) return value;
  return name(as_name(value, wanted), expr(value).span);
}

// ---- the program's statements ----

bool FlatFunction::add_entry(const Function& entry) {
  Scope scope;
  scope.function = &entry;
  for (const Parameter& parameter : entry.parameters) {
    taken_.insert(parameter.name.text);
    for (const Name& dim : parameter.dims) taken_.insert(dim.text);
  }
  for (const Name& name : entry.results) taken_.insert(name.text);
  for (const Statement& statement : entry.statements) {
    if (const auto* a = std::get_if<Assignment>(&statement.form)) {
      for (const Name& target : a->targets) taken_.insert(target.text);
    } else {
      taken_.insert(std::get<Contraction>(statement.form).out.tensor.text);
    }
  }
  out_.parameters = entry.parameters;
  for (Parameter& parameter : out_.parameters) {
    FlatName what;
    what.shape = unknown_shape();
    what.shape.known = parameter.has_dims;
    for (const Name& dim : parameter.dims) {
      if (!has(dim.text)) {
        FlatName size;
        size.kind = FlatName::Kind::constant;
        size.shape.known = true;
        size.value = stable_hash(dim.text) % ((uint64_t{1} << 61) - 1);
        define(dim.text, size);
        scope.names[dim.text] = name(dim.text, dim.span);
      }
      what.shape.sizes.push_back(name(dim.text, dim.span));
    }
    define(parameter.name.text, what);
    scope.names[parameter.name.text] = name(parameter.name.text, parameter.name.span);
  }
  // What a contraction reads has a rank, and so dimensions that can have names.
  for (const Statement& statement : entry.statements)
    if (const auto* c = std::get_if<Contraction>(&statement.form))
      for (const Access& operand : c->operands)
        for (Parameter& parameter : out_.parameters)
          if (!parameter.has_dims && parameter.name.text == operand.tensor.text)
            name_dims(parameter, operand.indices.size());
  add_statements(scope);
  return !diagnostics_.has_errors();
}

void FlatFunction::add_parameter(const std::string& name_of, const FlatShape& shape) {
  Parameter parameter;
  parameter.name.text = name_of;
  FlatName what;
  what.shape = shape;
  define(name_of, what);
  parameter.has_dims = shape.known;
  for (ExprId size : shape.sizes) parameter.dims.push_back({expr(size).text, {}});
  out_.parameters.push_back(std::move(parameter));
}

void FlatFunction::add_check(const std::string& dim, ExprId size) {
  FlatName what;
  what.kind = FlatName::Kind::constant;
  what.shape.known = true;
  what.value = stable_hash(dim) % ((uint64_t{1} << 61) - 1);
  define(dim, what);
  add_assignment(fresh_name(dim + "_match"), call("match", {name(dim), size}));
}

bool FlatFunction::is_check(const Statement& statement) const {
  const auto* assignment = std::get_if<Assignment>(&statement.form);
  if (assignment == nullptr) return false;
  const Expr& e = expr(assignment->value);
  return e.kind == ExprKind::call && e.text == "match";
}

void FlatFunction::add_statements(Scope& scope) {
  for (const Statement& statement : scope.function->statements) {
    if (stop()) return;
    if (out_.statements.size() >= kMaxFlatStatements) {
      over_limit_ = true;
      error(scope.foreign ? scope.place : statement.span,
            fmt::format("the function has more than {} statements once its calls are inlined",
                        kMaxFlatStatements));
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
  if (const auto* contraction = std::get_if<Contraction>(&statement.form))
    return scope.out_names.count(contraction->out.tensor.text) > 0;
  const std::vector<Name>& targets = std::get<Assignment>(statement.form).targets;
  return std::any_of(targets.begin(), targets.end(),
                     [&](const Name& name) { return scope.out_names.count(name.text) > 0; });
}

std::vector<Attribute> FlatFunction::inner_attributes(const Scope& scope) {
  std::vector<Attribute> out = scope.attributes;
  std::erase_if(out, [](const Attribute& a) { return a.name.text == "derivative"; });
  return out;
}

FlatFunction::Origin FlatFunction::origin_of(const Scope& scope, const Statement& statement) const {
  Origin origin;
  origin.span = scope.foreign ? scope.place : statement.span;
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
  const Function* callee = value.kind == ExprKind::call ? find_function(value.text) : nullptr;
  const std::string target = out_name(scope, assignment.targets[0].text);
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
  std::vector<std::string> targets = {target};
  for (size_t i = 1; i < assignment.targets.size(); ++i)
    targets.push_back(out_name(scope, assignment.targets[i].text));
  std::vector<ExprId> args;
  for (ExprId arg : value.args) args.push_back(translate(scope, arg, target));
  if (own) {
    for (ExprId& arg : args) arg = simple(arg, target + "_argument");
    add_call(targets, value.text, std::move(args), std::move(origin));
  } else {
    inline_call(scope, *callee, args, targets, origin.span, origin.attributes);
  }
  for (size_t i = 0; i < targets.size(); ++i)
    scope.names[assignment.targets[i].text] = name(targets[i], assignment.targets[i].span);
}

ExprId FlatFunction::translate(Scope& scope, ExprId id, const std::string& target) {
  Expr e = scope.function->exprs[static_cast<size_t>(id)];
  if (scope.foreign) e.span = e.name_span = scope.place;
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
  const Function* callee = find_function(e.text);
  std::vector<ExprId> args;
  for (ExprId arg : e.args) args.push_back(translate(scope, arg, target));
  if (stop()) return integer(0);
  if (callee != nullptr) {
    const std::string result = fresh_name(unquoted(target) + "_" + e.text);
    inline_call(scope, *callee, args, {result}, e.span, inner_attributes(scope));
    return name(result, e.span);
  }
  if (!stands_alone(e.text)) {
    Expr made = e;
    made.args = std::move(args);
    return push(std::move(made));
  }
  const std::string result = fresh_name(unquoted(target) + "_" + e.text);
  for (ExprId& arg : args)
    if (!is_constant(arg)) arg = name(as_name(arg, result + "_argument"));
  add_assignment(result, call(e.text, std::move(args), e.span),
                 {inner_attributes(scope), {}, "", e.span});
  return name(result, e.span);
}

bool FlatFunction::stands_alone(const std::string& function) const {
  if (const Special* special = find_special(function)) return makes_statement(*special);
  return find_composite(function) != nullptr && find_function(function) == nullptr;
}

Access FlatFunction::translate(Scope& scope, const Access& access, const std::string& target) {
  Access out;
  out.span = scope.foreign ? scope.place : access.span;
  out.tensor.span = scope.foreign ? scope.place : access.tensor.span;
  for (ExprId id : access.indices) out.indices.push_back(translate(scope, id, target));
  return out;
}

void FlatFunction::add_contracted(Scope& scope, const Statement& statement,
                                  const Contraction& contraction) {
  const std::string local = contraction.out.tensor.text;
  const std::string target = out_name(scope, local);
  Origin origin = origin_of(scope, statement);
  auto tensor = [&](const Name& of) {
    auto at = scope.names.find(of.text);
    if (at == scope.names.end()) {
      error(of.span, fmt::format("there is no tensor '{}'", of.text));
      return of.text;
    }
    return as_name(at->second, unquoted(target) + "_" + of.text);
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

// ---- statements ----

void FlatFunction::add_assignment(const std::string& target, ExprId value, Origin origin) {
  FlatName what;
  const Expr root = expr(value);
  if (is_constant(value)) {
    what.kind = FlatName::Kind::constant;
    what.shape.known = true;
    what.value = value_of(value);
  } else if (root.kind == ExprKind::call && root.text == "prng_step") {
    what.kind = FlatName::Kind::step;
    what.shape.known = true;
    what.shape.sizes.assign(root.args.begin() + 1, root.args.end());
  } else {
    what.shape = shape_of(value);
  }
  define(target, std::move(what));
  Assignment assignment;
  assignment.targets.push_back({target, origin.span});
  assignment.value = value;
  append(std::move(assignment), std::move(origin));
}

void FlatFunction::append(std::variant<Contraction, Assignment> form, Origin origin) {
  Statement statement;
  statement.form = std::move(form);
  statement.attributes = std::move(origin.attributes);
  statement.comments = std::move(origin.comments);
  statement.end_comment = std::move(origin.end_comment);
  statement.span = origin.span;
  out_.statements.push_back(std::move(statement));
}

void FlatFunction::add_contraction(Contraction contraction, Origin origin) {
  FlatName what;
  what.shape.known = true;
  what.shape.sizes = contraction.sizes;
  define(contraction.out.tensor.text, std::move(what));
  append(std::move(contraction), std::move(origin));
}

void FlatFunction::add_call(const std::vector<std::string>& targets, const std::string& function,
                            std::vector<ExprId> args, Origin origin) {
  const ExprId value = call(renamed(function), std::move(args), origin.span);
  Assignment assignment;
  for (const std::string& target : targets) {
    FlatName what;
    what.shape = unknown_shape();
    define(target, std::move(what));
    assignment.targets.push_back({target, origin.span});
  }
  assignment.tuple = targets.size() > 1;
  assignment.value = value;
  append(std::move(assignment), std::move(origin));
}

// ---- calls ----

void FlatFunction::inline_call(const Scope& scope, const Function& callee,
                               const std::vector<ExprId>& args,
                               const std::vector<std::string>& results, SourceSpan span,
                               const std::vector<Attribute>& attributes) {
  if (static_cast<size_t>(depth_) >= kMaxCallDepth) {
    over_limit_ = true;
    error(span, fmt::format("calls are nested more than {} deep", kMaxCallDepth));
    return;
  }
  Scope inner;
  inner.function = &callee;
  inner.prefix = results[0];
  inner.attributes = attributes;
  inner.foreign = scope.foreign || is_library_function(&callee);
  inner.place = scope.foreign ? scope.place : span;
  for (size_t i = 0; i < results.size(); ++i) inner.out_names[callee.results[i].text] = results[i];
  for (size_t i = 0; i < args.size(); ++i) bind_argument(inner, callee.parameters[i], args[i]);
  ++depth_;
  add_statements(inner);
  --depth_;
  // A result that no statement of its own makes is a dimension or a mistake.
  for (size_t i = 0; i < results.size(); ++i)
    if (!has(results[i])) {
      auto at = inner.names.find(callee.results[i].text);
      add_assignment(results[i], at == inner.names.end() ? integer(0) : at->second,
                     {{}, {}, "", span});
    }
}

void FlatFunction::bind_argument(Scope& inner, const Parameter& parameter, ExprId argument) {
  const std::string base = unquoted(inner.prefix) + "_";
  const ExprId value = simple(argument, base + parameter.name.text);
  auto [known, fresh] = inner.names.emplace(parameter.name.text, value);
  if (!fresh && !same_size(known->second, value))  // a dimension of that name: they must agree
    known->second =
        simple(call("match", {known->second, value}, expr(value).span), base + parameter.name.text);
  if (!parameter.has_dims || expr(value).kind != ExprKind::name || !is_tensor(expr(value).text))
    return;
  const std::vector<ExprId> sizes = sizes_of(expr(value).text, parameter.dims.size());
  for (size_t i = 0; i < parameter.dims.size(); ++i) {
    const std::string& dim = parameter.dims[i].text;
    const ExprId size = simple(sizes[i], base + dim);
    auto [at, first] = inner.names.emplace(dim, size);
    if (!first && !same_size(at->second, size))
      at->second = simple(call("match", {at->second, size}, expr(value).span), base + dim);
  }
}

std::string FlatFunction::renamed(const std::string& function) const {
  return functions_.count(function) > 0 ? prefix_ + "_" + function : function;
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
  for (const auto& [name, function] : functions_) by_new_name[renamed(name)] = function;
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
