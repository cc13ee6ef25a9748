// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/gradient/gradient.h"

#include <algorithm>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/composite.h"
#include "stria/builtins/special.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/gradient/differentiator.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"

namespace stria::tile {
namespace {

constexpr size_t kMostSummed = 32;

const Attribute* find_attribute(const Statement& statement, std::string_view name) {
  for (const Attribute& attribute : statement.attributes)
    if (attribute.name.text == name) return &attribute;
  return nullptr;
}

std::string result_text(const Program& program) {
  const std::string& name = program.source.name;
  const bool tile = name.ends_with(".tile");
  return name.substr(0, name.size() - (tile ? 5 : 0)) + ".gradient.tile";
}

void collect_names(const Function& function, ExprId id, std::vector<std::string>& out) {
  const Expr& e = function.exprs[static_cast<size_t>(id)];
  if (e.kind == ExprKind::name) out.push_back(e.text);
  for (ExprId arg : e.args) collect_names(function, arg, out);
}

// Every name that the statement reads.
std::vector<std::string> names_in(const Function& function, const Statement& statement) {
  std::vector<std::string> out;
  if (const auto* assignment = std::get_if<Assignment>(&statement.form)) {
    collect_names(function, assignment->value, out);
    return out;
  }
  const auto& c = std::get<Contraction>(statement.form);
  auto access = [&](const Access& of) {
    for (ExprId id : of.indices) collect_names(function, id, out);
  };
  access(c.out);
  for (ExprId id : c.sizes) collect_names(function, id, out);
  for (const Access& operand : c.operands) {
    out.push_back(operand.tensor.text);
    access(operand);
  }
  for (const Constraint& constraint : c.constraints) {
    collect_names(function, constraint.form, out);
    collect_names(function, constraint.bound, out);
  }
  if (!c.default_tensor.text.empty()) out.push_back(c.default_tensor.text);
  return out;
}

bool has_function(const Program& program, const std::string& name) {
  return std::any_of(program.functions.begin(), program.functions.end(),
                     [&](const Function& function) { return function.name.text == name; });
}

// `wanted`, or with a number behind it, so that the function may stand in the same file.
std::string free_name(const Program& program, const std::string& wanted) {
  std::string name = wanted;
  for (int suffix = 1; has_function(program, name);) name = fmt::format("{}_{}", wanted, suffix++);
  return name;
}

Status check_function_name(const Program& program, const std::string& name) {
  const Result<Program> read =
      parse({"", fmt::format("function {} (X) -> (R) {{ R = X; }}", name)});
  if (!read.ok() || read->functions.size() != 1 || read->functions[0].name.text != name)
    return invalid_argument(
        "'{}' cannot name the derivative: a function's name is a letter, then letters, digits and "
        "'_', and no word of Tile",
        shown_name(name));
  if (find_builtin(name) != nullptr || find_special(name) != nullptr ||
      find_composite(name) != nullptr)
    return invalid_argument("'{}' cannot name the derivative: it is a builtin function", name);
  if (has_function(program, name))
    return invalid_argument("'{}' cannot name the derivative: {} has a function of that name", name,
                            program.source.name);
  return Status();
}

std::vector<std::string> names_of(const std::vector<Name>& names) {
  std::vector<std::string> out;
  for (const Name& name : names) out.push_back(name.text);
  return out;
}

}  // namespace

Result<Program> gradient(const Program& program, const GradientOptions& options,
                         std::vector<Diagnostic>* notes) {
  STRIA_ASSIGN(const Function* entry, entry_function(program, options.function));
  STRIA_RETURN_IF_ERROR(check_program(program));
  std::string name = options.name;
  if (name.empty()) {
    name =
        free_name(program, entry->name.text.empty() ? "gradient" : entry->name.text + "_gradient");
  } else {
    STRIA_RETURN_IF_ERROR(check_function_name(program, name));
  }
  return Differentiator(program, options, std::move(name)).run(*entry, notes);
}

Status Differentiator::check_names(const Function& entry) {
  std::vector<std::string> parameters;
  for (const Parameter& parameter : entry.parameters) parameters.push_back(parameter.name.text);
  const std::vector<std::string> results = names_of(entry.results);
  const std::string function =
      entry.name.text.empty() ? "the function" : fmt::format("function '{}'", entry.name.text);
  if (parameters.empty())
    return invalid_argument("{}: {} has no parameter to differentiate by", program_.source.name,
                            function);
  for (const std::string& name : options_.wrt)
    if (std::find(parameters.begin(), parameters.end(), name) == parameters.end())
      return not_found("{}: {} has no parameter '{}' to differentiate by{} (its parameters: {})",
                       program_.source.name, function, shown_name(name),
                       did_you_mean(name, parameters), join(parameters, ", "));
  if (!options_.of.empty() &&
      std::find(results.begin(), results.end(), options_.of) == results.end())
    return not_found("{}: {} has no result '{}' to differentiate{} (its results: {})",
                     program_.source.name, function, shown_name(options_.of),
                     did_you_mean(options_.of, results), join(results, ", "));
  for (const std::string& name : options_.wrt.empty() ? parameters : options_.wrt)
    if (std::find(wrt_.begin(), wrt_.end(), name) == wrt_.end()) wrt_.push_back(name);
  return Status();
}

Result<Program> Differentiator::run(const Function& entry, std::vector<Diagnostic>* notes) {
  STRIA_RETURN_IF_ERROR(check_names(entry));
  if (!flat_.add_entry(entry)) return diagnostics_.status();
  find_active();
  const size_t forward = flat_.function().statements.size();
  // Nothing flows back from constants and places, so nobody is asked for such a derivative.
  for (const Name& result : entry.results)
    if (options_.of.empty() ? active_.count(result.text) > 0 : options_.of == result.text)
      start(entry, result.text);
  for (size_t i = forward; i-- > 0 && !flat_.stop();) push_statement(i);
  if (!flat_.stop()) finish(entry, notes);
  if (diagnostics_.has_errors()) return diagnostics_.status();
  remove_unneeded();

  Program out;
  out.functions = flat_.helpers();
  Function& function = flat_.function();
  function.name.text = name_;
  out.functions.push_back(std::move(function));
  // Read again, so that places are those of the text that a person sees.
  Result<Program> read = parse({result_text(program_), print(out)});
  if (!read.ok())
    return internal_error("the derivative cannot be read:\n{}", read.status().message());
  return read;
}

// ---- what depends on what is differentiated by ----

void Differentiator::find_active() {
  for (const std::string& name : wrt_) active_.insert(name);
  for (const Statement& statement : flat_.function().statements) {
    if (find_attribute(statement, "no_grad") != nullptr || !statement_is_active(statement))
      continue;
    if (const auto* c = std::get_if<Contraction>(&statement.form)) {
      active_.insert(c->out.tensor.text);
    } else {
      for (const Name& target : std::get<Assignment>(statement.form).targets)
        if (flat_.is_tensor(target.text)) active_.insert(target.text);
    }
  }
}

bool Differentiator::statement_is_active(const Statement& statement) {
  if (find_attribute(statement, "grad") != nullptr) {
    for (const std::string& name : names_in(flat_.function(), statement))
      if (active_.count(name) > 0) return true;
    return false;
  }
  if (const auto* assignment = std::get_if<Assignment>(&statement.form))
    return is_active(assignment->value);
  const auto& c = std::get<Contraction>(statement.form);
  for (size_t i = c.combination == Combination::cond ? 2 : 0; i < c.operands.size(); ++i)
    if (active_.count(c.operands[i].tensor.text) > 0) return true;
  return active_.count(c.default_tensor.text) > 0;
}

// ---- where it starts ----

void Differentiator::start(const Function& entry, const std::string& result) {
  const FlatShape shape = flat_.shape_of(result);
  const std::string name = flat_.fresh_name(derivative_name(result));
  SourceSpan span;
  for (const Name& of : entry.results)
    if (of.text == result) span = of.span;
  if (shape.known && shape.sizes.empty()) {
    if (active_.count(result) == 0) return;
    const ExprId one = flat_.call("cond", {flat_.integer(0), flat_.name(result), flat_.integer(1)});
    flat_.add_assignment(name, one, {{}, {fmt::format("1, of the type of {}.", result)}, "", span});
    contribute(result, flat_.name(name));
    return;
  }
  // Sizes that are names stand in the header; others get a name there and must agree.
  FlatShape header = shape;
  std::unordered_map<std::string, ExprId> agree;
  std::vector<std::pair<std::string, ExprId>> checks;
  for (size_t i = 0; i < header.sizes.size(); ++i) {
    const ExprId size = header.sizes[i];
    bool is_dim = false;
    if (flat_.expr(size).kind == ExprKind::name)
      for (const Parameter& parameter : flat_.function().parameters)
        for (const Name& dim : parameter.dims) is_dim |= dim.text == flat_.expr(size).text;
    if (is_dim) continue;
    const std::string dim = flat_.fresh_name(fmt::format("{}_{}", without_quote(result), i));
    checks.emplace_back(dim, size);
    header.sizes[i] = flat_.name(dim);
  }
  flat_.add_parameter(name, header);
  for (const auto& [dim, size] : checks) flat_.add_check(dim, size);
  contribute(result, flat_.name(name));
}

// ---- contributions ----

void Differentiator::contribute(const std::string& name, ExprId value) {
  contributions_[name].push_back(value);
}

void Differentiator::contribute_made(const std::string& name, const std::string& value) {
  made_[value] = flat_.function().statements.size() - 1;
  contribute(name, flat_.name(value));
}

std::string Differentiator::adjoint(const std::string& name) {
  auto known = adjoints_.find(name);
  if (known != adjoints_.end()) return known->second;
  auto at = contributions_.find(name);
  if (at == contributions_.end()) return "";
  const std::vector<ExprId> parts = at->second;
  const Expr first = flat_.expr(parts[0]);
  std::string out;
  if (parts.size() == 1 && first.kind == ExprKind::name) {
    auto made = made_.find(first.text);
    if (made == made_.end()) {
      out = first.text;
    } else {
      out = flat_.fresh_name(derivative_name(name));
      flat_.rename(made->second, first.text, out);
    }
  } else {
    // Many are added in several statements: an expression has a largest depth.
    std::vector<ExprId> rest = parts;
    while (rest.size() > kMostSummed) {
      std::vector<ExprId> sums;
      for (size_t i = 0; i < rest.size(); i += kMostSummed) {
        const size_t end = std::min(i + kMostSummed, rest.size());
        const std::string part = flat_.numbered_name(derivative_name(name));
        flat_.add_assignment(part,
                             sum_of({rest.begin() + static_cast<std::ptrdiff_t>(i),
                                     rest.begin() + static_cast<std::ptrdiff_t>(end)}),
                             {{}, {}, "", span_});
        sums.push_back(flat_.name(part));
      }
      rest = std::move(sums);
    }
    out = flat_.fresh_name(derivative_name(name));
    flat_.add_assignment(out, sum_of(rest), {{}, {}, "", span_});
  }
  adjoints_[name] = out;
  return out;
}

ExprId Differentiator::sum_of(const std::vector<ExprId>& terms) {
  ExprId sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) sum = flat_.call("add", {sum, terms[i]});
  return sum;
}

