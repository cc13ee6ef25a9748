// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "stria/base/text.h"
#include "stria/poly/solver_budget.h"
#include "stria/tile/bind/binder.h"
#include "stria/tile/bind/contraction_types.h"
#include "stria/tile/bind/index_domain.h"
#include "stria/tile/syntax/print.h"
#include "stria/type/tensor_shape.h"

namespace stria::tile {
namespace {

std::string access_text(const std::string& tensor, const std::vector<Form>& forms) {
  std::vector<std::string> parts;
  for (const Form& form : forms) parts.push_back(to_string(form));
  return fmt::format("{}[{}]", tensor, join(parts, ", "));
}

std::vector<DimAccess> access_of(const std::vector<Form>& forms) {
  std::vector<DimAccess> out;
  for (const Form& form : forms) out.push_back({form.numerator, form.divisor});
  return out;
}

std::string plural(size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace

bool Binder::bind_contraction(Scope& scope, const Statement& statement,
                              const Contraction& contraction) {
  const Name& name = contraction.out.tensor;
  if (scope.names.count(name.text) > 0) return define(scope, name, {});
  target_ = tensor_name(scope, name.text);
  BoundContraction bound;
  bound.aggregation = contraction.aggregation;
  bound.combination = contraction.combination;
  bound.no_defract = contraction.no_defract;
  bound.in_derivative = in_derivative_;
  bound.out_name = name.text;
  bound.out_span = place(contraction.out.span);
  bool ok = true;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < contraction.sizes.size(); ++i) {
    const ExprId id = contraction.sizes[i];
    std::optional<int64_t> size = constant_integer(scope, id, "a size");
    ok &= size.has_value();
    if (size && *size < 0)
      ok = error(expr_at(scope, id).span,
                 fmt::format("size {} of '{}' is negative: {} is {}", i, name.text,
                             print_expr(*scope.function, id), *size));
    sizes.push_back(size.value_or(0));
  }
  ContractionForms forms;
  ok &= bind_forms(scope, contraction.out, sizes.size(), &forms.out);
  ok &= bind_operands(scope, contraction, bound, &forms.operands);
  ok &= bind_constraints(scope, contraction, forms);
  if (!ok || !bind_domain(scope, contraction, sizes, forms, bound)) return false;

  std::vector<DataType> types;
  for (const BoundOperand& operand : bound.operands) types.push_back(tensor(operand.tensor).type);
  ContractionTypes decided =
      contraction_types(contraction.aggregation, contraction.combination, types);
  bound.combination_type = decided.combination;
  bound.value_type = decided.value;
  bound.aggregation_type = decided.aggregation;
  bound.out_access = access_of(forms.out);
  bound.out = add_tensor(target_, decided.out, std::move(sizes), contraction.out.span);
  if (bound.out < 0 || !bind_default(scope, contraction, bound)) return false;

  BoundStatement out;
  out.span = place(statement.span);
  out.text = contraction_text(scope, contraction, forms);
  TensorId id = bound.out;
  out.form = std::move(bound);
  return add_statement(scope, &statement, std::move(out)) && define(scope, name, Entity::of(id));
}

// ---- index forms ----

bool Binder::bind_forms(Scope& scope, const Access& access, size_t rank, std::vector<Form>* forms) {
  bool ok = true;
  for (ExprId id : access.indices) {
    std::optional<Form> form = bind_form(scope, id);
    ok &= form.has_value();
    if (form) forms->push_back(std::move(*form));
  }
  if (access.indices.size() == rank) return ok;
  return error(access.span, fmt::format("'{}' has {}, but {} given", access.tensor.text,
                                        plural(rank, "dimension", "dimensions"),
                                        plural(access.indices.size(), "index is", "indices are")));
}

std::optional<Form> Binder::bind_form(Scope& scope, ExprId id) {
  const Expr& e = expr_at(scope, id);
  if (!work(work_of(e.text), e.span)) return std::nullopt;
  switch (e.kind) {
    case ExprKind::integer: return Form{Affine(e.integer), 1};
    case ExprKind::index: return Form{Affine::of(e.text), 1, true};
    case ExprKind::name: {
      const Entity* entity = look_up(scope, e.text, e.span, "dimension");
      if (entity == nullptr) return std::nullopt;
      if (entity->kind == Entity::Kind::tensor ||
          entity->constant.kind != Constant::Kind::integer) {
        error(e.span,
              fmt::format(
                  "'{}' is a {}; index forms are made of indices, dimensions and integers", e.text,
                  entity->kind == Entity::Kind::tensor ? "tensor" : "number that is no integer"));
        return std::nullopt;
      }
      return Form{Affine(entity->constant.integer), 1};
    }
    case ExprKind::call: return bind_form_call(scope, e);
    case ExprKind::floating: break;
  }
  error(e.span, "index forms are made of indices, dimensions and integers");
  return std::nullopt;
}

std::optional<Form> Binder::bind_form_call(Scope& scope, const Expr& e) {
  std::vector<Form> args;
  for (ExprId arg : e.args) {
    std::optional<Form> form = bind_form(scope, arg);
    if (!form) return std::nullopt;
    args.push_back(std::move(*form));
  }
  const bool of_indices =
      std::any_of(args.begin(), args.end(), [](const Form& f) { return f.of_indices; });
  Result<Form> out = Form{};
  if (!of_indices) {
    // Without indices it is computed like a size: division truncates.
    std::vector<Constant> values;
    for (const Form& form : args) values.push_back(Constant::of(form.numerator.constant()));
    Result<Constant> value = fold(*find_builtin(e.text), values);
    out = value.ok() ? Result<Form>(Form{Affine(value->integer), 1}) : Result<Form>(value.status());
  } else if (e.text == "add") {
    out = add_forms(args[0], args[1]);
  } else if (e.text == "sub") {
    out = subtract_forms(args[0], args[1]);
  } else if (e.text == "neg") {
    out = scale_form(args[0], -1);
  } else if (e.text == "mul") {
    size_t factor = args[0].is_constant() ? 0 : 1;
    if (!args[factor].is_constant()) {
      error(e.name_span,
            fmt::format("index forms are linear: '{}' multiplies indices",
                        fmt::format("({}) * ({})", to_string(args[0]), to_string(args[1]))));
      return std::nullopt;
    }
    out = scale_form(args[1 - factor], args[factor].numerator.constant());
    if (out.ok()) out = divide_form(*out, args[factor].divisor);
  } else {
    if (!args[1].is_constant()) {
      error(e.name_span,
            fmt::format("index forms are linear: division by '{}'", to_string(args[1])));
      return std::nullopt;
    }
    if (args[1].numerator.constant() == 0) {
      error(e.name_span, "division of an index form by zero");
      return std::nullopt;
    }
    out = scale_form(args[0], args[1].divisor);
    if (out.ok()) out = divide_form(*out, args[1].numerator.constant());
  }
  if (out.ok()) {
    out->of_indices = of_indices;
    return std::move(out).value();
  }
  error(e.name_span, out.status());
  return std::nullopt;
}

bool Binder::bind_operands(Scope& scope, const Contraction& contraction, BoundContraction& bound,
                           std::vector<std::vector<Form>>* forms) {
  std::vector<const Entity*> entities;
  std::optional<DataType> common;
  bool ok = true;
  for (const Access& access : contraction.operands) {
    const Entity* entity = look_up(scope, access.tensor.text, access.tensor.span, "tensor");
    entities.push_back(entity);
    if (entity == nullptr) {
      // The other names of the statement may be wrong as well.
      for (ExprId id : access.indices) bind_form(scope, id);
      ok = false;
      continue;
    }
    if (entity->kind == Entity::Kind::tensor)
      common =
          common ? common_type(*common, tensor(entity->tensor).type) : tensor(entity->tensor).type;
  }
  for (size_t i = 0; i < entities.size(); ++i) {
    if (entities[i] == nullptr) continue;
    const Access& access = contraction.operands[i];
    BoundOperand operand;
    if (entities[i]->kind == Entity::Kind::constant) {
      Constant constant = entities[i]->constant;
      operand.tensor = constant_tensor(scope, constant, type_beside(common, {&constant, 1}),
                                       temporary_name(), access.tensor.span);
    } else {
      operand.tensor = entities[i]->tensor;
    }
    std::vector<Form>& list = forms->emplace_back();
    if (operand.tensor < 0 ||
        !bind_forms(scope, access, tensor(operand.tensor).sizes.size(), &list)) {
      ok = false;
      continue;
    }
    operand.access = access_of(list);
    bound.operands.push_back(std::move(operand));
  }
  return ok;
}

bool Binder::bind_constraints(Scope& scope, const Contraction& contraction,
                              ContractionForms& forms) {
  bool ok = true;
  for (const Constraint& constraint : contraction.constraints) {
    std::optional<Form> form = bind_form(scope, constraint.form);
    std::optional<int64_t> bound =
        constant_integer(scope, constraint.bound, "the bound of a constraint");
    ok &= form.has_value() && bound.has_value();
    forms.constraints.push_back(form.value_or(Form{}));
    forms.bounds.push_back(bound.value_or(0));
  }
  return ok;
}

// ---- valid index sets ----

bool Binder::bind_domain(const Scope& scope, const Contraction& contraction,
                         const std::vector<int64_t>& sizes, const ContractionForms& forms,
                         BoundContraction& bound) {
  // As written: an index that cancels out of its form counts like every other.
  std::map<std::string, SourceSpan> indices;
  for (const Access& operand : contraction.operands)
    for (ExprId id : operand.indices) collect_indices(*scope.function, id, indices);
  for (ExprId id : contraction.out.indices) collect_indices(*scope.function, id, indices);
  DomainRules rules;
  for (const auto& index : indices) rules.indices.push_back(index.first);

  bool ok = true;
  for (const Constraint& constraint : contraction.constraints) {
    std::map<std::string, SourceSpan> here;
    collect_indices(*scope.function, constraint.form, here);
    for (const auto& [name, span] : here)
      if (indices.count(name) == 0) ok = report_index_only_in_constraint(name, span, rules.indices);
  }
  if (!ok) return false;

  auto limit = [&](const Form& form, int64_t size, SourceSpan span) {
    rules.at_least_zero.push_back(form.numerator);
    Result<Affine> upper = below(form, size);
    if (!upper.ok()) return error(span, upper.status());
    rules.at_least_zero.push_back(std::move(upper).value());
    return true;
  };
  auto limit_access = [&](const std::vector<Form>& list, const std::vector<int64_t>& of,
                          SourceSpan span) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (!limit(list[i], of[i], span)) return false;
      if (list[i].divisor > 1) rules.whole.push_back(list[i]);
    }
    return true;
  };
  ok = limit_access(forms.out, sizes, contraction.out.span);
  for (size_t i = 0; i < forms.operands.size() && ok; ++i)
    ok = limit_access(forms.operands[i], tensor(bound.operands[i].tensor).sizes,
                      contraction.operands[i].span);
  for (size_t i = 0; i < forms.constraints.size() && ok; ++i)
    ok = limit(forms.constraints[i], forms.bounds[i], contraction.constraints[i].span);
  if (!ok) return false;

