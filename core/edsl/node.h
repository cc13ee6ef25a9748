// SPDX-License-Identifier: Apache-2.0
// What the handles stand for: a graph whose nodes point to what they are made of. A node does not
// change once it is made, but for three things: an output gets its contraction, a tensor gets
// attributes, and either may get a failure. Graphs have no cycles (define() sees to that), so
// shared pointers own them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/base/status.h"
#include "stria/edsl/function.h"
#include "stria/tile/syntax/ast.h"

namespace stria::edsl {

struct Node {
  enum class Kind : uint8_t {
    failed,    // nothing but a failure
    integer,   // not negative
    floating,  // not negative
    dim,
    index,
    input,   // args: the sizes, if has_dims
    call,    // of `function`
    result,  // number `position` of the call that is the one argument
    named,   // the one argument under a name
    output,  // of a contraction; args: the sizes
  };
  struct Operand {
    NodePtr tensor;
    std::vector<NodePtr> forms;
  };
  // What `output` holds once it has its value; out.tensor is not set.
  struct Contraction {
    Operand out;
    std::vector<Operand> operands;
    tile::Aggregation aggregation = tile::Aggregation::sum;
    tile::Combination combination = tile::Combination::none;
    std::vector<std::pair<NodePtr, NodePtr>> constraints;  // form and bound
    bool no_defract = false;
    NodePtr default_tensor;  // may be null
  };

  explicit Node(Kind kind);
  Node(Kind kind, std::vector<NodePtr> args);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();  // of long chains too: does not recurse

  // The number is made of dimensions and integers alone.
  bool is_constant() const { return !has_tensor && !has_index; }
  void fail(Status status) {
    if (failure.ok()) failure = std::move(status);
  }
  template <typename Function>
  void for_each_child(Function&& f) const {
    for (const NodePtr& arg : args) f(arg);
    if (contraction == nullptr) return;
    for (const NodePtr& form : contraction->out.forms) f(form);
    for (const Operand& operand : contraction->operands) {
      f(operand.tensor);
      for (const NodePtr& form : operand.forms) f(form);
    }
    for (const auto& [form, bound] : contraction->constraints) {
      f(form);
      f(bound);
    }
    if (contraction->default_tensor != nullptr) f(contraction->default_tensor);
  }

  const Kind kind;
  // Grows with time: when the node was made, or an output got its value.
  uint64_t order;
  bool has_tensor = false;  // it, or a number it is made of, is no integer or dimension
  bool has_index = false;   // it is a form with an index
  bool has_dims = false;    // of an input: its sizes are given
  // Something may be made of it. Read and set by threads that share it.
  std::atomic<bool> used = false;
  int64_t integer = 0;
  double floating = 0;
  size_t position = 0;
  std::string name;                             // the user's; empty: none
  std::string function;                         // of a call
  std::shared_ptr<const FunctionState> callee;  // of a call, unless it is built in
  std::vector<NodePtr> args;
  std::unique_ptr<Contraction> contraction;
  std::vector<tile::Attribute> attributes;
  Status failure;
};

// "'A'", or "an input without a name" and the like.
std::string describe(const Node& node);

NodePtr failed_node(Status status);
// `node`, or for null one that says that a Tensor without a value was used.
NodePtr or_failed(const NodePtr& node);
// Also for negative ones, which Tile writes as a sign and a number.
NodePtr integer_node(int64_t value);
NodePtr call_node(std::string_view function, std::vector<NodePtr> args);

// A function that was made, or why it could not be.
struct FunctionState {
  Status status;
  uint64_t order = 0;  // larger than that of every function it calls
  tile::Function function;
  std::vector<std::shared_ptr<const FunctionState>> callees;
};

// What a handle stands for that was moved from: its status says so.
const std::shared_ptr<const FunctionState>& no_function();

// The next number of Node::order.
uint64_t next_order();

// The inside of the handles.
struct Inside {
  template <typename Handle>
  static const NodePtr& node(const Handle& handle) {
    return handle.node_;
  }
  template <typename Handle, typename... Parts>
  static Handle of(Parts&&... parts) {
    return Handle(std::forward<Parts>(parts)...);
  }
  static Node::Contraction* contraction(const Access& output);
  static const NodePtr& tensor(const Access& access) { return access.tensor_; }
  static std::vector<NodePtr> forms(const Access& access);
  using Kind = Term::Kind;
  static tile::Combination combination(const Term& term);
  static std::vector<Access> operands(const Equality& equality) {
    return {equality.a_, equality.b_};
  }
  static const std::vector<Access>& operands(const Term& term) { return term.operands_; }
  static const std::shared_ptr<const FunctionState>& state(const Function& function) {
    return function.state_ != nullptr ? function.state_ : no_function();
  }
};

// Nodes of handles; a Tensor without one becomes a failed node.
template <typename Handle>
std::vector<NodePtr> nodes_of(const std::vector<Handle>& handles) {
  std::vector<NodePtr> out;
  out.reserve(handles.size());
  for (const Handle& handle : handles) out.push_back(or_failed(Inside::node(handle)));
  return out;
}

}  // namespace stria::edsl
