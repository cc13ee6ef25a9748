// SPDX-License-Identifier: Apache-2.0
// A function under construction in which the calls of other functions are inlined, with what is
// known of its names before any size is known: the base of the gradient.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/tile/inline/inline_calls.h"
#include "stria/tile/syntax/ast.h"

namespace stria::tile {

// The sizes of a tensor, as far as they are known before the program is bound.
struct FlatShape {
  bool known = false;
  std::vector<ExprId> sizes;  // known: expressions of dimensions and integers
  int like = 0;               // not known: tensors of the same number have the same sizes
};

// What a name of the function stands for.
struct FlatName {
  enum class Kind : uint8_t { constant, tensor, step };
  Kind kind = Kind::tensor;
  FlatShape shape;     // of a step: of its values
  uint64_t value = 0;  // of a constant: what value_of says
};

// Numbers behind names begin with 1.
class FlatFunction : private CallInliner<ExprId> {
 public:
  // `prefix` begins the names of the functions that the result needs. Both are borrowed.
  FlatFunction(const Program& program, Diagnostics& diagnostics, std::string prefix);

  // The parameters and statements of `entry`. False if there was an error (reported).
  bool add_entry(const Function& entry);

  Function& function() { return out_; }
  const Function& function() const { return out_; }
  const Expr& expr(ExprId id) const { return out_.exprs[static_cast<size_t>(id)]; }
  // The functions that the statements call, copied and renamed.
  std::vector<Function> helpers() const;

  // ---- names ----
  bool has(const std::string& name) const { return names_.count(name) > 0; }
  const FlatName& at(const std::string& name) const { return names_.at(name); }
  bool is_tensor(const std::string& name) const {
    return has(name) && at(name).kind == FlatName::Kind::tensor;
  }
  using CallInliner::fresh_name;
  using CallInliner::numbered_name;
  // Gives what `from` names the name `to`, which is free. Only statement `index` has `from` yet.
  void rename(size_t index, const std::string& from, const std::string& to);
  // The same wherever it is used.
  void rename_all(const std::string& from, const std::string& to);

  // ---- expressions ----
  ExprId name(const std::string& text, SourceSpan span = {});
  ExprId integer(int64_t value);
  ExprId floating(double value);
  ExprId index(const std::string& text);
  ExprId call(std::string_view function, std::vector<ExprId> args, SourceSpan span = {});
  // An integer literal.
  bool is_integer(ExprId id, int64_t value) const;
  bool is_constant(ExprId id) const;
  // Nodes of the expression, counted up to `most`.
  size_t nodes(ExprId id, size_t most) const;
  // A hash that is equal for expressions of dimensions and integers that are equal whatever the
  // dimensions are: polynomials are compared at one point of a large field. For other expressions
  // it differs, but by a chance of 2^-60.
  uint64_t value_of(ExprId id) const;

  // ---- shapes ----
  FlatShape shape_of(ExprId id);
  FlatShape shape_of(const std::string& name);
  bool same(const FlatShape& a, const FlatShape& b) const;
  bool same_size(ExprId a, ExprId b) const { return value_of(a) == value_of(b); }
  // The sizes of a tensor whose rank is known from its use, also where no expression names them.
  std::vector<ExprId> sizes_of(const std::string& name, size_t rank);

  // ---- statements ----
  struct Origin {  // of a statement: what goes with it
    std::vector<Attribute> attributes;
    std::vector<std::string> comments;
    std::string end_comment;
    SourceSpan span;
  };
  void add_assignment(const std::string& target, ExprId value, Origin origin = {});
  void add_parameter(const std::string& name, const FlatShape& shape);
  // A statement that fails where the dimension is not the size.
  void add_check(const std::string& dim, ExprId size);
  bool is_check(const Statement& statement) const;
  // The output's name must be fresh.
  void add_contraction(Contraction contraction, Origin origin = {});
  // (targets) = function(args) of a function of the program, which is copied.
  void add_call(const std::vector<std::string>& targets, const std::string& function,
                std::vector<ExprId> args, Origin origin = {});
  // The value as a name: itself, or that of a new statement.
  std::string as_name(ExprId value, const std::string& wanted);

  // What a call is inlined as: a function of the program, or one of the library without a
  // derivative of its own; else null.
  const Function* callee_of(std::string_view name) const;
  // Whether a call of it makes a statement of its own, with names as its tensors.
  bool stands_alone(const std::string& function) const;
  bool stop() const;
  bool error(SourceSpan span, std::string message);

 private:
  using Scope = InlineScope<ExprId>;  // names stand for names, integers and floats

  void append(std::variant<Contraction, Assignment> form, Origin origin);
  void add_statements(Scope& scope);
  void add_assigned(Scope& scope, const Statement& statement, const Assignment& assignment);
  void add_contracted(Scope& scope, const Statement& statement, const Contraction& contraction);
  ExprId translate(Scope& scope, ExprId id, const std::string& target);
  ExprId translate_call(Scope& scope, const Expr& e, const std::string& target);
  Access translate(Scope& scope, const Access& access, const std::string& target);
  // The results of the call as names, none if it is refused (reported).
  std::vector<ExprId> add_inlined(const Scope& caller, const Function& callee,
                                  const std::vector<ExprId>& args,
                                  const std::vector<std::string>& results, SourceSpan span,
                                  std::vector<Attribute> attributes);
  bool bind_argument(Scope& callee, const Parameter& parameter, ExprId argument,
                     SourceSpan where) override;
  std::vector<ExprId> walk_callee(Scope& callee) override;
  // A name, an integer or a float with the value.
  ExprId simple(ExprId value, const std::string& wanted);
  Origin origin_of(const Scope& scope, const Statement& statement) const;
  // Whether it makes a result of the function that is inlined.
  static bool makes_result(const Scope& scope, const Statement& statement);
  // Of the calling statements, for what the function makes on the way: only its result is the
  // derivative that they say.
  static std::vector<Attribute> inner_attributes(const Scope& scope);
  ExprId push(Expr e);
  void define(const std::string& name, FlatName what);
  FlatShape unknown_shape();
  FlatShape resolve(FlatShape shape) const;
  FlatShape join(const FlatShape& a, const FlatShape& b);
  FlatShape shape_of_call(const Expr& e);
  void name_dims(Parameter& parameter, size_t rank);
  // A function of the program as the result calls it; others as they are.
  std::string renamed(const std::string& function) const;

  const Program& program_;
  Diagnostics& diagnostics_;
  std::string prefix_;
  Function out_;
  std::unordered_map<std::string, FlatName> names_;
  std::unordered_map<int, std::vector<ExprId>> known_;  // sizes found out for FlatShape::like
  int next_like_ = 1;
  bool over_limit_ = false;
};

}  // namespace stria::tile