  auto undecided = [&](std::string_view what, const Status& status) {
    over_limit_ |= SolverBudget::current()->exhausted();
    return error(contraction.out.span,
                 fmt::format("{} could not be decided: {}", what, status.message()));
  };
  Result<IndexDomain> domain = find_domain(rules, &answers_);
  if (!domain.ok()) return undecided("the ranges of the indices", domain.status());
  if (!domain->unbounded.empty())
    return report_unbounded(contraction, forms, indices, domain->unbounded);
  bound.empty = domain->empty;
  for (size_t i = 0; i < rules.indices.size(); ++i)
    bound.indices.push_back({rules.indices[i], domain->ranges[i]});
  bound.constraints = domain->constraints;

  if (contraction.aggregation != Aggregation::assign) return true;
  std::vector<Affine> map;
  for (const Form& form : forms.out) map.push_back(form.numerator);
  Result<bool> once = writes_each_once(rules, *domain, map, &answers_);
  if (!once.ok()) return undecided("whether '=' writes each element at most once", once.status());
  if (*once) return true;
  bound.out_access = access_of(forms.out);
  return report_collision(contraction, bound);
}

bool Binder::report_index_only_in_constraint(const std::string& name, SourceSpan span,
                                             const std::vector<std::string>& others) {
  return error(
      span,
      fmt::format("index '{}' occurs only in a constraint: an index must occur in the access of a "
                  "tensor{}",
                  name, did_you_mean(name, others)));
}

