// SPDX-License-Identifier: Apache-2.0
// The state of one bind, shared by its parts: statements and names (bind.cc), calls of functions
// (bind_call.cc), contractions (bind_contraction.cc), elementwise expressions (bind_expression.cc),
// other functions (bind_special.cc), functions of the program that nobody calls (check_names.cc).
#pragma once

#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/scratch.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/special.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/bind/bound.h"
#include "stria/tile/bind/constant.h"
#include "stria/tile/bind/form.h"
#include "stria/tile/bind/index_domain.h"
#include "stria/tile/inline/inline_calls.h"
#include "stria/tile/syntax/ast.h"

namespace stria::tile {

// What a name stands for.
struct Entity {
  enum class Kind : uint8_t {
    failed,  // its statement had an error; uses of it are not reported again
    tensor,
    constant,
    step,  // of random numbers: only prng_value and prng_state take something out of it
  };
  Kind kind = Kind::failed;
  TensorId tensor = 0;  // step: the state after it
  Constant constant;
  SourceSpan span;           // where it was made
  TensorId step_values = 0;  // step: BoundPrng::values
  std::vector<int64_t> step_sizes;
  mutable bool used = false;  // looked up since

  static Entity failed(SourceSpan span) { return {Kind::failed, 0, {}, span, 0, {}}; }
  static Entity of(TensorId tensor) { return {Kind::tensor, tensor, {}, {}, 0, {}}; }
  static Entity of(const Constant& constant) { return {Kind::constant, 0, constant, {}, 0, {}}; }
};

// One function being bound: an entry or an inlined call.
using Scope = InlineScope<Entity>;

inline const Expr& expr_at(const Scope& scope, ExprId id) {
  return scope.function->exprs[static_cast<size_t>(id)];
}

// The nodes of one elementwise statement under construction.
struct NodeList {
  Scratch<1024> scratch;
  std::vector<BoundNode> nodes;
  std::pmr::unordered_map<TensorId, int> loads{scratch.resource()};
};

// How many of something a program may have with its calls inlined, and how to say it.
struct Limit {
  size_t most;
  const char* what;  // with its verb
  const char* unit;
};

// Result of an expression: a constant, or a node with its shape.
struct Value {
  bool constant = false;
  Constant number;
  int node = 0;
  DataType type = DataType::fp32;
  std::optional<DataType> packed;  // of a cast to it, or of such a tensor
  std::vector<int64_t> sizes;
};

// Temporary tensors are numbered from 0.
class Binder : private CallInliner<Entity> {
 public:
  Binder(const Program& program, const std::map<std::string, TensorType>& inputs)
      : CallInliner(program, 0), program_(program), inputs_(inputs), diagnostics_(program.source) {}

  Result<BoundProgram> run(const Function& entry);
  Status check();  // what check_program says

 private:
  // ---- bind.cc: statements and names ----
  void check_functions();
  void bind_inputs(Scope& scope);
  void bind_statements(Scope& scope);
  void check_attributes(const Statement& statement);
  // Finds out whether the function is a derivative; false (and an error) if it is one by integers.
  // A derivative has the sizes of what it differentiates by.
  bool check_derivatives(const Scope& scope);
  // A derivative has the sizes of what it is a derivative by.
  void check_derivative_sizes(const Scope& scope, const Statement& statement);
  void warn_of_unused(const Scope& scope);
  void bind_outputs(Scope& scope);
  bool bind_assignment(Scope& scope, const Statement& statement, const Assignment& assignment);
  // False (and an error) if the name is taken.
  bool define(Scope& scope, const Name& name, Entity entity);
  // nullptr if the name is unknown (reported) or failed (not reported).
  const Entity* look_up(const Scope& scope, const std::string& name, SourceSpan span,
                        std::string_view what);
  // The name for a temporary tensor: that of the statement's output with a number behind it.
  std::string temporary_name() { return numbered_name(target_); }
  // -1 if the sizes are refused (reported). The elements of a packed type are held in another one.
  TensorId add_tensor(std::string name, DataType type, std::vector<int64_t> sizes, SourceSpan span);
  const BoundTensor& tensor(TensorId id) const { return out_.tensors[static_cast<size_t>(id)]; }
  bool add_statement(const Scope& scope, const Statement* source, BoundStatement statement);

