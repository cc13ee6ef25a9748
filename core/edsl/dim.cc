// SPDX-License-Identifier: Apache-2.0
#include "stria/edsl/dim.h"

#include <limits>

#include "stria/edsl/form.h"
#include "stria/edsl/node.h"

namespace stria::edsl {
namespace {

NodePtr leaf(Node::Kind kind, std::string name) {
  auto node = std::make_shared<Node>(kind);
  node->name = std::move(name);
  return node;
}

}  // namespace

Dim::Dim() : Dim(std::string()) {}
Dim::Dim(std::string name) : node_(leaf(Node::Kind::dim, std::move(name))) {}
Dim::Dim(NodePtr node) : node_(std::move(node)) {}

Dim Dim::of_number(int64_t value) { return Dim(integer_node(value)); }

Dim Dim::of_number(uint64_t value) {
  constexpr auto kLargest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (value <= kLargest) return of_number(static_cast<int64_t>(value));
  return Dim(failed_node(
      invalid_argument("the number {} is beyond {}, the largest of Tile", value, kLargest)));
}

Dim Dim::call(std::string_view function, const std::vector<Dim>& arguments) {
  return Dim(call_node(function, nodes_of(arguments)));
}

Dim named(std::string name, const Dim& value) {
  auto node = std::make_shared<Node>(Node::Kind::named, nodes_of<Dim>({value}));
  node->name = std::move(name);
  return Inside::of<Dim>(std::move(node));
}

Index::Index() : Index(std::string()) {}
Index::Index(std::string name) : node_(leaf(Node::Kind::index, std::move(name))) {}

Form::Form(NodePtr node) : node_(std::move(node)) {}
Form::Form(const Index& index) : node_(Inside::node(index)) {}
Form::Form(const Dim& dim) : node_(Inside::node(dim)) {}

Form Form::call(std::string_view function, const std::vector<Form>& arguments) {
  return Form(call_node(function, nodes_of(arguments)));
}

}  // namespace stria::edsl
