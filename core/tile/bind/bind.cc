// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/bind/bind.h"

#include <algorithm>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/builtins/composite.h"
#include "stria/poly/solver_budget.h"
#include "stria/tile/bind/binder.h"
#include "stria/tile/syntax/print.h"
#include "stria/type/tensor_shape.h"

namespace stria::tile {
namespace {

// Nodes of expressions, names, arguments, dimensions of tensors.
constexpr Limit kTermLimit = {4'000'000, "the program has", "operations, names and dimensions"};
// Of the names of tensors, the statements as text, and their attributes.
constexpr Limit kCharacterLimit = {
    32'000'000, "the names, texts and attributes of the program's statements have", "characters"};
// For the index sets of all contractions together.
constexpr int64_t kSolverSteps = 200'000'000;

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

size_t Binder::size_of(const Attribute& attribute) {
  size_t out = attribute.name.text.size() + sizeof(Attribute);
  for (const Name& argument : attribute.arguments) out += argument.text.size() + sizeof(Name);
  return out;
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
  const std::vector<ActiveCall>& calls = active_calls();
  const size_t named = active_in_program();
  if (named < calls.size()) {
    span = calls[named].span;
    message = fmt::format("in '{}': {}", calls[named].callee->name.text, message);
  }
  // A function that is called twice has its errors once.
  for (const Diagnostic& d : diagnostics_.all())
    if (d.span.begin == span.begin && d.message == message) return false;
  if (diagnostics_.error_count() >= kMaxErrors) return false;
  diagnostics_.error(span, std::move(message));
  for (size_t i = named; i-- > 0 && named - i <= 3;)
    diagnostics_.note(calls[i].span,
                      fmt::format("in this call of '{}'", calls[i].callee->name.text));
  return false;
}

// ---- names ----

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
      const std::span<const Name> made = assigned_names(s);
      if (std::find(made.begin(), made.end(), Name{name, {}}) == made.end()) continue;
      later = fmt::format("; it is made in line {}, after its use here",
                          line_column(program_.source.text, s.span.begin).line);
      break;
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

TensorId Binder::add_tensor(std::string name, DataType type, std::vector<int64_t> sizes,
                            SourceSpan span) {
  if (Status s = check_sizes(type, sizes, fmt::format("tensor '{}'", name)); !s.ok()) {
    error(span, s);
    return -1;
  }
  if (!work(1 + sizes.size(), span) || !write(name.size(), span)) return -1;
  BoundTensor tensor;
  tensor.name = std::move(name);
  tensor.type = held_type(type);
  if (is_packed(type)) tensor.packed = type;
  tensor.sizes = std::move(sizes);
  out_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(out_.tensors.size() - 1);
}

bool Binder::add_statement(const Scope& scope, const Statement* source, BoundStatement statement) {
  if (stop()) return false;
  if (out_.statements.size() >= kMaxInlinedStatements) {
    over_limit_ = true;
    return error(statement.span,
                 fmt::format("the program has more than {} statements once its calls are inlined",
                             kMaxInlinedStatements));
  }
  size_t characters = statement.text.size();
  for (const auto* list : {source != nullptr ? &source->attributes : nullptr, &scope.attributes})
    if (list != nullptr)
      for (const Attribute& attribute : *list) characters += size_of(attribute);
  if (!write(characters, statement.span)) return false;
  statement.call = current_call();
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
  out_.tensors.reserve(names);
  out_.statements.reserve(entry.statements.size());
  reserve_names(entry);
  bind_inputs(scope);
  bind_statements(scope);
  bind_outputs(scope);
  for (const Function& function : program_.functions)
    if (bound_functions_.count(&function) == 0 && !stop()) check_names(function);
  check_recursion();
  if (diagnostics_.has_errors()) return diagnostics_.status();
  for (const InlinedCall& call : calls())
    out_.calls.push_back({call.callee->name.text, call.span, call.caller});
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
    } else if (program_function(name) != &function) {
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

void Binder::bind_statements(Scope& scope) {
  std::string target = std::move(target_);
  const bool in_derivative = in_derivative_;
  const bool ok = check_derivatives(scope);
  for (const Statement& statement : scope.function->statements) {
    if (stop()) break;
    bool bound = ok;  // else its types would be mistakes of their own
    if (ok) {
      const auto* contraction = std::get_if<Contraction>(&statement.form);
      bound = contraction != nullptr
                  ? bind_contraction(scope, statement, *contraction)
                  : bind_assignment(scope, statement, std::get<Assignment>(statement.form));
    }
    if (!bound)
      for (const Name& name : assigned_names(statement))
        scope.names.emplace(name.text, Entity::failed(name.span));
    if (!ok) continue;
    check_attributes(statement);
    check_derivative_sizes(scope, statement);
  }
  target_ = std::move(target);
  in_derivative_ = in_derivative;
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
    } else if (name == "grad" && program_function(attribute.arguments[0].text) == nullptr) {
      std::vector<std::string> names;
      for (const Function& function : program_.functions) names.push_back(function.name.text);
      error(attribute.arguments[0].span,
            fmt::format("there is no function '{}' in the file{}", attribute.arguments[0].text,
                        did_you_mean(attribute.arguments[0].text, names)));
    }
  }
}

bool Binder::check_derivatives(const Scope& scope) {
  bool ok = true;
  for (const Statement& statement : scope.function->statements)
    for (const Attribute& attribute : statement.attributes) {
      if (attribute.name.text != "derivative") continue;
      in_derivative_ = true;
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
    const std::vector<std::string> names = target_names(scope, assignment);
    target_ = names[0];
    size_t inherited = scope.attributes.size();
    scope.attributes.insert(scope.attributes.end(), statement.attributes.begin(),
                            statement.attributes.end());
    std::vector<Entity> results = bind_call(scope, *callee, value, names);
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
