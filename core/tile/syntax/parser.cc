// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/syntax/parser.h"

#include <algorithm>
#include <utility>

#include "stria/base/text.h"
#include "stria/tile/syntax/lexer.h"
#include "stria/tile/syntax/operators.h"

namespace stria::tile {
namespace {

// Brackets, signs and `?:` open at one time: bounds the parser's own recursion.
constexpr int kMaxNesting = 250;

// Recursive descent. A function that fails has reported why and returns false or kNoExpr; the
// caller passes that on up to the statement, where reading goes on behind the next semicolon.
class Parser {
 public:
  Parser(const SourceText& source, Diagnostics& diagnostics)
      : diagnostics_(diagnostics), list_(lex(source, diagnostics)) {}

  Program run() {
    Program program;
    while (!at_end() && !stop()) {
      if (peek().is("function")) {
        program.functions.push_back(function());
      } else {
        error_here("expected 'function'");
        while (!at_end() && !peek().is("function")) next();
      }
    }
    program.end_comments = take_comments(at_);
    if (program.functions.empty() && !diagnostics_.has_errors())
      error(peek().span, "there is no function: expected 'function (inputs) -> (outputs) { … }'");
    return program;
  }

 private:
  // ---- tokens ----
  const Token& peek(size_t ahead = 0) const {
    return list_.tokens[std::min(at_ + ahead, list_.tokens.size() - 1)];
  }
  const Token& previous() const { return list_.tokens[at_ > 0 ? at_ - 1 : 0]; }
  bool at_end() const { return peek().kind == TokenKind::end; }
  const Token& next() {
    const Token& token = peek();
    if (at_ + 1 < list_.tokens.size()) ++at_;
    return token;
  }
  bool accept(std::string_view sign) {
    if (!peek().is(sign)) return false;
    next();
    return true;
  }
  static Name name_of(const Token& token) { return {std::string(token.text), token.span}; }

  // ---- messages ----
  bool stop() const { return diagnostics_.error_count() >= kMaxErrors; }
  bool error(SourceSpan span, std::string message) {
    // The lexer has reported an invalid token itself; one message per place is enough.
    if (!stop() && !(last_error_ == span.begin && diagnostics_.has_errors()))
      diagnostics_.error(span, std::move(message));
    last_error_ = span.begin;
    return false;
  }
  static std::string found(const Token& token) {
    if (token.kind == TokenKind::end) return "the end of the file";
    return fmt::format("'{}'", token.text);
  }
  bool error_here(std::string_view message) {
    if (peek().kind == TokenKind::invalid) return false;
    return error(peek().span, fmt::format("{}, found {}", message, found(peek())));
  }
  bool expect(std::string_view sign, std::string_view where) {
    if (accept(sign)) return true;
    return error_here(fmt::format("expected '{}' {}", sign, where));
  }

  // ---- comments ----
  std::vector<std::string> take_comments(size_t up_to_token) {
    std::vector<std::string> out;
    while (comment_ < list_.comments.size() && list_.comments[comment_].token <= up_to_token) {
      const Comment& comment = list_.comments[comment_++];
      if (comment.blank_before && !out.empty()) out.emplace_back(kEmptyLine);
      out.push_back(comment.text);
    }
    return out;
  }
  // Those before the next token, which the printer puts directly behind them.
  std::vector<std::string> take_leading_comments() {
    std::vector<std::string> out = take_comments(at_);
    if (!out.empty() && peek().blank_after_comments) out.emplace_back(kEmptyLine);
    return out;
  }
  // The comment behind the token just read, on the same line.
  std::string take_end_comment() {
    if (comment_ < list_.comments.size() && list_.comments[comment_].token == at_ &&
        !list_.comments[comment_].own_line)
      return list_.comments[comment_++].text;
    return "";
  }

