// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/bind/bind.h"

#include <algorithm>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/builtins/composite.h"
#include "stria/poly/solver_budget.h"
#include "stria/tile/bind/binder.h"
#include "stria/tile/bind/library.h"
#include "stria/tile/syntax/print.h"
#include "stria/type/tensor_shape.h"

namespace stria::tile {
namespace {

// Calls of calls can multiply without end, with statements and without (functions of numbers).
constexpr size_t kMaxStatements = 200'000;
constexpr size_t kMaxCalls = 500'000;
// Nodes of expressions, names, arguments, dimensions of tensors.
constexpr Limit kTermLimit = {4'000'000, "the program has", "operations, names and dimensions"};
// Of the names of tensors, the statements as text, and their attributes.
constexpr Limit kCharacterLimit = {
    32'000'000, "the names, texts and attributes of the program's statements have", "characters"};
// For the index sets of all contractions together.
constexpr int64_t kSolverSteps = 200'000'000;

std::string without_quote(std::string name) {
  if (!name.empty() && name.back() == '\'') name.pop_back();
  return name;
}

std::string header_text(const Parameter& parameter) {
  if (!parameter.has_dims) return parameter.name.text;
  std::vector<std::string> dims;
  for (const Name& dim : parameter.dims) dims.push_back(dim.text);
  return fmt::format("{}[{}]", parameter.name.text, join(dims, ", "));
}

// In characters, those of a short name included that take as much memory as a long one.
size_t size_of(const Attribute& attribute) {
  size_t out = attribute.name.text.size() + sizeof(Attribute);
  for (const Name& argument : attribute.arguments) out += argument.text.size() + sizeof(Name);
  return out;
}

std::string sizes_text(const std::vector<int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

}  // namespace

Result<const Function*> entry_function(const Program& program, std::string_view name) {
  std::vector<std::string> names, quoted;
  for (const Function& function : program.functions) {
    if (function.name.text == name) return &function;
    if (function.name.text.empty()) continue;
    names.push_back(function.name.text);
    quoted.push_back(fmt::format("'{}'", function.name.text));
  }
  if (name.empty() && !program.functions.empty()) return &program.functions.back();
  return not_found("{}: there is no function '{}'{} {}", shown_name(program.source.name),
                   shown_name(name), did_you_mean(name, names),
                   quoted.empty() ? "(the file's only function has no name)"
                                  : fmt::format("(the file has {})", join(quoted, ", ")));
}

Result<BoundProgram> bind_program(const Program& program, std::string_view function,
                                  const std::map<std::string, TensorType>& inputs) {
  STRIA_ASSIGN(const Function* entry, entry_function(program, function));
  return Binder(program, inputs).run(*entry);
}

Status check_program(const Program& program) { return Binder(program, {}).check(); }

// ---- messages ----

bool Binder::stop() const { return diagnostics_.error_count() >= kMaxErrors || over_limit_; }

bool Binder::count(size_t& total, size_t more, const Limit& limit, SourceSpan span) {
  total += more;
  if (total <= limit.most) return true;
  if (!over_limit_)
    error(span, fmt::format("{} more than {} {} once its calls are inlined", limit.what, limit.most,
                            limit.unit));
  over_limit_ = true;
  return false;
}

bool Binder::work(size_t terms, SourceSpan span) { return count(terms_, terms, kTermLimit, span); }

bool Binder::write(size_t characters, SourceSpan span) {
  return count(characters_, characters, kCharacterLimit, span);
}

SourceSpan Binder::place(SourceSpan span) const {
  for (const auto& call : calls_)
    if (is_library_function(call.first)) return call.second;
  return span;
}

void Binder::warn(SourceSpan span, std::string message) {
  // A function that is called twice has its warnings once.
  size_t count = 0;
  for (const Diagnostic& d : diagnostics_.all()) {
    if (d.severity != Severity::warning) continue;
    if (d.span.begin == span.begin && d.message == message) return;
    ++count;
  }
  if (count < kMaxWarnings) diagnostics_.warning(span, std::move(message));
}

bool Binder::error(SourceSpan span, std::string message) {
  size_t calls = calls_.size();  // to be named
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (!is_library_function(calls_[i].first)) continue;
    span = calls_[i].second;
    message = fmt::format("in '{}': {}", calls_[i].first->name.text, message);
    calls = i;
    break;
  }
  // A function that is called twice has its errors once.
  for (const Diagnostic& d : diagnostics_.all())
    if (d.span.begin == span.begin && d.message == message) return false;
  if (diagnostics_.error_count() >= kMaxErrors) return false;
  diagnostics_.error(span, std::move(message));
  for (size_t i = calls; i-- > 0 && calls - i <= 3;)
    diagnostics_.note(calls_[i].second,
                      fmt::format("in this call of '{}'", calls_[i].first->name.text));
  return false;
}

// ---- names ----

const Function* Binder::find_function(std::string_view name) const {
  auto at = functions_.find(std::string(name));
  return at == functions_.end() ? library_function(name) : at->second;
}

bool Binder::define(Scope& scope, const Name& name, Entity entity) {
  if (!work(work_of(name.text), name.span)) return false;
  entity.span = name.span;
  auto [at, fresh] = scope.names.emplace(name.text, entity);
  if (fresh) return true;
  LineColumn where = line_column(program_.source.text, at->second.span.begin);
  return error(name.span,
               fmt::format("'{}' is already defined, in line {}: every name is assigned once",
                           name.text, where.line));
}

const Entity* Binder::look_up(const Scope& scope, const std::string& name, SourceSpan span,
                              std::string_view what) {
  auto at = scope.names.find(name);
  if (at == scope.names.end()) {
    std::vector<std::string> names;
    for (const auto& entry : scope.names) names.push_back(entry.first);
    std::sort(names.begin(), names.end());
    std::string later;
    for (const Statement& s : scope.function->statements) {
      if (s.span.begin < span.begin) continue;
      const auto* a = std::get_if<Assignment>(&s.form);
      bool made = a != nullptr
                      ? std::count(a->targets.begin(), a->targets.end(), Name{name, {}}) > 0
                      : std::get<Contraction>(s.form).out.tensor.text == name;
      if (made)
        later = fmt::format("; it is made in line {}, after its use here",
                            line_column(program_.source.text, s.span.begin).line);
      if (made) break;
    }
    error(span, fmt::format("there is no {} '{}'{}", what, name,
                            later.empty() ? did_you_mean(name, names) : later));
    return nullptr;
  }
  at->second.used = true;
  if (at->second.kind == Entity::Kind::step) {
    error(span, fmt::format("'{0}' is a step of random numbers, no tensor; take prng_value({0}) or "
                            "prng_state({0})",
                            name));
    return nullptr;
  }
  return at->second.kind == Entity::Kind::failed ? nullptr : &at->second;
}

std::string Binder::numbered_name(const std::string& base) {
  int& suffix = next_suffix_[base];
  for (;;) {
    std::string name = fmt::format("{}_{}", base, suffix++);
    if (taken_.insert(name).second) return name;
  }
}

std::string Binder::fresh_name(const std::string& wanted) {
  return taken_.insert(wanted).second ? wanted : numbered_name(without_quote(wanted));
}

std::string Binder::temporary_name() { return numbered_name(without_quote(target_)); }

std::string Binder::tensor_name(const Scope& scope, const std::string& local) {
  auto at = scope.tensor_names.find(local);
  if (at != scope.tensor_names.end()) return at->second;
  if (scope.prefix.empty()) return local;  // reserved from the start
  return fresh_name(without_quote(scope.prefix) + "_" + local);
}

TensorId Binder::add_tensor(std::string name, DataType type, std::vector<int64_t> sizes,
                            SourceSpan span) {
  if (Status s = check_sizes(type, sizes, fmt::format("tensor '{}'", name)); !s.ok()) {
    error(span, s);
    return -1;
  }
  if (!work(1 + sizes.size(), span) || !write(name.size(), span)) return -1;
  BoundTensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.sizes = std::move(sizes);
  out_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(out_.tensors.size() - 1);
}

bool Binder::add_statement(const Scope& scope, const Statement* source, BoundStatement statement) {
  if (stop()) return false;
  if (out_.statements.size() >= kMaxStatements) {
    over_limit_ = true;
    return error(statement.span,
                 fmt::format("the program has more than {} statements once its calls are inlined",
                             kMaxStatements));
  }
  size_t characters = statement.text.size();
  for (const auto* list : {source != nullptr ? &source->attributes : nullptr, &scope.attributes})
    if (list != nullptr)
      for (const Attribute& attribute : *list) characters += size_of(attribute);
  if (!write(characters, statement.span)) return false;
  statement.call = call_;
  if (source != nullptr) statement.attributes = source->attributes;
  statement.attributes.insert(statement.attributes.end(), scope.attributes.begin(),
                              scope.attributes.end());
  out_.statements.push_back(std::move(statement));
  return true;
}

// ---- functions ----

Result<BoundProgram> Binder::run(const Function& entry) {
  SolverBudget budget(kSolverSteps);
  check_functions();
  bound_functions_.insert(&entry);
  out_.name = entry.name.text.empty() ? "main" : entry.name.text;
  Scope scope;
  scope.function = &entry;
  const size_t names = entry.parameters.size() + entry.statements.size();
  scope.names.reserve(names);
  taken_.reserve(names);
  out_.tensors.reserve(names);
  out_.statements.reserve(entry.statements.size());
  for (const Parameter& p : entry.parameters) taken_.insert(p.name.text);
  for (const Name& name : entry.results) taken_.insert(name.text);
  for (const Statement& s : entry.statements) {
    if (const auto* a = std::get_if<Assignment>(&s.form)) {
      for (const Name& name : a->targets) taken_.insert(name.text);
    } else {
      taken_.insert(std::get<Contraction>(s.form).out.tensor.text);
    }
  }
  bind_inputs(scope);
  bind_statements(scope);
  bind_outputs(scope);
  for (const Function& function : program_.functions)
    if (bound_functions_.count(&function) == 0 && !stop()) check_names(function);
  check_recursion();
  if (diagnostics_.has_errors()) return diagnostics_.status();
  out_.warnings = diagnostics_.all();
  out_.source = program_.source;
  return std::move(out_);
}

Status Binder::check() {
  check_functions();
  for (const Function& function : program_.functions) {
    if (!stop()) check_names(function);
    for (const Statement& statement : function.statements) check_attributes(statement);
  }
  check_recursion();
  return diagnostics_.status();
}

void Binder::check_functions() {
  for (const Function& function : program_.functions) {
    const std::string& name = function.name.text;
    SourceSpan span = name.empty() ? function.span : function.name.span;
    if (find_builtin(name) != nullptr || find_special(name) != nullptr ||
        find_composite(name) != nullptr) {
      error(span, fmt::format("'{}' is a builtin function; choose another name", name));
    } else if (!functions_.emplace(name, &function).second) {
      error(span, name.empty() ? "only one function of a file may have no name"
                               : fmt::format("there are two functions '{}'", name));
    }
    std::unordered_set<std::string> results;
    for (const Name& result : function.results)
      if (!results.insert(result.text).second)
        error(result.span, fmt::format("output '{}' stands twice in the header", result.text));
  }
}

void Binder::bind_inputs(Scope& scope) {
  std::vector<std::string> spare;  // given, but no input is called so
  std::unordered_set<std::string_view> parameters;
  for (const Parameter& parameter : scope.function->parameters)
    parameters.insert(parameter.name.text);
  for (const auto& [name, type] : inputs_)
    if (parameters.count(name) == 0) spare.push_back(name);
  for (const Parameter& parameter : scope.function->parameters) {
    auto at = inputs_.find(parameter.name.text);
    TensorId id = -1;
    if (at == inputs_.end()) {
      std::string near = nearest_name(parameter.name.text, spare);
      error(parameter.name.span,
            fmt::format("input '{}' is not given{}", parameter.name.text,
                        near.empty() ? "" : fmt::format(" ('{}' is; is it that?)", near)));
    } else {
      id = add_tensor(parameter.name.text, at->second.type, at->second.sizes, parameter.name.span);
    }
    if (!define(scope, parameter.name, id < 0 ? Entity{} : Entity::of(id))) continue;
    if (id >= 0) {
      out_.tensors[static_cast<size_t>(id)].is_input = true;
      out_.inputs.push_back(id);
    }
    if (!parameter.has_dims) continue;
    if (id >= 0) {
      // With a rank that does not fit, every use of the input would be a mistake of its own.
      if (!bind_dims(scope, parameter, at->second.sizes, parameter.name.span))
        scope.names[parameter.name.text] = Entity::failed(parameter.name.span);
    } else {
      for (const Name& dim : parameter.dims) scope.names.emplace(dim.text, Entity{});
    }
  }
}

bool Binder::bind_dims(Scope& scope, const Parameter& parameter, const std::vector<int64_t>& sizes,
                       SourceSpan where) {
  if (sizes.size() != parameter.dims.size()) {
    error(where, fmt::format("'{}' has {} dimension{}, but the tensor given for it is {}",
                             header_text(parameter), parameter.dims.size(),
                             parameter.dims.size() == 1 ? "" : "s", sizes_text(sizes)));
    for (const Name& dim : parameter.dims) scope.names.emplace(dim.text, Entity{});
    return false;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Name& dim = parameter.dims[i];
    auto at = scope.names.find(dim.text);
    if (at == scope.names.end()) {
      define(scope, dim, Entity::of(Constant::of(sizes[i])));
      continue;
    }
    const Entity& known = at->second;
    if (known.kind == Entity::Kind::failed) continue;
    if (known.kind == Entity::Kind::tensor) {
      error(dim.span,
            fmt::format("'{}' names an input; a dimension needs a name of its own", dim.text));
    } else if (known.constant.kind != Constant::Kind::integer) {
      error(where,
            fmt::format("'{}' is {}, but it names a dimension of '{}': that must be an integer",
                        dim.text, known.constant.to_string(), header_text(parameter)));
    } else if (known.constant.integer != sizes[i]) {
      // It is known from a dimension before this one, or from an argument of that name.
      std::string first = fmt::format("the argument '{}'", dim.text);
      for (const Parameter& p : scope.function->parameters) {
        auto end =
            &p == &parameter ? p.dims.begin() + static_cast<std::ptrdiff_t>(i) : p.dims.end();
        const bool here = std::find(p.dims.begin(), end, dim) != end;
        if (here) first = fmt::format("'{}'", header_text(p));
        if (here || &p == &parameter) break;
      }
      error(calls_.empty() ? dim.span : where,
            fmt::format("dimension '{}' is {} in {} but {} in '{}', which is {}", dim.text,
                        known.constant.integer, first, sizes[i], header_text(parameter),
                        sizes_text(sizes)));
    }
  }
  return true;
}

void Binder::bind_statements(Scope& scope) {
  std::string target = std::move(target_);
  const bool ok = check_derivatives(scope);
  for (const Statement& statement : scope.function->statements) {
    if (stop()) break;
    if (!ok) {
      // Their types would be mistakes of their own.
      if (const auto* contraction = std::get_if<Contraction>(&statement.form)) {
        scope.names.emplace(contraction->out.tensor.text, Entity::failed(statement.span));
      } else {
        for (const Name& name : std::get<Assignment>(statement.form).targets)
          scope.names.emplace(name.text, Entity::failed(name.span));
      }
      continue;
    }
    if (const auto* contraction = std::get_if<Contraction>(&statement.form)) {
      const Name& name = contraction->out.tensor;
      if (!bind_contraction(scope, statement, *contraction))
        scope.names.emplace(name.text, Entity::failed(name.span));
    } else {
      const auto& assignment = std::get<Assignment>(statement.form);
      if (!bind_assignment(scope, statement, assignment))
        for (const Name& name : assignment.targets)
          scope.names.emplace(name.text, Entity::failed(name.span));
    }
    check_attributes(statement);
    check_derivative_sizes(scope, statement);
  }
  target_ = std::move(target);
  if (!diagnostics_.has_errors()) warn_of_unused(scope);
}

void Binder::check_attributes(const Statement& statement) {
  struct Known {
    std::string_view name;
    size_t least, most;
    std::string_view takes;
  };
  static constexpr Known kKnown[] = {
      {"pid", 1, 1, "the name for the kernel, pid(name)"},
      {"grad", 1, 1, "the function that is the derivative, grad(name)"},
      {"no_grad", 0, 0, "nothing"},
      {"derivative", 1, SIZE_MAX, "the tensors that are differentiated by, derivative(A)"},
  };
  for (const Attribute& attribute : statement.attributes) {
    const std::string& name = attribute.name.text;
    const auto* known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                     [&](const Known& k) { return k.name == name; });
    const size_t given = attribute.arguments.size();
    if (known == std::end(kKnown)) {
      warn(attribute.name.span,
           fmt::format("attribute '{}' has no effect; those that have are 'pid(name)', which "
                       "names the kernel, 'grad(function)', 'no_grad' and 'derivative(A)'",
                       name));
    } else if (given < known->least || given > known->most) {
      error(attribute.name.span, fmt::format("'{}' takes {}, but {} argument{} given", name,
                                             known->takes, given, given == 1 ? " is" : "s are"));
    } else if (name == "grad" && functions_.count(attribute.arguments[0].text) == 0) {
      std::vector<std::string> names;
      for (const Function& function : program_.functions) names.push_back(function.name.text);
      error(attribute.arguments[0].span,
            fmt::format("there is no function '{}' in the file{}", attribute.arguments[0].text,
                        did_you_mean(attribute.arguments[0].text, names)));
    }
  }
}