  // Counts towards the limits of a program with its calls inlined, as far as limits on statements
  // and calls alone do not bound its time and memory. False (and an error) from the limit on.
  bool count(size_t& total, size_t more, const Limit& limit, SourceSpan span);
  bool work(size_t terms, SourceSpan span);
  static size_t work_of(std::string_view name) { return 1 + name.size() / 64; }
  bool write(size_t characters, SourceSpan span);
  // In characters, those of a short name included that take as much memory as a long one.
  static size_t size_of(const Attribute& attribute);

  void warn(SourceSpan span, std::string message);
  bool error(SourceSpan span, std::string message);
  bool error(SourceSpan span, const Status& status) { return error(span, status.message()); }
  bool stop() const;

  // ---- bind_call.cc: calls of functions of the program and of the library ----
  // One entity per result, none if it failed. `names`: what the result tensors are to be called.
  std::vector<Entity> bind_call(Scope& scope, const Function& function, const Expr& call,
                                const std::vector<std::string>& names);
  bool bind_argument(Scope& callee, const Parameter& parameter, Entity entity,
                     SourceSpan where) override;
  void bind_parameter(Scope& callee, const Parameter& parameter, Entity entity, SourceSpan where);
  std::vector<Entity> walk_callee(Scope& callee) override;
  // False if the rank does not fit.
  bool bind_dims(Scope& scope, const Parameter& parameter, const std::vector<int64_t>& sizes,
                 SourceSpan where);
  // Each false (and an error) if the numbers do not agree.
  bool check_result_count(const Assignment& assignment, const Expr& value, const Function* callee);
  bool check_argument_count(const Function& function, const Expr& call);
  // Of a call inside an expression.
  bool check_one_result(const Function& function, const Expr& call);

  // ---- check_names.cc ----
  // Reports the mistakes that show without types and sizes: names, functions and their arguments.
  void check_names(const Function& function);
  // Reports the functions that nobody calls and that call themselves, also through others.
  void check_recursion();

  // ---- bind_contraction.cc ----
  bool bind_contraction(Scope& scope, const Statement& statement, const Contraction& contraction);
  bool bind_forms(Scope& scope, const Access& access, size_t rank, std::vector<Form>* forms);
  std::optional<Form> bind_form(Scope& scope, ExprId id);
  std::optional<Form> bind_form_call(Scope& scope, const Expr& expr);
  bool bind_operands(Scope& scope, const Contraction& contraction, BoundContraction& bound,
                     std::vector<std::vector<Form>>* forms);
  bool bind_default(Scope& scope, const Contraction& contraction, BoundContraction& bound);
  // Fills in indices, constraints and empty. `forms` are those of the output, the operands and the
  // constraints.
  struct ContractionForms {
    std::vector<Form> out;
    std::vector<std::vector<Form>> operands;
    std::vector<Form> constraints;
    std::vector<int64_t> bounds;  // of the constraints
  };
  bool bind_constraints(Scope& scope, const Contraction& contraction, ContractionForms& forms);
  bool bind_domain(const Scope& scope, const Contraction& contraction,
                   const std::vector<int64_t>& sizes, const ContractionForms& forms,
                   BoundContraction& bound);
  bool report_index_only_in_constraint(const std::string& name, SourceSpan span,
                                       const std::vector<std::string>& others);
  // `indices`: all of the contraction, and where they stand.
  bool report_unbounded(const Contraction& contraction, const ContractionForms& forms,
                        const std::map<std::string, SourceSpan>& indices,
                        const std::vector<std::string>& unbounded);
  bool report_collision(const Contraction& contraction, const BoundContraction& bound);
  std::string contraction_text(const Scope& scope, const Contraction& contraction,
                               const ContractionForms& forms) const;