  // ---- functions ----
  Function function() {
    Function out;
    f_ = &out;
    depths_.clear();
    out.comments = take_leading_comments();
    out.span = next().span;
    bool ok = header(out);
    out.span.end = previous().span.end;
    if (!ok) {
      // The body may hold errors of its own worth a message in the same run.
      while (!at_end() && !peek().is("{") && !peek().is("function")) next();
    }
    for (std::string& text : take_comments(at_)) out.comments.push_back(std::move(text));
    if (!peek().is("{")) {
      if (ok) error_here("expected '{' before the statements of the function");
      while (!at_end() && !peek().is("function")) next();
      return out;
    }
    next();
    reserve(out);
    while (!peek().is("}") && !stop()) {
      if (at_end()) {
        error(peek().span, "the file ends inside a function: expected '}'");
        return out;
      }
      if (peek().is("function")) {
        error_here("expected '}' before the next function");
        return out;
      }
      Statement statement;
      if (this->statement(statement)) {
        if (out.statements.empty()) statement.blank_before = false;
        out.statements.push_back(std::move(statement));
      } else {
        skip_statement();
      }
    }
    out.end_comments = take_comments(at_);
    accept("}");
    return out;
  }

  // Room for what the tokens up to the next function can make: growing would move all of it.
  void reserve(Function& out) {
    size_t statements = 0, leaves = 0;
    for (size_t i = at_; i < list_.tokens.size(); ++i) {
      const Token& token = list_.tokens[i];
      if (token.is("function")) break;
      if (token.is(";")) ++statements;
      if (token.kind != TokenKind::sign && token.kind != TokenKind::keyword) ++leaves;
    }
    out.statements.reserve(statements);
    out.exprs.reserve(2 * leaves);
    depths_.reserve(2 * leaves);
  }

  bool header(Function& out) {
    if (peek().kind == TokenKind::name || peek().kind == TokenKind::index)
      out.name = name_of(next());
    if (!expect("(", "before the inputs of the function")) return false;
    if (!peek().is(")")) {
      do {
        Parameter parameter;
        if (!capital_name("an input", parameter.name)) return false;
        if (accept("[")) {
          parameter.has_dims = true;
          if (!peek().is("]")) {
            do {
              Name dim;
              if (!capital_name("a dimension", dim)) return false;
              parameter.dims.push_back(std::move(dim));
            } while (accept(","));
          }
          if (!expect("]", "after the dimensions")) return false;
        }
        out.parameters.push_back(std::move(parameter));
      } while (accept(","));
    }
    if (!expect(")", "after the inputs")) return false;
    if (!expect("->", "between inputs and outputs")) return false;
    if (!expect("(", "before the outputs of the function")) return false;
    do {
      Name result;
      if (!capital_name("an output", result)) return false;
      if (peek().is("["))
        return error_here(
            fmt::format("outputs have no dimensions in the header: they follow from the statement "
                        "that makes '{}'; "
                        "expected ',' or ')'",
                        result.text));
      out.results.push_back(std::move(result));
    } while (accept(","));
    return expect(")", "after the outputs");
  }

  bool capital_name(std::string_view what, Name& out) {
    if (peek().kind == TokenKind::name) {
      out = name_of(next());
      return true;
    }
    if (peek().kind == TokenKind::index) {
      std::string text(peek().text);
      std::string capital = text;
      capital[0] = static_cast<char>(capital[0] - 'a' + 'A');
      return error(peek().span, fmt::format("{} begins with a capital letter: write '{}' for '{}'",
                                            what, capital, text));
    }
    return error_here(fmt::format("expected the name of {}", what));
  }

  // ---- statements ----
  void skip_statement() {
    // A semicolon that is missing at the end of a line costs only its own statement.
    if (missing_semicolon_) {
      missing_semicolon_ = false;
      return;
    }
    while (!at_end() && !peek().is("}") && !peek().is("function"))
      if (next().is(";")) return;
  }