bool Binder::report_unbounded(const Contraction& contraction, const ContractionForms& forms,
                              const std::map<std::string, SourceSpan>& indices,
                              const std::vector<std::string>& unbounded) {
  const std::string& name = unbounded[0];
  std::vector<std::string> places;
  auto visit = [&](const Access& access, const std::vector<Form>& list) {
    if (std::any_of(list.begin(), list.end(),
                    [&](const Form& form) { return form.numerator.uses(name); }))
      places.push_back(access_text(access.tensor.text, list));
  };
  for (size_t i = 0; i < forms.operands.size(); ++i)
    visit(contraction.operands[i], forms.operands[i]);
  visit(contraction.out, forms.out);
  std::string others;
  if (unbounded.size() > 1) {
    std::vector<std::string> rest(unbounded.begin() + 1, unbounded.end());
    others = fmt::format(" (nor '{}')", join(rest, "', '"));
  }
  std::string why = places.empty()
                        ? "it cancels out of every index form"
                        : join(places, " and ") + " limits it only together with other indices";
  return error(
      indices.at(name),
      fmt::format(
          "nothing bounds index '{0}'{1}: {2}; add a constraint such as ', {0} < 10', which means "
          "0 <= {0} < 10",
          name, others, why));
}

bool Binder::report_collision(const Contraction& contraction, const BoundContraction& bound) {
  for (const BoundIndex& index : bound.indices) {
    bool used = std::any_of(bound.out_access.begin(), bound.out_access.end(),
                            [&](const DimAccess& a) { return a.numerator.uses(index.name); });
    if (used || index.range.lower == index.range.upper) continue;
    return error(
        contraction.aggregation_span,
        fmt::format(
            "'=' writes an element of '{0}' more than once: index '{1}' runs from {2} to {3} and "
            "does not occur in the indices of '{0}'",
            contraction.out.tensor.text, index.name, index.range.lower, index.range.upper));
  }
  std::vector<Form> forms;
  for (const DimAccess& a : bound.out_access) forms.push_back({a.numerator, a.divisor});
  return error(
      contraction.aggregation_span,
      fmt::format(
          "'=' writes an element of '{}' more than once: different values of the indices give "
          "the same {}",
          contraction.out.tensor.text, access_text(contraction.out.tensor.text, forms)));
}