bool Binder::check_derivatives(Scope& scope) {
  bool ok = true;
  for (const Statement& statement : scope.function->statements)
    for (const Attribute& attribute : statement.attributes) {
      if (attribute.name.text != "derivative") continue;
      scope.derivative = true;
      for (const Name& name : attribute.arguments) {
        const Entity* entity = look_up(scope, name.text, name.span, "tensor");
        if (entity == nullptr || entity->kind != Entity::Kind::tensor) continue;
        const BoundTensor& by = tensor(entity->tensor);
        if (!is_float(by.type))
          ok = error(
              name.span,
              fmt::format("the derivative by '{}', which is {}: only tensors of floats can be "
                          "differentiated by",
                          name.text, to_string(by.type, by.sizes)));
      }
    }
  return ok;
}

void Binder::check_derivative_sizes(const Scope& scope, const Statement& statement) {
  auto find = [&](const Name& name) -> const BoundTensor* {
    auto at = scope.names.find(name.text);
    const bool found = at != scope.names.end() && at->second.kind == Entity::Kind::tensor;
    return found ? &tensor(at->second.tensor) : nullptr;
  };
  const auto* assignment = std::get_if<Assignment>(&statement.form);
  if (assignment != nullptr && assignment->targets.size() > 1) return;
  const Name& name = assignment != nullptr ? assignment->targets[0]
                                           : std::get<Contraction>(statement.form).out.tensor;
  const BoundTensor* made = find(name);
  for (const Attribute& attribute : statement.attributes) {
    if (attribute.name.text != "derivative" || made == nullptr) continue;
    for (const Name& argument : attribute.arguments)
      if (const BoundTensor* by = find(argument); by != nullptr && by->sizes != made->sizes)
        error(name.span,
              fmt::format("the derivative '{}' is {}, but '{}', by which it is one, is {}",
                          name.text, to_string(made->type, made->sizes), argument.text,
                          to_string(by->type, by->sizes)));
  }
}

