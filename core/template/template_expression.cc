// SPDX-License-Identifier: Apache-2.0
#include "stria/template/template_expression.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/template/template_parameters.h"

namespace stria {
namespace {

using nlohmann::json;
using Expr = TemplateExpression;
using Kind = Expr::Kind;

// The longest list that range() makes: templates describe machines, not data. TemplateWork has
// steps for one such list that is made and gone through.
constexpr int64_t kMaxRange = 1 << 17;

// Null: not set, which `default` and `is defined` turn into a value. A value that a name means, or
// a part of it, is not copied.
using Value = std::shared_ptr<const json>;

Value made(json value) { return std::make_shared<const json>(std::move(value)); }

// A text that is not UTF-8 (from a caller's settings: files are checked) is shown, not thrown.
std::string json_print(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Steps that reading or copying all of a value takes; nullopt if lists are nested too deep for
// functions that recurse.
std::optional<uint64_t> weight_of(const json& value, int depth = 0) {
  constexpr int kMaxNesting = 250;
  if (value.is_string()) return 1 + value.get_ref<const std::string&>().size() / 4;
  uint64_t weight = 1;
  if (!value.is_structured()) return weight;
  if (depth == kMaxNesting) return std::nullopt;
  for (const json& entry : value) {
    std::optional<uint64_t> inner = weight_of(entry, depth + 1);
    if (!inner) return std::nullopt;
    weight += *inner;
  }
  return weight;
}

class Evaluator {
 public:
  Evaluator(const SourceText& source, const TemplateScope& scope, TemplateWork& work,
            TemplateReads& reads)
      : source_(source), scope_(scope), work_(work), reads_(reads) {}

  Result<Value> defined(const Expr& expr) {
    STRIA_ASSIGN(Value value, evaluate(expr));
    if (value) return value;
    if (expr.kind == Kind::name)
      return fail(expr, fmt::format("'{}' is not set{}", expr.text,
                                    did_you_mean(expr.text, scope_.names())));
    return fail(expr, fmt::format("'{}' is not set{}", text_of(expr), what_is_there(expr)));
  }

  // For what reads all of `value`.
  Status spend_on(const Expr& expr, const json& value) {
    std::optional<uint64_t> weight = weight_of(value);
    if (!weight) return fail(expr, "lists nested too deep", StatusCode::out_of_range);
    return spend(expr, *weight);
  }

 private:
  Status fail(const Expr& expr, std::string message,
              StatusCode code = StatusCode::invalid_argument) const {
    return Status(code, render(source_, {Severity::error, expr.span, std::move(message)}));
  }
  Status spend(const Expr& expr, uint64_t steps) {
    if (work_.spend(steps)) return {};
    return fail(
        expr,
        fmt::format("the template's expressions take more than {} steps", TemplateWork::kMaxSteps),
        StatusCode::out_of_range);
  }

  std::string text_of(const Expr& expr) const {
    return source_.text.substr(expr.span.begin, expr.span.end - expr.span.begin);
  }

  // Where a path ends, and what goes on from there: ": 'hw.mem_units' has 'DRAM', 'SRAM'". "" if
  // that cannot be told.
  std::string what_is_there(const Expr& path) {
    if (path.kind != Kind::attribute && path.kind != Kind::item) return "";
    const Expr& before = path.children[0];
    const Result<Value> there = evaluate(before);
    if (!there.ok()) return "";
    if (!*there) {
      if (before.kind != Kind::name) return what_is_there(before);
      return fmt::format(": there is no '{}'{}", before.text,
                         did_you_mean(before.text, scope_.names()));
    }
    if (!(*there)->is_object()) return "";
    std::string missing = path.text;
    if (path.kind == Kind::item) {
      const Result<Value> key = evaluate(path.children[1]);
      if (!key.ok() || !*key || !(*key)->is_string()) return "";
      missing = (*key)->get<std::string>();
    }
    constexpr size_t kMostShown = 12;
    std::vector<std::string> names, shown;
    for (auto it = (*there)->begin(); it != (*there)->end(); ++it) {
      names.push_back(it.key());
      if (shown.size() < kMostShown) shown.push_back(fmt::format("'{}'", shown_name(it.key())));
    }
    return fmt::format(": '{}' {}{}{}", text_of(before),
                       names.empty() ? "is empty" : "has " + join(shown, ", "),
                       names.size() > shown.size() ? ", …" : "", did_you_mean(missing, names));
  }

  Result<Value> evaluate(const Expr& expr) {
    STRIA_RETURN_IF_ERROR(spend(expr, 1));
    switch (expr.kind) {
      case Kind::literal: return expr.value;
      case Kind::name: {
        const json* value = scope_.find(expr.text);
        if (value && !part_of_path_) scope_.add_reads(expr.text, expr.text, reads_);
        return Value(Value(), value);
      }
      case Kind::attribute:
      case Kind::item: {
        // Of a.b.c the path as a whole counts as read, if there is such a thing.
        const Expr* root = part_of_path_ ? nullptr : root_of(expr);
        if (!root || root->kind != Kind::name) return step(expr);
        part_of_path_ = true;
        Result<Value> value = step(expr);
        part_of_path_ = false;
        if (value.ok() && *value) scope_.add_reads(root->text, path_of(expr), reads_);
        return value;
      }
      case Kind::call: return lift(call(expr));
      case Kind::filter: return filter(expr);
      case Kind::unary: return lift(unary(expr));
      case Kind::binary: return binary(expr);
      case Kind::conditional: {
        STRIA_ASSIGN(Value condition, defined(expr.children[1]));
        return evaluate(expr.children[template_truth(*condition) ? 0 : 2]);
      }
      case Kind::defined: {
        STRIA_ASSIGN(Value value, evaluate(expr.children[0]));
        return made(value != nullptr);
      }
      case Kind::list: {
        json list = json::array();
        for (const Expr& child : expr.children) {
          STRIA_ASSIGN(Value entry, defined(child));
          STRIA_RETURN_IF_ERROR(spend_on(expr, *entry));
          list.push_back(*entry);
        }
        return made(std::move(list));
      }
    }
    return fail(expr, "unknown kind of expression");
  }

  static Result<Value> lift(Result<json> result) {
    if (!result.ok()) return result.status();
    return made(std::move(result).value());
  }

  static Value part(const Value& object, const std::string& name) {
    auto at = object->find(name);
    return at == object->end() ? Value() : Value(object, &*at);
  }

  // An integer of JSON may be larger than ours.
  Result<int64_t> whole(const Expr& expr, const json& value) {
    if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX})
      return fail(expr, fmt::format("{} does not fit in 64 bits", value.get<uint64_t>()));
    return value.get<int64_t>();
  }

