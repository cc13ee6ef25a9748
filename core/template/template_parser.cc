// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

#include "stria/template/json_text.h"
#include "stria/template/template_expression.h"

namespace stria {
namespace {

using Expr = TemplateExpression;
using Kind = Expr::Kind;

// More brackets, signs and such within each other than this are refused: the parser and the
// evaluator recurse.
constexpr int kMaxExpressionDepth = 40;
// And operators, items and filters in a row.
constexpr int kMaxInARow = 300;

class Parser {
 public:
  Parser(const SourceText& source, size_t begin, size_t end)
      : source_(source), text_(source.text), at_(begin), begin_(begin), end_(end) {}

  Result<Expr> parse() {
    STRIA_ASSIGN(Expr expr, conditional());
    skip();
    if (at_ < end_)
      return fail(at_, fmt::format("unexpected '{}' after the expression", text_[at_]));
    return expr;
  }

 private:
  Status fail(size_t offset, std::string message) const {
    return Status(StatusCode::invalid_argument,
                  render(source_, {Severity::error, {offset, offset + 1}, std::move(message)}));
  }

  void skip() {
    while (at_ < end_ && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  static bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

  bool take(std::string_view symbol) {
    skip();
    if (text_.substr(at_, end_ - at_).substr(0, symbol.size()) != symbol) return false;
    if (word_char(symbol.back()) && at_ + symbol.size() < end_ &&
        word_char(text_[at_ + symbol.size()]))
      return false;
    at_ += symbol.size();
    return true;
  }

  Expr node(Kind kind, size_t begin, size_t end, std::string text,
            std::vector<Expr> children) const {
    // Who looked for what follows has gone over blanks.
    while (end > begin && std::isspace(static_cast<unsigned char>(text_[end - 1]))) --end;
    Expr expr;
    expr.kind = kind;
    expr.span = {begin, end};
    expr.text = std::move(text);
    expr.children = std::move(children);
    for (const Expr& child : expr.children) expr.height = std::max(expr.height, child.height + 1);
    return expr;
  }

  Result<Expr> conditional() {
    if (++depth_ > kMaxExpressionDepth)
      return fail(at_, fmt::format("expression nested deeper than {}", kMaxExpressionDepth));
    size_t begin = at_;
    STRIA_ASSIGN(Expr value, binary(0));
    if (take("if")) {
      STRIA_ASSIGN(Expr condition, binary(0));
      if (!take("else")) return fail(at_, "'else' is missing after 'if' in this expression");
      STRIA_ASSIGN(Expr other, conditional());
      value = node(Kind::conditional, begin, at_, "",
                   {std::move(value), std::move(condition), std::move(other)});
    }
    --depth_;
    return value;
  }

  // Operators by rising precedence; `not` sits between `and` and the comparisons.
  Result<Expr> binary(int level) {
    static const std::vector<std::vector<std::string_view>> kLevels = {
        {"or"},
        {"and"},
        {"==", "!=", "<=", ">=", "<", ">", "in"},
        {"+", "-"},
        {"*", "//", "/", "%"}};
    if (level == static_cast<int>(kLevels.size())) return unary();
    size_t begin = at_;
    if (level == 2 && take("not")) {
      if (++depth_ > kMaxExpressionDepth)
        return fail(at_, fmt::format("expression nested deeper than {}", kMaxExpressionDepth));
      STRIA_ASSIGN(Expr operand, binary(2));
      --depth_;
      return node(Kind::unary, begin, at_, "not", {std::move(operand)});
    }
    STRIA_ASSIGN(Expr left, binary(level + 1));
    if (level == 2 && take("is")) {
      bool negated = take("not");
      if (!take("defined"))
        return fail(at_, "only 'is defined' and 'is not defined' are known after 'is'");
      left = node(Kind::defined, begin, at_, "", {std::move(left)});
      if (negated) left = node(Kind::unary, begin, at_, "not", {std::move(left)});
      return left;
    }
    while (true) {
      std::string op;
      for (std::string_view candidate : kLevels[level]) {
        if (take(candidate)) {
          op = candidate;
          break;
        }
      }
      if (op.empty()) return left;
      STRIA_ASSIGN(Expr right, binary(level + 1));
      left = node(Kind::binary, begin, at_, op, {std::move(left), std::move(right)});
      STRIA_RETURN_IF_ERROR(check_height(left));
    }
  }

  Result<Expr> unary() {
    skip();
    size_t begin = at_;
    if (take("-")) {
      if (++depth_ > kMaxExpressionDepth)
        return fail(at_, fmt::format("expression nested deeper than {}", kMaxExpressionDepth));
      STRIA_ASSIGN(Expr operand, unary());
      --depth_;
      return node(Kind::unary, begin, at_, "-", {std::move(operand)});
    }
    STRIA_ASSIGN(Expr value, primary());
    while (true) {
      STRIA_RETURN_IF_ERROR(check_height(value));
      if (take(".")) {
        STRIA_ASSIGN(std::string name, word("an attribute name after '.'"));
        value = node(Kind::attribute, begin, at_, name, {std::move(value)});
      } else if (take("[")) {
        STRIA_ASSIGN(Expr item, conditional());
        if (!take("]")) return fail(at_, "']' is missing");
        value = node(Kind::item, begin, at_, "", {std::move(value), std::move(item)});
      } else if (take("|")) {
        STRIA_ASSIGN(std::string name, word("a filter name after '|'"));
        std::vector<Expr> children;
        children.push_back(std::move(value));
        if (take("(")) STRIA_RETURN_IF_ERROR(arguments(")", children));
        value = node(Kind::filter, begin, at_, name, std::move(children));
      } else {
        return value;
      }
    }
  }

  Status check_height(const Expr& expr) const {
    if (expr.height - 1 <= kMaxInARow) return {};  // the last one is an operand
    return fail(expr.span.begin,
                fmt::format("expression with more than {} operations in a row", kMaxInARow));
  }

  Status arguments(std::string_view close, std::vector<Expr>& into) {
    if (take(close)) return {};
    while (true) {
      STRIA_ASSIGN(Expr argument, conditional());
      into.push_back(std::move(argument));
      if (take(close)) return {};
      if (!take(",")) return fail(at_, fmt::format("',' or '{}' is missing", close));
      if (take(close)) return {};
    }
  }

  Result<std::string> word(std::string_view what) {
    skip();
    size_t begin = at_;
    while (at_ < end_ && word_char(text_[at_])) ++at_;
    if (at_ == begin || std::isdigit(static_cast<unsigned char>(text_[begin])))
      return fail(begin, fmt::format("expected {}", what));
    return std::string(text_.substr(begin, at_ - begin));
  }

  Expr literal(size_t begin, nlohmann::json value) {
    Expr expr = node(Kind::literal, begin, at_, "", {});
    expr.value = std::make_shared<const nlohmann::json>(std::move(value));
    return expr;
  }

  Result<Expr> primary() {
    skip();
    size_t begin = at_;
    if (at_ >= end_)
      return fail(at_ > begin_ ? at_ - 1 : at_, "the expression ends here; a value is missing");
    char c = text_[at_];
    if (take("(")) {
      STRIA_ASSIGN(Expr inner, conditional());
      if (!take(")")) return fail(at_, "')' is missing");
      return inner;
    }
    if (take("[")) {
      std::vector<Expr> items;
      STRIA_RETURN_IF_ERROR(arguments("]", items));
      return node(Kind::list, begin, at_, "", std::move(items));
    }
    if (c == '"' || c == '\'') return string_literal(c);
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    if (!word_char(c)) return fail(at_, fmt::format("unexpected '{}'; a value is expected", c));
    STRIA_ASSIGN(std::string name, word("a value"));
    if (name == "true" || name == "True") return literal(begin, true);
    if (name == "false" || name == "False") return literal(begin, false);
    if (name == "none" || name == "None") return literal(begin, nullptr);
    if (take("(")) {
      std::vector<Expr> children;
      STRIA_RETURN_IF_ERROR(arguments(")", children));
      return node(Kind::call, begin, at_, name, std::move(children));
    }
    return node(Kind::name, begin, at_, name, {});
  }

  Result<Expr> string_literal(char quote) {
    size_t begin = at_++;
    std::string value;
    while (at_ < end_ && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < end_) ++at_;
      value += text_[at_++];
    }
    if (at_ >= end_) return fail(begin, "the string is not closed");
    ++at_;
    if (!fits_json(value)) return fail(begin, "the string is not UTF-8");
    return literal(begin, value);
  }

  Result<Expr> number() {
    size_t begin = at_;
    const char* first = text_.data() + at_;
    const char* last = text_.data() + end_;
    int64_t integer = 0;
    auto whole = std::from_chars(first, last, integer);
    double real = 0;
    auto full = std::from_chars(first, last, real);
    if (full.ptr == whole.ptr) {
      if (whole.ec != std::errc()) return fail(begin, "the number does not fit in 64 bits");
      at_ += static_cast<size_t>(whole.ptr - first);
      return literal(begin, integer);
    }
    if (full.ec != std::errc()) return fail(begin, "the number does not fit in a double");
    at_ += static_cast<size_t>(full.ptr - first);
    return literal(begin, real);
  }

  const SourceText& source_;
  std::string_view text_;
  size_t at_;
  size_t begin_;
  size_t end_;
  int depth_ = -1;  // the whole is within nothing
};

}  // namespace

Result<TemplateExpression> parse_template_expression(const SourceText& source, size_t begin,
                                                     size_t end) {
  return Parser(source, begin, end).parse();
}

}  // namespace stria
