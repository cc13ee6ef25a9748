// SPDX-License-Identifier: Apache-2.0
// Calls of functions of the program and of the library: arguments get the names of the callee's
// parameters, its statements are bound, and the call's results are those of the callee.
#include <algorithm>

#include "stria/base/text.h"
#include "stria/tile/bind/binder.h"

namespace stria::tile {
namespace {

std::string header_text(const Parameter& parameter) {
  if (!parameter.has_dims) return parameter.name.text;
  std::vector<std::string> dims;
  for (const Name& dim : parameter.dims) dims.push_back(dim.text);
  return fmt::format("{}[{}]", parameter.name.text, join(dims, ", "));
}

std::string sizes_text(const std::vector<int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

}  // namespace

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

bool Binder::check_one_result(const Function& function, const Expr& call) {
  if (function.results.size() == 1) return true;
  return error(call.name_span,
               fmt::format("'{}' gives {} results; inside an expression it must give one",
                           call.text, function.results.size()));
}

std::vector<Entity> Binder::bind_call(Scope& scope, const Function& function, const Expr& call,
                                      const std::vector<std::string>& names) {
  if (Refusal refusal = admit(scope, function)) {
    error(call.name_span, refusal.reason());
    return {};
  }
  if (stop() || !work(names.size(), call.span) || !check_argument_count(function, call)) return {};
  for (const Attribute& attribute : scope.attributes)
    if (!write(size_of(attribute), call.span)) return {};
  std::vector<Argument> arguments;
  for (ExprId arg : call.args) {
    std::optional<Entity> entity = operand(scope, arg);
    if (!entity) return {};
    arguments.push_back({*entity, expr_at(scope, arg).span});
  }
  bound_functions_.insert(&function);
  return inline_call(function, call.span, arguments, names, scope.attributes);
}

bool Binder::bind_argument(Scope& callee, const Parameter& parameter, Entity entity,
                           SourceSpan where) {
  const size_t before = diagnostics_.error_count();
  bind_parameter(callee, parameter, entity, where);
  return diagnostics_.error_count() == before;
}

void Binder::bind_parameter(Scope& callee, const Parameter& parameter, Entity entity,
                            SourceSpan where) {
  if (entity.kind == Entity::Kind::constant && parameter.has_dims) {
    TensorId id =
        constant_tensor(callee, entity.constant, type_beside(std::nullopt, {&entity.constant, 1}),
                        temporary_name(), where);
    entity = id < 0 ? Entity{} : Entity::of(id);
  }
  // `f(X[N], N)`: a number with the name of a dimension must agree with it.
  auto known = callee.names.find(parameter.name.text);
  if (known != callee.names.end() && known->second.kind == Entity::Kind::failed) return;
  if (entity.kind == Entity::Kind::constant && known != callee.names.end() &&
      known->second.kind == Entity::Kind::constant) {
    if (known->second.constant.to_string() != entity.constant.to_string())
      error(where, fmt::format("'{}' is {} here, but the dimension of that name is {}",
                               parameter.name.text, entity.constant.to_string(),
                               known->second.constant.to_string()));
    return;
  }
  if (!define(callee, parameter.name, entity)) return;
  if (parameter.has_dims && entity.kind == Entity::Kind::tensor)
    bind_dims(callee, parameter, std::vector<int64_t>(tensor(entity.tensor).sizes), where);
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
      error(active_calls().empty() ? dim.span : where,
            fmt::format("dimension '{}' is {} in {} but {} in '{}', which is {}", dim.text,
                        known.constant.integer, first, sizes[i], header_text(parameter),
                        sizes_text(sizes)));
    }
  }
  return true;
}

std::vector<Entity> Binder::walk_callee(Scope& callee) {
  const size_t before = diagnostics_.error_count();
  bind_statements(callee);
  std::unordered_set<std::string_view> parameters;
  for (const Parameter& parameter : callee.function->parameters)
    parameters.insert(parameter.name.text);
  std::vector<Entity> results;
  for (const Name& name : callee.function->results) {
    if (stop()) break;
    auto at = callee.names.find(name.text);
    if (parameters.count(name.text) > 0) {
      error(name.span,
            fmt::format("output '{}' is an input; assign it to a new tensor", name.text));
    } else if (at == callee.names.end()) {
      error(name.span, fmt::format("output '{}' is never assigned", name.text));
    } else if (at->second.kind == Entity::Kind::step) {
      step_is_no_result(name);
    } else {
      results.push_back(at->second);
    }
  }
  if (diagnostics_.error_count() != before) return {};
  return results;
}

}  // namespace stria::tile