  // ---- bind_expression.cc ----
  // Appends the nodes of the expression. Axes of index nodes count from the last dimension (-1)
  // until finish() knows the rank of the result.
  std::optional<Value> evaluate(Scope& scope, ExprId id, NodeList& nodes);
  std::optional<Value> evaluate_call(Scope& scope, const Expr& expr, NodeList& nodes);
  bool check_argument_count(const Builtin& builtin, const Expr& call);
  std::optional<Value> evaluate_builtin(const Scope& scope, const Builtin& builtin,
                                        const Expr& expr, std::vector<Value> args, NodeList& nodes,
                                        int chosen);
  std::optional<Value> evaluate_cast(const Builtin& builtin, const Expr& expr,
                                     std::vector<Value> args, NodeList& nodes);
  // The integer that an expression of literals and dimensions is.
  std::optional<int64_t> constant_integer(Scope& scope, ExprId id, std::string_view what);
  // The value of an expression as a tensor (a temporary one if it is not a bare name) or a
  // constant.
  std::optional<Entity> operand(Scope& scope, ExprId id);
  // The tensor for a value that is the last node; -1 if it failed.
  TensorId finish(Scope& scope, const Statement* statement, NodeList& nodes, const Value& value,
                  const std::string& name, std::string text, SourceSpan span);
  // A tensor with the constant in every element; -1 if the constant does not fit the type
  // (reported).
  TensorId constant_tensor(Scope& scope, const Constant& constant, DataType type,
                           const std::string& name, SourceSpan span,
                           std::vector<int64_t> sizes = {});
  Value load(NodeList& nodes, TensorId tensor);
  bool unknown_function(const Expr& expr);

  // ---- bind_special.cc: functions that are not elementwise ----
  std::optional<Value> evaluate_special(Scope& scope, const Special& special, const Expr& expr,
                                        NodeList& nodes);
  // The call has as many arguments as the record says.
  bool check_arguments(const Special& special, const Expr& expr);
  // The trailing arguments; false if one is not an integer known beforehand.
  bool bind_numbers(Scope& scope, const Special& special, const Expr& expr, SpecialCall& call);
  // The record's rule; nullopt if it refuses the call (reported).
  std::optional<TensorType> special_type(Scope& scope, const Special& special, const Expr& expr,
                                         const SpecialCall& call);
  // The tensors that the leading arguments are; false if one is none.
  bool special_operands(Scope& scope, const Special& special, const Expr& expr,
                        std::vector<TensorId>& operands, SpecialCall& call);
  std::optional<Value> evaluate_rounding(Scope& scope, const Special& special, const Expr& expr,
                                         NodeList& nodes);
  std::optional<Value> evaluate_number(Scope& scope, const Special& special, const Expr& expr);
  std::optional<Value> evaluate_index(const TensorType& type, int64_t axis, NodeList& nodes);
  std::optional<Value> evaluate_shape(const std::vector<int64_t>& sizes, NodeList& nodes);
  // A tensor called `name`, made by a statement of its own; -1 if it failed.
  TensorId bind_special(Scope& scope, const Special& special, const Expr& expr,
                        const std::string& name, const Statement* statement);
  TensorId add_reshape(Scope& scope, TensorId from, std::vector<int64_t> sizes,
                       const std::string& name, const Statement* statement, SourceSpan span,
                       const std::string& text);
  TensorId add_mask(Scope& scope, const BoundGather& gather, const std::string& name,
                    const Statement* statement, SourceSpan span, const std::string& text);
  TensorId add_sum(Scope& scope, TensorId from, TensorType type, const std::string& name,
                   const Statement* statement, SourceSpan span, const std::string& text);
  TensorId add_scatter(Scope& scope, const std::vector<TensorId>& operands, TensorType type,
                       const std::string& name, const Statement* statement, SourceSpan span,
                       const std::string& text);
  bool step_is_no_result(const Name& name);
  // The step of random numbers that the argument of prng_value and prng_state names.
  const Entity* find_step(Scope& scope, const Special& special, const Expr& expr);
  TensorId bind_step_values(Scope& scope, const Entity& step, const std::string& name,
                            const Statement* statement, SourceSpan span, const std::string& text);
  std::optional<Entity> bind_step(Scope& scope, const Special& special, const Expr& expr,
                                  const std::string& name, const Statement& statement);

  const Program& program_;
  const std::map<std::string, TensorType>& inputs_;
  Diagnostics diagnostics_;
  BoundProgram out_;
  size_t terms_ = 0;
  size_t characters_ = 0;
  bool over_limit_ = false;  // reported
  DomainAnswers answers_;
  std::unordered_set<const Function*> bound_functions_;
  std::string target_;          // bound name of the output of the statement being bound
  bool in_derivative_ = false;  // the function, or one that calls it, has a [[derivative(A)]]
  int depth_ = 0;               // of expressions over all calls
};

}  // namespace stria::tile