std::string Differentiator::constant_name(int64_t value) {
  auto [at, fresh] = constants_.emplace(value, "");
  if (fresh) {
    at->second = flat_.fresh_name(value == 0 ? "Zero" : value == 1 ? "One" : "Number");
    flat_.add_assignment(at->second, flat_.integer(value));
  }
  return at->second;
}

void Differentiator::push_statement(size_t index) {
  // By value: new statements move the others.
  const Statement statement = flat_.function().statements[index];
  if (find_attribute(statement, "no_grad") != nullptr) return;
  span_ = statement.span;
  if (const Attribute* attribute = find_attribute(statement, "grad")) {
    push_custom(statement, *attribute);
    return;
  }
  if (const auto* c = std::get_if<Contraction>(&statement.form)) {
    if (active_.count(c->out.tensor.text) == 0) return;
    const std::string d = adjoint(c->out.tensor.text);
    if (!d.empty()) push_contraction(*c, d);
    return;
  }
  const auto& assignment = std::get<Assignment>(statement.form);
  const std::string& target = assignment.targets[0].text;
  if (assignment.tuple || active_.count(target) == 0) return;
  const std::string d = adjoint(target);
  if (!d.empty()) push_assignment(target, assignment.value, d);
}

void Differentiator::push_custom(const Statement& statement, const Attribute& attribute) {
  // The function's name in the program: the attribute has got the name of the copy.
  std::vector<std::string> names;
  const Function* custom = nullptr;
  for (const Function& function : program_.functions) {
    names.push_back(function.name.text);
    if (attribute.arguments.size() == 1 &&
        (name_ + "_" + function.name.text == attribute.arguments[0].text))
      custom = &function;
  }
  if (attribute.arguments.size() != 1 || custom == nullptr)
    return;  // check_program has reported it
  std::vector<std::string> results;
  std::vector<ExprId> args;
  if (const auto* c = std::get_if<Contraction>(&statement.form)) {
    results.push_back(c->out.tensor.text);
  } else {
    results = names_of(std::get<Assignment>(statement.form).targets);
  }
  bool any = false;
  for (const std::string& result : results)
    any |= active_.count(result) > 0 && !adjoint(result).empty();
  if (!any) return;
  std::vector<std::string> operands;
  const auto* assignment = std::get_if<Assignment>(&statement.form);
  const Expr root = assignment == nullptr ? Expr{} : flat_.expr(assignment->value);
  const bool is_call = root.kind == ExprKind::call && find_builtin(root.text) == nullptr &&
                       find_special(root.text) == nullptr && find_composite(root.text) == nullptr;
  if (is_call) {
    args = root.args;
    for (ExprId arg : args)
      if (flat_.expr(arg).kind == ExprKind::name && flat_.is_tensor(flat_.expr(arg).text))
        operands.push_back(flat_.expr(arg).text);
  } else {
    for (const std::string& name : names_in(flat_.function(), statement))
      if (flat_.is_tensor(name) &&
          std::find(operands.begin(), operands.end(), name) == operands.end())
        operands.push_back(name);
    for (const std::string& operand : operands) args.push_back(flat_.name(operand));
  }
  for (const std::string& result : results) args.push_back(flat_.name(result));
  for (const std::string& result : results) {
    std::string d = adjoint(result);
    if (d.empty()) {
      d = flat_.fresh_name(derivative_name(result));
      flat_.add_assignment(
          d, flat_.call("cond", {flat_.integer(0), flat_.name(result), flat_.integer(0)}));
    }
    args.push_back(flat_.name(d));
  }
  if (custom->parameters.size() != args.size() || custom->results.size() != operands.size()) {
    flat_.error(
        attribute.name.span,
        fmt::format(
            "the derivative '{0}' of this statement takes {1} arguments (its {2} operand{3}, its "
            "results and their derivatives) and gives {2} result{3}, but the function has {4} "
            "and {5}",
            custom->name.text, args.size(), operands.size(), operands.size() == 1 ? "" : "s",
            custom->parameters.size(), custom->results.size()));
    return;
  }
  std::vector<std::string> targets;
  for (const std::string& operand : operands)
    targets.push_back(flat_.numbered_name(derivative_name(operand)));
  flat_.add_call(targets, custom->name.text, args, {{}, {}, "", statement.span});
  for (size_t i = 0; i < operands.size(); ++i)
    if (active_.count(operands[i]) > 0) contribute_made(operands[i], targets[i]);
}