  static const Expr* root_of(const Expr& expr) {
    const Expr* root = &expr;
    while (root->kind == Kind::attribute || root->kind == Kind::item) root = &root->children[0];
    return root;
  }

  // "device.exec_units.CORE" of such, or of device["exec_units"].CORE; up to what is not constant.
  static std::string path_of(const Expr& expr) {
    std::vector<const Expr*> steps;  // the last first
    for (const Expr* at = &expr; at->kind != Kind::name; at = &at->children[0]) steps.push_back(at);
    std::string path = root_of(expr)->text;
    for (auto at = steps.rbegin(); at != steps.rend(); ++at) {
      const bool attribute = (*at)->kind == Kind::attribute;
      if (!attribute && (*at)->children[1].kind != Kind::literal) break;
      path += "." + (attribute ? (*at)->text : template_print(*(*at)->children[1].value));
    }
    return path;
  }

  // One step of a path: a.b or a[i].
  Result<Value> step(const Expr& expr) {
    STRIA_ASSIGN(Value container, evaluate(expr.children[0]));
    if (!container) return Value();
    if (expr.kind == Kind::attribute) {
      if (!container->is_object())
        return fail(expr, fmt::format("'.{}' needs an object, this is {}", expr.text,
                                      container->type_name()));
      return part(container, expr.text);
    }
    const bool inside = part_of_path_;
    part_of_path_ = false;  // what the key is made of counts on its own
    Result<Value> found = defined(expr.children[1]);
    part_of_path_ = inside;
    STRIA_ASSIGN(Value key, std::move(found));
    if (container->is_object() && key->is_string())
      return part(container, key->get_ref<const std::string&>());
    if (container->is_array() && key->is_number_integer()) {
      int64_t size = static_cast<int64_t>(container->size());
      STRIA_ASSIGN(int64_t written, whole(expr, *key));
      int64_t position = written < 0 ? written + size : written;
      if (position < 0 || position >= size)
        return fail(expr, fmt::format("item {} of a list of {}", written, size));
      return Value(container, &(*container)[static_cast<size_t>(position)]);
    }
    return fail(expr, fmt::format("{} cannot be indexed with {}", container->type_name(),
                                  key->type_name()));
  }