  bool statement(Statement& out) {
    nesting_ = kOutside;  // a statement that failed left some open
    in_form_ = false;
    out.comments = take_leading_comments();
    out.blank_before = peek().blank_before;
    while (peek().is("[") && peek(1).is("["))
      if (!attribute(out)) return false;
    out.span = peek().span;
    bool ok = false;
    if (peek().kind == TokenKind::name && peek(1).is("[")) {
      ok = contraction(out.form.emplace<Contraction>());
    } else {
      ok = assignment(out.form.emplace<Assignment>());
    }
    if (!ok) return false;
    out.span.end = previous().span.end;
    if (!peek().is(";")) {
      if (peek().kind == TokenKind::invalid) return false;
      size_t end = previous().span.end;
      bool next_line = starts_line();
      missing_semicolon_ = next_line;
      return error({end, end},
                   next_line || at_end() || peek().is("}")
                       ? std::string("expected ';' at the end of the statement")
                       : fmt::format("expected an operator or ';', found {}", found(peek())));
    }
    next();
    // Comments that stood inside the statement move before it.
    for (std::string& text : take_comments(at_ - 1))
      if (text != kEmptyLine) out.comments.push_back(std::move(text));
    out.end_comment = take_end_comment();
    return true;
  }

  // Is there a line break before the next token?
  bool starts_line() const {
    const Token& a = previous();
    const Token& b = peek();
    std::string_view between(a.text.data() + a.text.size(),
                             static_cast<size_t>(b.text.data() - a.text.data()) - a.text.size());
    return between.find('\n') != std::string_view::npos;
  }

  bool attribute(Statement& out) {
    next();
    next();
    Attribute attribute;
    if (peek().kind != TokenKind::name && peek().kind != TokenKind::index)
      return error_here("expected the name of an attribute");
    attribute.name = name_of(next());
    if (accept("(")) {
      if (!peek().is(")")) {
        do {
          if (peek().kind != TokenKind::name && peek().kind != TokenKind::index &&
              peek().kind != TokenKind::integer)
            return error_here("expected a name or number as argument of the attribute");
          attribute.arguments.push_back(name_of(next()));
        } while (accept(","));
      }
      if (!expect(")", "after the arguments of the attribute")) return false;
    }
    if (!expect("]", "after the attribute (it ends with ']]')")) return false;
    if (!expect("]", "after the attribute (it ends with ']]')")) return false;
    out.attributes.push_back(std::move(attribute));
    return true;
  }

  bool assignment(Assignment& out) {
    if (peek().is("(")) {
      next();
      out.tuple = true;
      do {
        Name target;
        if (!capital_name("a tensor", target)) return false;
        out.targets.push_back(std::move(target));
      } while (accept(","));
      if (!expect(")", "after the results")) return false;
    } else {
      Name target;
      if (peek().kind != TokenKind::name && peek().kind != TokenKind::index)
        return error_here("expected a statement (a name and '=')");
      if (!capital_name("a tensor", target)) return false;
      out.targets.push_back(std::move(target));
    }
    if (!expect("=", fmt::format("after '{}'", out.targets.back().text))) return false;
    for (Aggregation a : kAggregations) {
      if (!peek().is(sign_of(a)) || !peek(1).is("(")) continue;
      if (peek(2).kind == TokenKind::name && peek(3).is("["))
        return error(
            out.targets[0].span,
            fmt::format("a contraction needs indices and sizes for its output: "
                        "'{0}[i, … : N, …] = {1}(…)', or '{0}[] = {1}(…)' for a single number",
                        out.targets[0].text, sign_of(a)));
      return error_here(fmt::format("there is no unary '{}'; expected an expression", sign_of(a)));
    }
    out.value = expression();
    return out.value != kNoExpr;
  }

  static constexpr Aggregation kAggregations[] = {Aggregation::sum, Aggregation::product,
                                                  Aggregation::max, Aggregation::min,
                                                  Aggregation::assign};