void Binder::warn_of_unused(const Scope& scope) {
  std::unordered_set<std::string> results;
  for (const Name& result : scope.function->results) results.insert(result.text);
  auto check = [&](const Name& name) {
    auto at = scope.names.find(name.text);
    if (at != scope.names.end() && at->second.kind != Entity::Kind::step && !at->second.used &&
        results.count(name.text) == 0)
      warn(name.span, fmt::format("'{}' is never used", name.text));
  };
  for (const Statement& statement : scope.function->statements) {
    const auto* assignment = std::get_if<Assignment>(&statement.form);
    if (assignment == nullptr) {
      check(std::get<Contraction>(statement.form).out.tensor);
    } else if (const Expr& value = scope.function->exprs[static_cast<size_t>(assignment->value)];
               !assignment->tuple && !(value.kind == ExprKind::call && value.text == "match")) {
      // Of several results some may not be wanted, and a match is a check.
      check(assignment->targets[0]);
    }
  }
}

bool Binder::bind_assignment(Scope& scope, const Statement& statement,
                             const Assignment& assignment) {
  const Expr& value = scope.function->exprs[static_cast<size_t>(assignment.value)];
  for (const Name& target : assignment.targets)
    if (scope.names.count(target.text) > 0) return define(scope, target, {});
  const Function* callee = value.kind == ExprKind::call ? find_function(value.text) : nullptr;
  if (!check_result_count(assignment, value, callee)) return false;
  if (callee != nullptr) {
    std::vector<std::string> names;
    for (const Name& target : assignment.targets) names.push_back(tensor_name(scope, target.text));
    target_ = names[0];
    size_t inherited = scope.attributes.size();
    scope.attributes.insert(scope.attributes.end(), statement.attributes.begin(),
                            statement.attributes.end());
    std::vector<Entity> results = inline_call(scope, *callee, value, names);
    scope.attributes.resize(inherited);
    if (results.empty()) return false;
    bool ok = true;
    for (size_t i = 0; i < results.size(); ++i)
      ok &= define(scope, assignment.targets[i], results[i]);
    return ok;
  }
  const Name& target = assignment.targets[0];
  target_ = tensor_name(scope, target.text);
  TensorId id = -1;
  const Special* special = value.kind == ExprKind::call ? find_special(value.text) : nullptr;
  if (special != nullptr && value.text == "prng_step") {
    std::optional<Entity> step = bind_step(scope, *special, value, target_, statement);
    return step && define(scope, target, *step);
  }
  if (special != nullptr && makes_statement(*special)) {
    id = bind_special(scope, *special, value, target_, &statement);
  } else {
    NodeList nodes;
    std::optional<Value> result = evaluate(scope, assignment.value, nodes);
    if (!result) return false;
    // A constant is a number to compute sizes with, and a tensor where one is needed.
    if (result->constant) return define(scope, target, Entity::of(result->number));
    id = finish(scope, &statement, nodes, *result, target_, print(*scope.function, statement),
                target.span);
  }
  return id >= 0 && define(scope, target, Entity::of(id));
}

