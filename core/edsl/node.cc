// SPDX-License-Identifier: Apache-2.0
#include "stria/edsl/node.h"

#include <limits>

namespace stria::edsl {
namespace {

// Moves the children behind `out`.
void take_children(Node& node, std::vector<NodePtr>& out) {
  node.for_each_child([&](const NodePtr& child) { out.push_back(child); });
  node.args.clear();
  node.contraction.reset();
}

bool is_leaf(Node::Kind kind) {
  return kind == Node::Kind::integer || kind == Node::Kind::dim || kind == Node::Kind::index;
}

}  // namespace

Node::Node(Kind made) : kind(made), order(next_order()) {
  has_index = kind == Kind::index;
  has_tensor = !is_leaf(kind) && kind != Kind::call && kind != Kind::named;
}

Node::Node(Kind made, std::vector<NodePtr> arguments) : Node(made) {
  args = std::move(arguments);
  for (const NodePtr& arg : args) {
    arg->used.store(true, std::memory_order_relaxed);
    has_tensor = has_tensor || arg->has_tensor;
    has_index = has_index || arg->has_index;
  }
}

Node::~Node() {
  std::vector<NodePtr> pending;
  take_children(*this, pending);
  while (!pending.empty()) {
    const NodePtr node = std::move(pending.back());
    pending.pop_back();
    if (node.use_count() == 1) take_children(*node, pending);
  }
}

std::string describe(const Node& node) {
  if (!node.name.empty()) return fmt::format("'{}'", node.name);
  switch (node.kind) {
    case Node::Kind::failed: return "a tensor that fails";
    case Node::Kind::integer: return fmt::format("the number {}", node.integer);
    case Node::Kind::floating: return fmt::format("the number {}", node.floating);
    case Node::Kind::dim: return "a dimension without a name";
    case Node::Kind::index: return "an index without a name";
    case Node::Kind::input: return "an input without a name";
    case Node::Kind::call: return fmt::format("the result of '{}'", node.function);
    case Node::Kind::result: return fmt::format("a result of '{}'", node.args[0]->function);
    case Node::Kind::named: return "an expression";
    case Node::Kind::output: return "an output without a name";
  }
  return "";
}

NodePtr failed_node(Status status) {
  auto node = std::make_shared<Node>(Node::Kind::failed);
  node->failure = std::move(status);
  return node;
}

NodePtr or_failed(const NodePtr& node) {
  if (node != nullptr) return node;
  return failed_node(invalid_argument(
      "a Tensor, Dim or Index without a value is used: make a tensor by input(…), as output of a "
      "contraction, or by an expression, and use nothing that was moved from"));
}

NodePtr integer_node(int64_t value) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  // Has no positive counterpart.
  if (value == kLowest) return call_node("sub", {integer_node(value + 1), integer_node(1)});
  auto node = std::make_shared<Node>(Node::Kind::integer);
  node->integer = value < 0 ? -value : value;
  return value < 0 ? call_node("neg", {std::move(node)}) : node;
}

NodePtr call_node(std::string_view function, std::vector<NodePtr> args) {
  auto node = std::make_shared<Node>(Node::Kind::call, std::move(args));
  node->function = std::string(function);
  return node;
}

uint64_t next_order() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace stria::edsl
