// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/gradient/flat_function.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/special.h"

namespace stria::tile {
namespace {

// Of the function with its calls inlined.
constexpr size_t kMaxExprs = 4'000'000;

}  // namespace

FlatFunction::FlatFunction(const Program& program, Diagnostics& diagnostics, std::string prefix)
    : CallInliner(program, 1),
      program_(program),
      diagnostics_(diagnostics),
      prefix_(std::move(prefix)) {}

bool FlatFunction::stop() const { return over_limit_ || diagnostics_.error_count() >= kMaxErrors; }

bool FlatFunction::error(SourceSpan span, std::string message) {
  for (const Diagnostic& d : diagnostics_.all())
    if (d.span.begin == span.begin && d.message == message) return false;
  diagnostics_.error(span, std::move(message));
  return false;
}

// ---- names ----

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
  reserve_name(name);
  names_[name] = std::move(what);
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
  reserve_names(entry);
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

}  // namespace stria::tile