bool Binder::check_result_count(const Assignment& assignment, const Expr& value,
                                const Function* callee) {
  if (assignment.tuple && callee == nullptr)
    return error(value.span, "only a function of this file gives several results at once");
  if (callee == nullptr || callee->results.size() == assignment.targets.size()) return true;
  return error(
      value.name_span,
      fmt::format("'{}' gives {} result{}, and {} {} to be assigned", value.text,
                  callee->results.size(), callee->results.size() == 1 ? "" : "s",
                  assignment.targets.size(), assignment.targets.size() == 1 ? "is" : "are"));
}

bool Binder::check_argument_count(const Function& function, const Expr& call) {
  if (call.args.size() == function.parameters.size()) return true;
  std::vector<std::string> parameters;
  for (const Parameter& p : function.parameters) parameters.push_back(header_text(p));
  return error(
      call.name_span,
      fmt::format("'{0}' takes {1} argument{2}, '{0}({3})', but {4} {5} given", function.name.text,
                  parameters.size(), parameters.size() == 1 ? "" : "s", join(parameters, ", "),
                  call.args.size(), call.args.size() == 1 ? "is" : "are"));
}

bool Binder::report_recursion(const Expr& call) {
  return error(call.name_span,
               fmt::format("'{}' calls itself: functions cannot be recursive", call.text));
}