// ---- the rest ----

bool Binder::bind_default(Scope& scope, const Contraction& contraction, BoundContraction& bound) {
  const Name& name = contraction.default_tensor;
  if (name.text.empty()) return true;
  const Entity* entity = look_up(scope, name.text, name.span, "tensor");
  if (entity == nullptr) return false;
  // By value: a new tensor moves the others.
  BoundTensor out = tensor(bound.out);
  TensorId id = entity->tensor;
  if (entity->kind == Entity::Kind::constant)
    id = constant_tensor(scope, entity->constant, out.type, temporary_name(), name.span, out.sizes);
  if (id < 0) return false;
  if (tensor(id).sizes != out.sizes || tensor(id).type != out.type)
    return error(name.span,
                 fmt::format("default '{}' is {}, but '{}' is {}", name.text,
                             to_string(tensor(id).type, tensor(id).sizes),
                             contraction.out.tensor.text, to_string(out.type, out.sizes)));
  bound.default_tensor = id;
  return true;
}

std::string Binder::contraction_text(const Scope& scope, const Contraction& contraction,
                                     const ContractionForms& forms) const {
  auto list = [](const std::vector<Form>& of) {
    std::vector<std::string> parts;
    for (const Form& form : of) parts.push_back(to_string(form));
    return join(parts, ", ");
  };
  std::vector<std::string> sizes;
  for (ExprId id : contraction.sizes) sizes.push_back(print_expr(*scope.function, id));
  std::string out =
      fmt::format("{}[{}{}{}] = {}(", contraction.out.tensor.text, list(forms.out),
                  sizes.empty() ? "" : " : ", join(sizes, ", "), sign_of(contraction.aggregation));
  for (size_t i = 0; i < forms.operands.size(); ++i) {
    if (i == 1) out += fmt::format(" {} ", sign_of(contraction.combination));
    if (i == 2) out += " ? ";
    out += access_text(contraction.operands[i].tensor.text, forms.operands[i]);
  }
  out += ")";
  for (size_t i = 0; i < forms.constraints.size(); ++i)
    out += fmt::format(", {} < {}", to_string(forms.constraints[i]),
                       print_expr(*scope.function, contraction.constraints[i].bound));
  if (contraction.no_defract) out += " no_defract";
  if (!contraction.default_tensor.text.empty())
    out += " default " + contraction.default_tensor.text;
  return out;
}

}  // namespace stria::tile