  Result<json> call(const Expr& expr) {
    if (expr.text != "range")
      return fail(
          expr,
          fmt::format(
              "unknown function '{}'{} (there is range(n), range(from, to), range(from, to, step))",
              expr.text, did_you_mean(expr.text, {"range"})));
    if (expr.children.empty() || expr.children.size() > 3)
      return fail(expr, "range takes 1 to 3 numbers");
    std::vector<int64_t> numbers;
    for (const Expr& child : expr.children) {
      STRIA_ASSIGN(Value number, defined(child));
      if (!number->is_number_integer())
        return fail(child,
                    // A text in its quotation marks: "8" is none.
                    fmt::format("range needs integers, this is {}", json_print(*number)));
      STRIA_ASSIGN(int64_t whole_number, whole(child, *number));
      numbers.push_back(whole_number);
    }
    int64_t from = numbers.size() == 1 ? 0 : numbers[0];
    int64_t to = numbers.size() == 1 ? numbers[0] : numbers[1];
    int64_t step = numbers.size() == 3 ? numbers[2] : 1;
    if (step == 0) return fail(expr, "range with step 0 never ends");
    json list = json::array();
    for (__int128 i = from; step > 0 ? i < to : i > to; i += step) {
      if (static_cast<int64_t>(list.size()) == kMaxRange)
        return fail(expr, fmt::format("range of more than {} numbers", kMaxRange));
      STRIA_RETURN_IF_ERROR(spend(expr, 1));
      list.push_back(static_cast<int64_t>(i));
    }
    return list;
  }

  Result<json> unary(const Expr& expr) {
    STRIA_ASSIGN(Value value, defined(expr.children[0]));
    if (expr.text == "not") return json(!template_truth(*value));
    if (value->is_number_integer()) return arithmetic(expr, "-", json(0), *value);
    if (value->is_number()) return json(-value->get<double>());
    return fail(expr, fmt::format("'-' needs a number, this is {}", value->type_name()));
  }

  Result<Value> binary(const Expr& expr) {
    const std::string& op = expr.text;
    STRIA_ASSIGN(Value left, defined(expr.children[0]));
    // Python's rule: `and` and `or` give the operand that decides.
    if (op == "or" && template_truth(*left)) return left;
    if (op == "and" && !template_truth(*left)) return left;
    STRIA_ASSIGN(Value right, defined(expr.children[1]));
    if (op == "or" || op == "and") return right;
    return lift(combine(expr, *left, *right));
  }

  Result<json> combine(const Expr& expr, const json& left, const json& right) {
    const std::string& op = expr.text;
    STRIA_RETURN_IF_ERROR(spend_on(expr, left));
    STRIA_RETURN_IF_ERROR(spend_on(expr, right));
    if (op == "==") return json(left == right);
    if (op == "!=") return json(left != right);
    if (op == "in") return contains(expr, left, right);
    bool numbers = left.is_number() && right.is_number();
    if (op == "<" || op == ">" || op == "<=" || op == ">=") {
      if (!numbers && !(left.is_string() && right.is_string()))
        return fail(expr, fmt::format("'{}' cannot compare {} with {}", op, left.type_name(),
                                      right.type_name()));
      if (op == "<") return json(left < right);
      if (op == ">") return json(left > right);
      return json(op == "<=" ? left <= right : left >= right);
    }
    if (op == "+" && left.is_string() && right.is_string())
      return json(left.get<std::string>() + right.get<std::string>());
    if (!numbers)
      return fail(expr, fmt::format("'{}' needs numbers, these are {} and {}", op, left.type_name(),
                                    right.type_name()));
    return arithmetic(expr, op, left, right);
  }

  Result<json> contains(const Expr& expr, const json& left, const json& right) {
    if (right.is_array()) return json(std::find(right.begin(), right.end(), left) != right.end());
    if (right.is_object() && left.is_string()) return json(right.contains(left.get<std::string>()));
    if (right.is_string() && left.is_string()) {
      const auto& text = right.get_ref<const std::string&>();
      const auto& piece = left.get_ref<const std::string&>();
      STRIA_RETURN_IF_ERROR(spend(expr, text.size() * piece.size() / 64));
      return json(text.find(piece) != std::string::npos);
    }
    return fail(
        expr, fmt::format("'in' needs a list, an object or a text, this is {}", right.type_name()));
  }

