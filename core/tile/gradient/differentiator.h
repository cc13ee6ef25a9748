// SPDX-License-Identifier: Apache-2.0
// The state of one differentiation, shared by its parts: the whole and its results (gradient.cc),
// expressions and functions (gradient_expression.cc), contractions (gradient_contraction.cc).
//
// The statements of the function, calls inlined, are walked backwards. `adjoint` of a name is the
// derivative by it: the sum of what the statements behind it contributed.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "stria/tile/gradient/flat_function.h"
#include "stria/tile/gradient/gradient.h"

namespace stria::tile {

class Differentiator {
 public:
  Differentiator(const Program& program, const GradientOptions& options, std::string name)
      : program_(program),
        options_(options),
        name_(std::move(name)),
        diagnostics_(program.source),
        flat_(program, diagnostics_, name_) {}

  Result<Program> run(const Function& entry, std::vector<Diagnostic>* notes);

 private:
  // ---- gradient.cc ----
  Status check_names(const Function& entry);
  void find_active();
  bool statement_is_active(const Statement& statement);
  // Gives a differentiated result its derivative: a parameter, or 1.
  void start(const Function& entry, const std::string& result);
  void finish(const Function& entry, std::vector<Diagnostic>* notes);
  void remove_unneeded();
  void push_statement(size_t index);
  void push_custom(const Statement& statement, const Attribute& attribute);

  // The derivative by `name` as a name, "" if nothing contributed.
  std::string adjoint(const std::string& name);
  void contribute(const std::string& name, ExprId value);
  // By a statement made for it alone.
  void contribute_made(const std::string& name, const std::string& value);
  static std::string derivative_name(const std::string& of) { return "D" + of; }
  ExprId sum_of(const std::vector<ExprId>& terms);
  std::string constant_name(int64_t value);

  // ---- gradient_expression.cc ----
  bool is_active(ExprId id);
  void push_assignment(const std::string& target, ExprId value, const std::string& d);
  void push_alone(const std::string& target, const Expr& call, const std::string& d);
  void push(ExprId node, ExprId d);
  bool report_none(const Expr& call, const char* why);
  // The operand of a function, or its result, for use in a derivative.
  ExprId value(ExprId node);
  // The expression, or the name of a statement if it is longer than `most` nodes.
  ExprId keep(ExprId id, size_t most, const std::string& base);
  ExprId substitute(const Function& record, ExprId id,
                    const std::vector<std::pair<char, ExprId>>& names);
  ExprId make(const std::string& function, std::vector<ExprId> args);
  // The derivative by the tensor `to`, which was broadcast to `from` before it met others.
  void reduce(ExprId d, const FlatShape& from, const std::string& to);
  bool sum_over(ExprId d, const FlatShape& from, const std::string& to);

  // ---- gradient_contraction.cc ----
  void push_contraction(const Contraction& c, const std::string& d);
  void push_linear(const Contraction& c, const std::string& d);
  void push_extremum(const Contraction& c, const std::string& d);
  void push_product(const Contraction& c, const std::string& d);
  void push_combined(const Contraction& c, const std::string& d);
  void push_default(const Contraction& c, const std::string& d);
  // A contraction over the index sets of `c`, without operands and default.
  Contraction over(const Contraction& c) const;
  // Adds it under a free name; gives the name.
  std::string add(Contraction c, std::string name, FlatFunction::Origin origin = {});
  // Limits the indices of `c` as the access does, by constraints; false if these cannot say it.
  bool limit(Contraction& c, const Access& access);
  bool is_limited(const Contraction& c, ExprId form, ExprId bound);
  // An operand that does so: a tensor of ones, for a product.
  Access ones(const Access& like);
  std::vector<ExprId> sizes_of(const Access& access);

  const Program& program_;
  const GradientOptions& options_;
  std::string name_;
  Diagnostics diagnostics_;
  FlatFunction flat_;
  std::vector<std::string> wrt_;
  std::unordered_set<std::string> active_;
  std::unordered_map<ExprId, bool> active_exprs_;
  std::unordered_map<std::string, std::vector<ExprId>> contributions_;
  std::unordered_map<std::string, std::string> adjoints_;
  std::unordered_map<std::string, size_t> made_;  // name made for one contribution -> its statement
  std::unordered_map<int64_t, std::string> constants_;
  SourceSpan span_;  // of the statement being differentiated

  // Of the assignment being differentiated.
  std::string target_;
  std::vector<std::pair<std::string, ExprId>> leaves_;
  std::unordered_map<ExprId, ExprId> kept_;
};

}  // namespace stria::tile