  bool contraction(Contraction& out) {
    out.out.tensor = name_of(next());
    out.out.span = out.out.tensor.span;
    next();  // [
    if (!peek().is("]") && !peek().is(":") && !forms(out.out.indices)) return false;
    if (accept(":") && !peek().is("]")) {
      do {
        ExprId size = expression();
        if (size == kNoExpr) return false;
        out.sizes.push_back(size);
      } while (accept(","));
    }
    if (!expect("]", "after the indices and sizes of the output")) return false;
    out.out.span.end = previous().span.end;
    if (out.sizes.empty() && !out.out.indices.empty())
      return error(
          out.out.span,
          fmt::format("the sizes of '{0}' are missing: write '{0}[… : N, …]', one size per index",
                      out.out.tensor.text));
    if (out.sizes.size() != out.out.indices.size())
      return error(out.out.span, fmt::format("'{}' has {} but {}", out.out.tensor.text,
                                             count(out.out.indices.size(), "index", "indices"),
                                             count(out.sizes.size(), "size", "sizes")));
    // "==(" is the aggregation `=` written close to the equals sign.
    bool assign = accept("==");
    if (!assign && !expect("=", fmt::format("after '{}[…]'", out.out.tensor.text))) return false;
    out.aggregation_span = assign ? previous().span : peek().span;
    bool known = assign;
    if (assign) out.aggregation = Aggregation::assign;
    for (Aggregation a : kAggregations) {
      if (known || !peek().is(sign_of(a))) continue;
      out.aggregation = a;
      known = true;
      next();
    }
    if (!known || !peek().is("("))
      return error_here(
          known ? "expected '(' after the aggregation"
                : "expected an aggregation and '(': '+(…)', '*(…)', '>(…)', '<(…)' or '=(…)'");
    next();
    if (!body(out)) return false;
    while (accept(",")) {
      Constraint constraint;
      constraint.span = peek().span;
      constraint.form = form();
      if (constraint.form == kNoExpr) return false;
      if (!peek().is("<"))
        return error_here(
            "a constraint is 'form < bound' and means 0 <= form < bound; expected '<'");
      next();
      constraint.bound = expression();
      if (constraint.bound == kNoExpr) return false;
      constraint.span.end = previous().span.end;
      out.constraints.push_back(constraint);
    }
    for (;;) {
      if (peek().is("no_defract")) {
        if (out.no_defract) return error_here("'no_defract' stands twice");
        next();
        out.no_defract = true;
      } else if (peek().is("default")) {
        if (!out.default_tensor.text.empty()) return error_here("'default' stands twice");
        next();
        if (!capital_name("a tensor", out.default_tensor)) return false;
      } else {
        return true;
      }
    }
  }

  static std::string count(size_t n, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
  }

  bool body(Contraction& out) {
    if (!access(out)) return false;
    if (peek().is("+")) out.combination = Combination::add;
    if (peek().is("*")) out.combination = Combination::mul;
    if (peek().is("==")) out.combination = Combination::equal;
    if (out.combination != Combination::none) {
      next();
      if (!access(out)) return false;
    }
    if (peek().is("?")) {
      if (out.combination != Combination::equal)
        return error_here("a contraction of three tensors is written 'A[…] == B[…] ? C[…]'");
      next();
      out.combination = Combination::cond;
      if (!access(out)) return false;
      if (peek().is(":"))
        return error_here(
            "a contraction of three tensors has no ':'; where A and B differ, the term is 0");
    }
    if (peek().is(")")) {
      next();
      return true;
    }
    return error_here(
        "inside a contraction stand 'A[…]', 'A[…] + B[…]', 'A[…] * B[…]', 'A[…] == B[…]' or "
        "'A[…] == B[…] ? C[…]' (compute anything else in a statement of its own); expected ')'");
  }

  bool access(Contraction& out) {
    Access access;
    access.span = peek().span;
    if (!capital_name("a tensor", access.tensor)) return false;
    if (!peek().is("["))
      return error_here(fmt::format("tensor '{0}' needs its indices in a contraction: '{0}[…]'",
                                    access.tensor.text));
    next();
    if (!peek().is("]") && !forms(access.indices)) return false;
    if (!expect("]", fmt::format("after the indices of '{}'", access.tensor.text))) return false;
    access.span.end = previous().span.end;
    out.operands.push_back(std::move(access));
    return true;
  }