std::vector<Entity> Binder::inline_call(Scope& scope, const Function& function, const Expr& call,
                                        const std::vector<std::string>& names) {
  for (const auto& active : calls_)
    if (active.first == &function) {
      report_recursion(call);
      return {};
    }
  if (scope.function == &function) {
    report_recursion(call);
    return {};
  }
  if (calls_.size() >= kMaxCallDepth) {
    error(call.name_span, fmt::format("calls are nested more than {} deep", kMaxCallDepth));
    return {};
  }
  if (++inlined_calls_ > kMaxCalls) {
    error(call.name_span,
          fmt::format("the program makes more than {} calls once they are inlined", kMaxCalls));
    return {};
  }
  if (stop() || !work(names.size(), call.span) || !check_argument_count(function, call)) return {};
  Scope inner;
  inner.function = &function;
  inner.prefix = names[0];
  inner.derivative = scope.derivative;
  for (const Attribute& attribute : scope.attributes)
    if (!write(size_of(attribute), call.span)) return {};
  inner.attributes = scope.attributes;
  for (size_t i = 0; i < names.size(); ++i) inner.tensor_names[function.results[i].text] = names[i];
  std::vector<Entity> arguments;
  for (ExprId arg : call.args) {
    std::optional<Entity> entity = operand(scope, arg);
    if (!entity) return {};
    arguments.push_back(*entity);
  }
  size_t before = diagnostics_.error_count();
  calls_.emplace_back(&function, call.span);
  const int caller = call_;
  if (!is_library_function(&function)) {
    out_.calls.push_back({function.name.text, call.span, caller});
    call_ = static_cast<int>(out_.calls.size()) - 1;
  }
  bound_functions_.insert(&function);
  for (size_t i = 0; i < arguments.size(); ++i)
    bind_argument(inner, function.parameters[i], arguments[i],
                  scope.function->exprs[static_cast<size_t>(call.args[i])].span);
  std::vector<Entity> results;
  if (diagnostics_.error_count() == before) {
    bind_statements(inner);
    std::unordered_set<std::string_view> parameters;
    for (const Parameter& parameter : function.parameters) parameters.insert(parameter.name.text);
    for (const Name& name : function.results) {
      if (stop()) break;
      auto at = inner.names.find(name.text);
      if (parameters.count(name.text) > 0) {
        error(name.span,
              fmt::format("output '{}' is an input; assign it to a new tensor", name.text));
      } else if (at == inner.names.end()) {
        error(name.span, fmt::format("output '{}' is never assigned", name.text));
      } else if (at->second.kind == Entity::Kind::step) {
        step_is_no_result(name);
      } else {
        results.push_back(at->second);
      }
    }
  }
  calls_.pop_back();
  call_ = caller;
  if (diagnostics_.error_count() != before) return {};
  return results;
}

