// SPDX-License-Identifier: Apache-2.0
#include "stria/edsl/tensor.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "stria/edsl/names.h"
#include "stria/edsl/node.h"

namespace stria::edsl {
namespace {

NodePtr named_node(Node::Kind kind, std::string name, std::vector<NodePtr> args) {
  auto node = std::make_shared<Node>(kind, std::move(args));
  node->name = std::move(name);
  return node;
}

}  // namespace

Tensor::Tensor(NodePtr node) : node_(std::move(node)) {}
Tensor::Tensor(const Dim& dim) : node_(Inside::node(dim)) {}
Tensor::Tensor(std::string name, const std::vector<Dim>& sizes)
    : node_(named_node(Node::Kind::output, std::move(name), nodes_of(sizes))) {}

Tensor Tensor::of_number(double value) {
  if (!std::isfinite(value))
    return Tensor(failed_node(invalid_argument(
        "{} is no number that Tile can write; compute it, for example as 1.0 / X of an input X",
        value)));
  auto node = std::make_shared<Node>(Node::Kind::floating);
  node->floating = std::fabs(value);
  return Tensor(std::signbit(value) ? call_node("neg", {std::move(node)}) : std::move(node));
}

Access Tensor::at(std::vector<Form> forms) const { return Access(node_, std::move(forms)); }

Tensor Tensor::attribute(std::string name, std::vector<std::string> arguments) const {
  if (node_ == nullptr) return *this;
  if (node_->kind == Node::Kind::input || node_->kind == Node::Kind::dim)
    node_->fail(invalid_argument(
        "{} has the attribute '{}', but no statement makes it: attributes belong to tensors that "
        "are computed",
        describe(*node_), name));
  tile::Attribute attribute{{name, {}}, {}};
  bool ok = is_word(name);
  for (std::string& argument : arguments) {
    ok = ok && (is_word(argument) || is_number(argument));
    attribute.arguments.push_back({std::move(argument), {}});
  }
  if (!ok)
    node_->fail(
        invalid_argument("attribute '{}' of {}: it and its arguments are letters, digits and '_', "
                         "a letter first, or "
                         "numbers",
                         name, describe(*node_)));
  node_->attributes.push_back(std::move(attribute));
  return *this;
}

Status Tensor::status() const {
  // Of all failures the one that came first; nodes are seen once.
  std::vector<const Node*> pending;
  std::unordered_set<const Node*> seen;
  const NodePtr start = or_failed(node_);
  const auto visit = [&](const NodePtr& node) {
    if (seen.insert(node.get()).second) pending.push_back(node.get());
  };
  visit(start);
  const Node* first = nullptr;
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!node->failure.ok() && (first == nullptr || node->order < first->order)) first = node;
    node->for_each_child(visit);
  }
  return first == nullptr ? Status() : first->failure;
}

Tensor input(std::string name) {
  return Inside::of<Tensor>(named_node(Node::Kind::input, std::move(name), {}));
}

Tensor input(std::string name, const std::vector<Dim>& sizes) {
  NodePtr node = named_node(Node::Kind::input, std::move(name), nodes_of(sizes));
  node->has_dims = true;
  for (const NodePtr& size : node->args)
    if (size->kind != Node::Kind::dim && size->failure.ok())
      node->fail(invalid_argument(
          "a size of input {} is {}, but sizes of inputs are dimensions: make one, Dim N, and "
          "compute with it where it is used",
          describe(*node), describe(*size)));
  return Inside::of<Tensor>(std::move(node));
}

Tensor named(std::string name, const Tensor& value) {
  return Inside::of<Tensor>(
      named_node(Node::Kind::named, std::move(name), nodes_of<Tensor>({value})));
}

Tensor call(std::string_view function, const std::vector<Tensor>& arguments) {
  return Inside::of<Tensor>(call_node(function, nodes_of(arguments)));
}

Dim Dim::of_tensors(std::string_view function, const std::vector<Tensor>& arguments) {
  return Dim(call_node(function, nodes_of(arguments)));
}

}  // namespace stria::edsl