// ---- results ----

void Differentiator::finish(const Function& entry, std::vector<Diagnostic>* notes) {
  Function& function = flat_.function();
  if (options_.keep_results)
    for (const Name& result : entry.results) function.results.push_back({result.text, {}});
  std::unordered_set<std::string> given;
  for (const std::string& name : names_of(function.results)) given.insert(name);
  for (const Parameter& parameter : function.parameters) given.insert(parameter.name.text);
  for (const std::string& name : wrt_) {
    std::string d = adjoint(name);
    if (d.empty()) {
      d = flat_.fresh_name(derivative_name(name));
      const ExprId zero =
          flat_.call("cond", {flat_.integer(0), flat_.name(name), flat_.integer(0)});
      flat_.add_assignment(d, zero,
                           {{}, {fmt::format("{} has no part in the result.", name)}, "", {}});
      SourceSpan span;
      for (const Parameter& parameter : entry.parameters)
        if (parameter.name.text == name) span = parameter.name.span;
      if (notes != nullptr)
        notes->push_back(
            {Severity::note, span,
             fmt::format("no differentiated result depends on '{}': its derivative is zero",
                         name)});
    } else {
      const bool own = std::any_of(
          function.statements.begin(), function.statements.end(), [&](const Statement& s) {
            const auto* c = std::get_if<Contraction>(&s.form);
            if (c != nullptr) return c->out.tensor.text == d;
            const std::vector<Name>& targets = std::get<Assignment>(s.form).targets;
            return std::count(targets.begin(), targets.end(), Name{d, {}}) > 0;
          });
      if (own && given.count(d) == 0 && !d.starts_with(derivative_name(name))) {
        const std::string better = flat_.fresh_name(derivative_name(name));
        flat_.rename_all(d, better);
        d = better;
      }
      if (!given.insert(d).second) {
        const std::string copy = flat_.fresh_name(derivative_name(name));
        flat_.add_assignment(copy, flat_.name(d));
        d = copy;
        given.insert(d);
      }
      for (Statement& statement : function.statements) {
        const auto* c = std::get_if<Contraction>(&statement.form);
        const bool here = c != nullptr ? c->out.tensor.text == d
                                       : std::get<Assignment>(statement.form).targets[0].text == d;
        if (here && find_attribute(statement, "derivative") == nullptr)
          statement.attributes.insert(statement.attributes.begin(),
                                      Attribute{{"derivative", {}}, {{name, {}}}});
      }
    }
    function.results.push_back({d, {}});
  }
}

void Differentiator::remove_unneeded() {
  Function& function = flat_.function();
  std::unordered_set<std::string> needed;
  for (const Name& result : function.results) needed.insert(result.text);
  std::vector<Statement> kept;
  for (size_t i = function.statements.size(); i-- > 0;) {
    Statement& statement = function.statements[i];
    bool keep = flat_.is_check(statement);
    if (const auto* c = std::get_if<Contraction>(&statement.form)) {
      keep |= needed.count(c->out.tensor.text) > 0;
    } else {
      for (const Name& target : std::get<Assignment>(statement.form).targets)
        keep |= needed.count(target.text) > 0;
    }
    if (!keep) continue;
    for (const std::string& name : names_in(function, statement)) needed.insert(name);
    statement.blank_before = false;
    kept.push_back(std::move(statement));
  }
  std::reverse(kept.begin(), kept.end());
  function.statements = std::move(kept);
}

}  // namespace stria::tile