  Result<json> arithmetic(const Expr& expr, const std::string& op, const json& left,
                          const json& right) {
    bool divides = op == "/" || op == "//" || op == "%";
    if (divides && right.get<double>() == 0) return fail(expr, "division by zero");
    if (op != "/" && left.is_number_integer() && right.is_number_integer()) {
      STRIA_ASSIGN(__int128 a, whole(expr, left));
      STRIA_ASSIGN(__int128 b, whole(expr, right));
      __int128 result = 0;
      if (op == "+") result = a + b;
      if (op == "-") result = a - b;
      if (op == "*") result = a * b;
      if (op == "//" || op == "%") {
        __int128 quotient = a / b;
        if (a % b != 0 && (a < 0) != (b < 0)) --quotient;
        result = op == "//" ? quotient : a - quotient * b;
      }
      if (result != static_cast<int64_t>(result))
        return fail(expr, "the result does not fit in 64 bits");
      return json(static_cast<int64_t>(result));
    }
    double a = left.get<double>(), b = right.get<double>();
    if (op == "+") return json(a + b);
    if (op == "-") return json(a - b);
    if (op == "*") return json(a * b);
    if (op == "/") return json(a / b);
    double quotient = std::floor(a / b);
    return json(op == "//" ? quotient : a - quotient * b);
  }

  Result<Value> filter(const Expr& expr) {
    const std::string& name = expr.text;
    size_t count = expr.children.size() - 1;
    if (name == "default" || name == "d") {
      if (count != 1) return fail(expr, "default needs one value: x | default(8)");
      STRIA_ASSIGN(Value value, evaluate(expr.children[0]));
      if (value) return value;
      reads_.defaulted = true;
      return evaluate(expr.children[1]);
    }
    STRIA_ASSIGN(Value value, defined(expr.children[0]));
    STRIA_RETURN_IF_ERROR(spend_on(expr, *value));
    std::vector<json> arguments;
    for (size_t i = 1; i < expr.children.size(); ++i) {
      STRIA_ASSIGN(Value argument, defined(expr.children[i]));
      STRIA_RETURN_IF_ERROR(spend_on(expr, *argument));
      arguments.push_back(*argument);
    }
    if (is_declaring_filter(name)) return declare(expr, value, arguments);
    return lift(apply_filter(expr, *value, arguments));
  }

  // The value of a parameter, if it is a legal one.
  Result<Value> declare(const Expr& expr, const Value& value, const std::vector<json>& arguments) {
    const Result<bool> legal = is_legal(expr.text, arguments, *value);
    if (!legal.ok()) return fail(expr, std::string(legal.status().message()));
    if (*legal) return value;
    const Expr* root = &expr;
    while (root->kind == Kind::filter) root = &root->children[0];
    std::vector<std::string> texts;
    for (const json& argument : arguments) texts.push_back(json_print(argument));
    return fail(
        *root, fmt::format("'{}' is {}, which is not {}",
                           source_.text.substr(root->span.begin, root->span.end - root->span.begin),
                           shown_name(json_print(*value)), legal_text(expr.text, texts)));
  }

  Result<json> apply_filter(const Expr& expr, const json& value,
                            const std::vector<json>& arguments) {
    // With the number of arguments that each takes at most.
    static const std::map<std::string, size_t> kMost = {
        {"int", 1},   {"float", 1}, {"string", 0}, {"tojson", 0}, {"length", 0}, {"abs", 0},
        {"round", 1}, {"min", 0},   {"max", 0},    {"sum", 0},    {"join", 1}};
    static const std::vector<std::string> kNames = [] {
      std::vector<std::string> names = {"default", "int",   "float", "string", "tojson", "length",
                                        "abs",     "round", "min",   "max",    "sum",    "join"};
      names.insert(names.end(), declaring_filters().begin(), declaring_filters().end());
      return names;
    }();
    const std::string& name = expr.text;
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end())
      return fail(expr, fmt::format("unknown filter '{}'{} (there are {})", name,
                                    did_you_mean(name, kNames), join(kNames, ", ")));
    if (size_t most = kMost.at(name); arguments.size() > most)
      return fail(expr,
                  fmt::format("{} takes {}, not {}", name,
                              most == 0 ? "no arguments" : "at most 1 argument", arguments.size()));
    if (name == "tojson") return json(json_print(value));
    if (name == "string") return json(template_print(value));
    if (name == "length") {
      if (value.is_string()) return json(static_cast<int64_t>(value.get<std::string>().size()));
      if (value.is_array() || value.is_object()) return json(static_cast<int64_t>(value.size()));
      return fail(expr, fmt::format("{} has no length", value.type_name()));
    }
    if (name == "join") {
      if (!value.is_array())
        return fail(expr, fmt::format("join needs a list, this is {}", value.type_name()));
      std::string between = arguments.empty() ? "" : template_print(arguments[0]);
      STRIA_RETURN_IF_ERROR(spend(expr, value.size() * (1 + between.size() / 4)));
      std::vector<std::string> parts;
      for (const json& part : value) parts.push_back(template_print(part));
      return json(stria::join(parts, between));
    }
    if (name == "min" || name == "max" || name == "sum") return fold(expr, value);
    return number_filter(expr, value, arguments.empty() ? nullptr : &arguments[0]);
  }