  bool forms(std::vector<ExprId>& out) {
    do {
      ExprId id = form();
      if (id == kNoExpr) return false;
      out.push_back(id);
    } while (accept(","));
    return true;
  }

  // ---- expressions ----
  ExprId form() {
    bool before = std::exchange(in_form_, true);
    ExprId id = ternary();
    in_form_ = before;
    return id;
  }
  ExprId expression() {
    bool before = std::exchange(in_form_, false);
    ExprId id = ternary();
    in_form_ = before;
    return id;
  }

  bool enter() {
    if (++nesting_ <= kMaxNesting) return true;
    error(peek().span, fmt::format("more than {} brackets, signs or '?:' are open here; split the "
                                   "expression into several statements",
                                   kMaxNesting));
    return false;
  }

  ExprId add(Expr expr) {
    int depth = 0;  // operations on the longest way to a leaf
    for (ExprId arg : expr.args) depth = std::max(depth, depths_[static_cast<size_t>(arg)] + 1);
    if (depth > kMaxExprDepth) {
      error(expr.name_span,
            fmt::format("the expression is more than {} operations deep here; split it "
                        "into several statements",
                        kMaxExprDepth));
      return kNoExpr;
    }
    depths_.push_back(depth);
    f_->exprs.push_back(std::move(expr));
    return static_cast<ExprId>(f_->exprs.size() - 1);
  }
  ExprId add_call(std::string_view function, SourceSpan sign, SourceSpan whole,
                  std::vector<ExprId> args) {
    Expr expr;
    expr.kind = ExprKind::call;
    expr.text = std::string(function);
    expr.args = std::move(args);
    expr.span = whole;
    expr.name_span = sign;
    return add(std::move(expr));
  }
  SourceSpan span_of(ExprId id) const { return f_->exprs[static_cast<size_t>(id)].span; }

  ExprId ternary() {
    if (!enter()) return kNoExpr;
    ExprId id = ternary_inside();
    --nesting_;
    return id;
  }
  ExprId ternary_inside() {
    ExprId condition = binary(1);
    if (condition == kNoExpr || in_form_ || !peek().is("?")) return condition;
    SourceSpan sign = next().span;
    ExprId yes = ternary();
    if (yes == kNoExpr) return kNoExpr;
    if (!expect(":", "between the two values of '?:'")) return kNoExpr;
    ExprId no = ternary();
    if (no == kNoExpr) return kNoExpr;
    return add_call(kTernaryFunction, sign, {span_of(condition).begin, previous().span.end},
                    {condition, yes, no});
  }

  ExprId binary(int level) {
    size_t begin = peek().span.begin;
    ExprId left = unary();
    const BinaryOperator* last = nullptr;
    while (left != kNoExpr) {
      const Token& sign = peek();
      const BinaryOperator* op = sign.kind == TokenKind::sign ? binary_by_sign(sign.text) : nullptr;
      if (op == nullptr || op->level < level) break;
      if (in_form_ && !op->in_forms) {
        // `<` ends the form of a constraint.
        if (op->sign != "<")
          return error_here(
                     "an index form has only + - * and / of indices, dimensions and integers"),
                 kNoExpr;
        break;
      }
      if (last != nullptr && !op->chains && last->level == op->level) {
        error(sign.span,
              fmt::format("'{}' does not chain with '{}': put one of them in parentheses", op->sign,
                          last->sign));
        return kNoExpr;
      }
      next();
      ExprId right = binary(op->level + 1);
      if (right == kNoExpr) return kNoExpr;
      left = add_call(op->function, sign.span, {begin, previous().span.end}, {left, right});
      last = op;
    }
    return left;
  }

  ExprId unary() {
    const Token& sign = peek();
    const UnaryOperator* op = sign.kind == TokenKind::sign ? unary_by_sign(sign.text) : nullptr;
    if (op == nullptr) return primary();
    if (in_form_ && !op->in_forms)
      return error_here("an index form has only + - * and / of indices, dimensions and integers"),
             kNoExpr;
    if (!enter()) return kNoExpr;
    next();
    ExprId arg = unary();
    --nesting_;
    if (arg == kNoExpr) return kNoExpr;
    return add_call(op->function, sign.span, {sign.span.begin, previous().span.end}, {arg});
  }