void Binder::bind_argument(Scope& inner, const Parameter& parameter, Entity entity,
                           SourceSpan where) {
  if (entity.kind == Entity::Kind::constant && parameter.has_dims) {
    TensorId id =
        constant_tensor(inner, entity.constant, type_beside(std::nullopt, {&entity.constant, 1}),
                        temporary_name(), where);
    entity = id < 0 ? Entity{} : Entity::of(id);
  }
  // `f(X[N], N)`: a number with the name of a dimension must agree with it.
  auto known = inner.names.find(parameter.name.text);
  if (known != inner.names.end() && known->second.kind == Entity::Kind::failed) return;
  if (entity.kind == Entity::Kind::constant && known != inner.names.end() &&
      known->second.kind == Entity::Kind::constant) {
    if (known->second.constant.to_string() != entity.constant.to_string())
      error(where, fmt::format("'{}' is {} here, but the dimension of that name is {}",
                               parameter.name.text, entity.constant.to_string(),
                               known->second.constant.to_string()));
    return;
  }
  if (!define(inner, parameter.name, entity)) return;
  if (parameter.has_dims && entity.kind == Entity::Kind::tensor)
    bind_dims(inner, parameter, std::vector<int64_t>(tensor(entity.tensor).sizes), where);
}

void Binder::bind_outputs(Scope& scope) {
  for (const Name& name : scope.function->results) {
    if (stop()) return;
    auto at = scope.names.find(name.text);
    if (at == scope.names.end()) {
      std::vector<std::string> names;
      for (const auto& entry : scope.names) names.push_back(entry.first);
      std::sort(names.begin(), names.end());
      error(name.span, fmt::format("output '{}' is never assigned{}", name.text,
                                   did_you_mean(name.text, names)));
      continue;
    }
    Entity entity = at->second;
    if (entity.kind == Entity::Kind::failed) continue;
    if (entity.kind == Entity::Kind::step) {
      step_is_no_result(name);
      continue;
    }
    if (entity.kind == Entity::Kind::constant) {
      TensorId id =
          constant_tensor(scope, entity.constant, type_beside(std::nullopt, {&entity.constant, 1}),
                          name.text, entity.span);
      if (id < 0) continue;
      entity = Entity::of(id);
    }
    BoundTensor& tensor = out_.tensors[static_cast<size_t>(entity.tensor)];
    if (tensor.is_input) {
      error(name.span,
            fmt::format("output '{}' is an input; assign it to a new tensor", name.text));
      continue;
    }
    tensor.is_output = true;
    out_.outputs.push_back(entity.tensor);
  }
}

}  // namespace stria::tile