  Result<json> fold(const Expr& expr, const json& list) {
    if (!list.is_array() || (list.empty() && expr.text != "sum"))
      return fail(expr, fmt::format("{} needs a list that is not empty", expr.text));
    json best = list.empty() ? json(0) : list[0];
    for (const json& entry : list)
      if (!entry.is_number()) return fail(expr, fmt::format("{} needs numbers", expr.text));
    for (size_t i = 1; i < list.size(); ++i) {
      if (expr.text == "sum") {
        STRIA_ASSIGN(best, arithmetic(expr, "+", best, list[i]));
      } else if (expr.text == "min" ? list[i] < best : list[i] > best) {
        best = list[i];
      }
    }
    return best;
  }

  // `argument`: what int and float give for a text that is no number, the digits that round keeps.
  Result<json> number_filter(const Expr& expr, const json& value, const json* argument) {
    const bool has_default = argument && expr.text != "round";
    double number = 0;
    if (value.is_number() || value.is_boolean()) {
      if (expr.text == "int" && value.is_number_integer()) return value;
      number = value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<double>();
    } else if (value.is_string()) {
      json parsed = json::parse(value.get<std::string>(), nullptr, false);
      if (!parsed.is_number() && has_default) return *argument;
      if (!parsed.is_number())
        return fail(expr, fmt::format("'{}' is no number", value.get<std::string>()));
      number = parsed.get<double>();
    } else if (has_default) {
      return *argument;
    } else {
      return fail(expr, fmt::format("{} needs a number, this is {}", expr.text, value.type_name()));
    }
    if (expr.text == "float") return json(number);
    if (expr.text == "abs")
      return value.is_number_integer() && value.get<int64_t>() < 0
                 ? arithmetic(expr, "-", json(0), value)
             : value.is_number_integer() ? Result<json>(value)
                                         : Result<json>(json(std::fabs(number)));
    if (expr.text == "round") {
      if (!argument) return json(std::nearbyint(number));
      if (!argument->is_number_integer() || std::abs(argument->get<double>()) > 15)
        return fail(expr, fmt::format("round keeps -15 to 15 digits, not {}", argument->dump()));
      const double digits = argument->get<double>(), unit = std::pow(10.0, std::fabs(digits));
      // Divided by what is a whole number, so that 2.5 stays 2.5.
      const double rounded =
          digits < 0 ? std::nearbyint(number / unit) * unit : std::nearbyint(number * unit) / unit;
      return json(std::isfinite(rounded) ? rounded : number);
    }
    if (!(std::fabs(number) < 9.2e18)) return fail(expr, "the number does not fit in 64 bits");
    return json(static_cast<int64_t>(number));
  }

  const SourceText& source_;
  const TemplateScope& scope_;
  TemplateWork& work_;
  TemplateReads& reads_;
  bool part_of_path_ = false;
};

}  // namespace

const json* TemplateScope::find(const std::string& name) const {
  auto at = values_->find(name);
  if (at != values_->end()) return &*at;
  return outer_ ? outer_->find(name) : nullptr;
}

void TemplateScope::add_reads(const std::string& name, const std::string& path,
                              TemplateReads& reads) const {
  if (!values_->contains(name)) {
    if (outer_) outer_->add_reads(name, path, reads);
  } else if (!reads_) {
    reads.add(path);
  } else if (auto at = reads_->find(name); at != reads_->end()) {
    reads.add(at->second);
  }
}

std::vector<std::string> TemplateScope::names() const {
  std::vector<std::string> names = outer_ ? outer_->names() : std::vector<std::string>();
  for (auto it = values_->begin(); it != values_->end(); ++it) names.push_back(it.key());
  return names;
}

Result<Value> evaluate_template_expression(const SourceText& source,
                                           const TemplateExpression& expression,
                                           const TemplateScope& scope, TemplateWork& work,
                                           TemplateReads& reads) {
  Evaluator evaluator(source, scope, work, reads);
  STRIA_ASSIGN(Value value, evaluator.defined(expression));
  STRIA_RETURN_IF_ERROR(evaluator.spend_on(expression, *value));  // the caller prints or copies it
  return value;
}

bool template_truth(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.empty();
}

std::string template_print(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return float_text(value.get<double>());
  return json_print(value);
}

}  // namespace stria
