// SPDX-License-Identifier: Apache-2.0
#include "stria/template/template_parameters.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "stria/base/text.h"
#include "stria/template/template_expression.h"

namespace stria {
namespace {

using nlohmann::json;
using Expr = TemplateExpression;
using Kind = Expr::Kind;

std::string_view text_of(const SourceText& source, const Expr& expr) {
  return std::string_view(source.text).substr(expr.span.begin, expr.span.end - expr.span.begin);
}

void add_names(const Expr& expr, std::set<std::string>& to) {
  if (expr.kind == Kind::name) to.insert(expr.text);
  for (const Expr& child : expr.children) add_names(child, to);
}

// Finds the parameters of one template in the chains of filters that begin with their names.
class Collector {
 public:
  explicit Collector(const SourceText& source) : source_(source) {}

  Status run() {
    STRIA_ASSIGN(const std::set<std::string> settable, settable_parameters(source_));
    STRIA_ASSIGN(const std::vector<Expr> expressions, template_expressions(source_));
    for (const Expr& expr : expressions) visit(expr, settable);
    return {};
  }

  std::vector<TemplateParameter> parameters;

 private:
  TemplateParameter& parameter(const std::string& name) {
    const auto [at, added] = positions_.emplace(name, parameters.size());
    if (added) parameters.push_back({name, "", "", {}, {}});
    return parameters[at->second];
  }

  void visit(const Expr& expr, const std::set<std::string>& settable) {
    if (expr.kind == Kind::name && settable.count(expr.text)) parameter(expr.text);
    for (const Expr& child : expr.children) visit(child, settable);
    if (expr.kind != Kind::filter) return;
    const Expr* root = &expr;
    while (root->kind == Kind::filter) root = &root->children[0];
    if (root->kind == Kind::name && settable.count(root->text))
      read_filter(expr, parameter(root->text));
  }

  void read_filter(const Expr& filter, TemplateParameter& to) {
    const bool gives_default = filter.text == "default" || filter.text == "d";
    if (gives_default && to.initial.empty() && filter.children.size() == 2) {
      to.initial = text_of(source_, filter.children[1]);
      add_names(filter.children[1], to.initial_reads);
    }
    if (!is_declaring_filter(filter.text) || !to.legal.empty()) return;
    std::vector<std::string> arguments;
    for (size_t i = 1; i < filter.children.size(); ++i)
      arguments.emplace_back(text_of(source_, filter.children[i]));
    to.legal = legal_text(filter.text, arguments);
    if (filter.text == "boolean") to.choices = {"true", "false"};
    if (filter.text != "one_of") return;
    for (size_t i = 1; i < filter.children.size(); ++i)
      if (filter.children[i].kind == Kind::literal)
        to.choices.push_back(template_print(*filter.children[i].value));
  }

  const SourceText& source_;
  std::map<std::string, size_t> positions_;
};

}  // namespace

Result<std::vector<TemplateParameter>> declared_parameters(const SourceText& source) {
  Collector collector(source);
  STRIA_RETURN_IF_ERROR(collector.run());
  return std::move(collector.parameters);
}

std::string describe_parameters(const std::vector<TemplateParameter>& parameters) {
  size_t names = 0, initials = 0;
  for (const TemplateParameter& parameter : parameters) {
    names = std::max(names, parameter.name.size());
    initials = std::max(initials, parameter.initial.size());
  }
  std::string out;
  for (const TemplateParameter& parameter : parameters)
    out += fmt::format("  {:<{}}  {:<{}}  {}\n", parameter.name, names, parameter.initial, initials,
                       parameter.legal.empty() ? "anything" : parameter.legal);
  return out;
}

const std::vector<std::string>& declaring_filters() {
  static const std::vector<std::string> kFilters = {"integer", "number", "one_of", "boolean"};
  return kFilters;
}

bool is_declaring_filter(std::string_view filter) {
  const std::vector<std::string>& all = declaring_filters();
  return std::find(all.begin(), all.end(), filter) != all.end();
}

std::string legal_text(std::string_view filter, const std::vector<std::string>& arguments) {
  if (filter == "boolean") return "true or false";
  if (filter == "one_of") {
    if (arguments.size() < 2) return join(arguments, "");
    const std::vector<std::string> all_but_last(arguments.begin(), arguments.end() - 1);
    return fmt::format("{} or {}", join(all_but_last, ", "), arguments.back());
  }
  return fmt::format("{} from {}", filter == "integer" ? "a whole number" : "a number",
                     join(arguments, " to "));
}

namespace {

// Of our 64 bits: JSON has larger ones, which compare like negative ones.
bool is_whole(const json& value) {
  return value.is_number_integer() &&
         !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX});
}

// 2.0 and -0.0 are equal to whole numbers and are none.
bool is_one(const json& value, const json& of) {
  return value == of && (!of.is_number_integer() || is_whole(value));
}

}  // namespace

Result<bool> is_legal(std::string_view filter, const std::vector<json>& arguments,
                      const json& value) {
  if (filter == "boolean") {
    if (!arguments.empty()) return invalid_argument("boolean takes no arguments");
    return value.is_boolean();
  }
  if (filter == "one_of") {
    if (arguments.empty())
      return invalid_argument("one_of needs the values that are legal: x | one_of(0, 2, 4)");
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const json& legal) { return is_one(value, legal); });
  }
  const bool whole = filter == "integer";
  const auto fits = [&](const json& number) {
    return whole ? is_whole(number) : number.is_number() && std::isfinite(number.get<double>());
  };
  if (arguments.size() != 2 || !fits(arguments[0]) || !fits(arguments[1]) ||
      arguments[0] > arguments[1])
    return invalid_argument("{0} needs the least and the largest {1}: x | {0}(1, 64)", filter,
                            whole ? "whole number" : "number");
  return fits(value) && arguments[0] <= value && value <= arguments[1];
}

}  // namespace stria
