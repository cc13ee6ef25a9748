// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/syntax/print.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/tile/syntax/operators.h"

namespace stria::tile {
namespace {

constexpr size_t kMaxColumns = 100;
constexpr std::string_view kIndent = "      ";  // of a statement's further lines
// Written for a blank at which a line may be broken; no name has it.
constexpr char kSoftBlank = '\x01';

class Printer {
 public:
  explicit Printer(const Function& function) : f_(function) {}

  void function() {
    comments(f_.comments, "");
    out_ += "function ";
    out_ += f_.name.text;
    out_ += '(';
    for (size_t i = 0; i < f_.parameters.size(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += f_.parameters[i].name.text;
      if (!f_.parameters[i].has_dims) continue;
      out_ += '[';
      names(f_.parameters[i].dims);
      out_ += ']';
    }
    out_ += ") -> (";
    names(f_.results);
    out_ += ") {\n";
    for (const Statement& s : f_.statements) {
      if (s.blank_before) out_ += '\n';
      comments(s.comments, "  ");
      out_ += "  ";
      for (const Attribute& a : s.attributes) {
        out_ += "[[";
        out_ += a.name.text;
        if (!a.arguments.empty()) {
          out_ += '(';
          names(a.arguments);
          out_ += ')';
        }
        out_ += "]] ";
      }
      const size_t begin = out_.rfind('\n') + 1;
      statement(s);
      out_ += ';';
      break_line(begin);
      if (!s.end_comment.empty()) out_ += "  # " + s.end_comment;
      out_ += '\n';
    }
    comments(f_.end_comments, "  ");
    out_ += "}\n";
  }

  void comments(const std::vector<std::string>& lines, std::string_view indent) {
    for (const std::string& line : lines) {
      if (line != kEmptyLine) (out_ += indent) += line.empty() ? "#" : "# " + line;
      out_ += '\n';
    }
  }

  void statement(const Statement& s) {
    if (const auto* c = std::get_if<Contraction>(&s.form)) return contraction(*c);
    const auto& a = std::get<Assignment>(s.form);
    if (a.tuple) out_ += '(';
    names(a.targets);
    if (a.tuple) out_ += ')';
    out_ += " =";
    out_ += kSoftBlank;
    expr(a.value, 0);
  }

  void contraction(const Contraction& c) {
    out_ += c.out.tensor.text;
    out_ += '[';
    unbroken([&] {
      exprs(c.out.indices);
      if (!c.sizes.empty()) {
        out_ += " : ";
        exprs(c.sizes);
      }
    });
    out_ += "] =";
    out_ += kSoftBlank;
    out_ += sign_of(c.aggregation);
    out_ += '(';
    for (size_t i = 0; i < c.operands.size(); ++i) {
      if (i > 0) out_ += kSoftBlank;
      if (i == 1) out_.append(sign_of(c.combination)) += ' ';
      if (i == 2) out_ += "? ";
      out_ += c.operands[i].tensor.text;
      out_ += '[';
      unbroken([&] { exprs(c.operands[i].indices); });
      out_ += ']';
    }
    out_ += ')';
    for (const Constraint& constraint : c.constraints) {
      out_ += ',';
      out_ += kSoftBlank;
      unbroken([&] {
        expr(constraint.form, 1);
        out_ += " < ";
        expr(constraint.bound, 0);
      });
    }
    if (c.no_defract) (out_ += kSoftBlank) += "no_defract";
    if (!c.default_tensor.text.empty()) (out_ += kSoftBlank) += "default " + c.default_tensor.text;
  }

  // Puts parentheses round what binds less tightly than `level`.
  void expr(ExprId id, int level) {
    const Expr& e = f_.exprs[static_cast<size_t>(id)];
    switch (e.kind) {
      case ExprKind::integer: out_ += std::to_string(e.integer); return;
      case ExprKind::floating: out_ += float_text(e.floating); return;
      case ExprKind::name:
      case ExprKind::index: out_ += e.text; return;
      case ExprKind::call: break;
    }
    int own = kPrimaryLevel;
    const BinaryOperator* binary = e.args.size() == 2 ? binary_by_function(e.text) : nullptr;
    const UnaryOperator* unary = e.args.size() == 1 ? unary_by_function(e.text) : nullptr;
    bool ternary = e.args.size() == 3 && e.text == kTernaryFunction;
    if (binary != nullptr) own = binary->level;
    if (unary != nullptr) own = kUnaryLevel;
    if (ternary) own = kTernaryLevel;
    if (own < level) out_ += '(';
    if (binary != nullptr) {
      expr(e.args[0], binary->chains ? own : own + 1);
      ((out_ += blank_) += binary->sign) += ' ';
      expr(e.args[1], own + 1);
    } else if (unary != nullptr) {
      out_ += unary->sign;
      expr(e.args[0], own);
    } else if (ternary) {
      expr(e.args[0], own + 1);
      (out_ += blank_) += "? ";
      expr(e.args[1], own);
      (out_ += blank_) += ": ";
      expr(e.args[2], own);
    } else {
      out_ += e.text;
      out_ += '(';
      exprs(e.args);
      out_ += ')';
    }
    if (own < level) out_ += ')';
  }

  std::string take() { return std::move(out_); }
  // For what holds no comments.
  std::string take_line() {
    std::replace(out_.begin(), out_.end(), kSoftBlank, ' ');
    return std::move(out_);
  }

 private:
  // Makes the soft blanks from `begin` blanks, or breaks the line there where it gets too long.
  void break_line(size_t begin) {
    std::string line = out_.substr(begin);
    out_.resize(begin);
    size_t column = 0;
    for (size_t at = 0; at < line.size();) {
      const size_t end = std::min(line.find(kSoftBlank, at), line.size());
      if (at > 0 && column + 1 + end - at > kMaxColumns) {
        (out_ += '\n') += kIndent;
        column = kIndent.size();
      } else if (at > 0) {
        out_ += ' ';
        ++column;
      }
      out_.append(line, at, end - at);
      column += end - at;
      at = end + 1;
    }
  }

  // Forms and sizes are not broken.
  template <typename Function>
  void unbroken(Function&& print) {
    blank_ = ' ';
    print();
    blank_ = kSoftBlank;
  }

  void exprs(const std::vector<ExprId>& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (i > 0) (out_ += ',') += blank_;
      expr(list[i], 0);
    }
  }
  void names(const std::vector<Name>& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += list[i].text;
    }
  }

  const Function& f_;
  std::string out_;
  char blank_ = kSoftBlank;  // between the parts of an expression
};

}  // namespace

std::string print(const Function& function) {
  Printer printer(function);
  printer.function();
  return printer.take();
}

std::string print(const Program& program) {
  std::string out;
  for (const Function& function : program.functions) {
    if (!out.empty()) out += '\n';
    out += print(function);
  }
  for (const std::string& line : program.end_comments)
    out += line == kEmptyLine ? "\n" : line.empty() ? "#\n" : "# " + line + "\n";
  return out;
}

std::string print(const Function& function, const Statement& statement) {
  Printer printer(function);
  printer.statement(statement);
  return printer.take_line();
}

std::string print_expr(const Function& function, ExprId id) {
  Printer printer(function);
  printer.expr(id, 0);
  return printer.take_line();
}

}  // namespace stria::tile