  ExprId primary() {
    const Token& token = peek();
    Expr expr;
    expr.span = token.span;
    expr.name_span = token.span;
    switch (token.kind) {
      case TokenKind::integer: {
        expr.kind = ExprKind::integer;
        expr.integer = token.integer;
        next();
        ExprId number = add(std::move(expr));
        // `2 i` is `2 * i`.
        if (in_form_ && peek().kind == TokenKind::index && !peek(1).is("(")) {
          ExprId index = primary();
          if (index == kNoExpr) return kNoExpr;
          return add_call("mul", token.span, {token.span.begin, previous().span.end},
                          {number, index});
        }
        return number;
      }
      case TokenKind::floating:
        if (in_form_) {
          error(token.span,
                fmt::format("index forms are made of integers; '{}' is not one", token.text));
          return kNoExpr;
        }
        expr.kind = ExprKind::floating;
        expr.floating = token.floating;
        next();
        return add(std::move(expr));
      case TokenKind::name:
      case TokenKind::index: return named(token, std::move(expr));
      default: break;
    }
    if (token.is("(")) {
      next();
      ExprId inner = ternary();
      if (inner == kNoExpr) return kNoExpr;
      if (!expect(")", "to close the parenthesis")) return kNoExpr;
      return inner;
    }
    error_here(in_form_ ? "expected an index, a dimension or an integer"
                        : "expected an expression");
    return kNoExpr;
  }

  ExprId named(const Token& token, Expr expr) {
    expr.text = std::string(token.text);
    if (peek(1).is("(")) return call(token);
    if (!in_form_ && token.kind == TokenKind::index) {
      error(token.span,
            fmt::format("'{}' stands for an index, and indices occur only inside a contraction; "
                        "tensors and dimensions begin with a capital letter",
                        token.text));
      return kNoExpr;
    }
    if (!in_form_ && peek(1).is("[")) {
      error(token.span,
            fmt::format("elementwise expressions name whole tensors: write '{0}' without "
                        "indices, or take elements in a contraction, 'O[i : N] = =({0}[…])'",
                        token.text));
      return kNoExpr;
    }
    expr.kind = token.kind == TokenKind::name ? ExprKind::name : ExprKind::index;
    next();
    return add(std::move(expr));
  }

  ExprId call(const Token& name) {
    if (in_form_) {
      error(name.span, fmt::format("'{}(…)': an index form has no function calls", name.text));
      return kNoExpr;
    }
    next();
    next();
    std::vector<ExprId> args;
    bool ok = true;
    if (!peek().is(")")) {
      do {
        ExprId arg = ternary();
        ok = arg != kNoExpr;
        if (ok) args.push_back(arg);
      } while (ok && accept(","));
    }
    if (!ok || !expect(")", fmt::format("after the arguments of '{}'", name.text))) return kNoExpr;
    return add_call(name.text, name.span, {name.span.begin, previous().span.end}, std::move(args));
  }

  Diagnostics& diagnostics_;
  TokenList list_;
  size_t at_ = 0;
  size_t comment_ = 0;
  size_t last_error_ = 0;
  bool missing_semicolon_ = false;
  bool in_form_ = false;
  // Of what is parsed; an expression itself is within nothing.
  static constexpr int kOutside = -1;
  int nesting_ = kOutside;
  Function* f_ = nullptr;
  std::vector<int> depths_;  // of f_->exprs
};

}  // namespace

Result<Program> parse(SourceText source) {
  Diagnostics diagnostics(source);
  if (!check_is_text(source, diagnostics)) return diagnostics.status();
  Program program = Parser(source, diagnostics).run();
  if (diagnostics.has_errors()) return diagnostics.status();
  program.source = std::move(source);
  return program;
}

}  // namespace stria::tile
