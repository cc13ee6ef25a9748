// SPDX-License-Identifier: Apache-2.0
#include "inputs/called_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "stria/base/shown_text.h"
#include "stria/onnx/translate/operator.h"

namespace stria::command {
namespace {

// "" is the standard's.
std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// The model's own function that a node calls; null if it calls none.
const onnx::Function* function_of(const onnx::Model& model, const onnx::Node& node) {
  for (const onnx::Function& function : model.functions)
    if (function.name == node.op_type && function.overload == node.overload &&
        domain_of(function.domain) == domain_of(node.domain))
      return &function;
  return nullptr;
}

}  // namespace

std::string qualified(const onnx::Node& node) {
  const std::string domain = domain_of(node.domain);
  return domain.empty() ? node.op_type : domain + "." + node.op_type;
}

bool is_known(const onnx::Model& model, const onnx::Node& node) {
  return function_of(model, node) != nullptr ||
         onnx::find_operator(domain_of(node.domain), node.op_type) != nullptr;
}

void visit_nodes(const onnx::Node& node, const VisitNode& each) {
  each(node);
  const auto visit_graph = [&](const onnx::Graph& graph) {
    for (const onnx::Node& inner : graph.nodes) visit_nodes(inner, each);
  };
  for (const onnx::Attribute& attribute : node.attributes) {
    if (attribute.g) visit_graph(*attribute.g);
    for (const auto& graph : attribute.graphs) visit_graph(*graph);
  }
}

void visit_called_nodes(const onnx::Model& model, const VisitNode& each) {
  std::vector<const onnx::Function*> called;
  const auto look_at = [&](const onnx::Node& node) {
    each(node);
    const onnx::Function* function = function_of(model, node);
    if (function != nullptr && std::find(called.begin(), called.end(), function) == called.end())
      called.push_back(function);
  };
  for (const onnx::Node& node : model.graph.nodes) visit_nodes(node, look_at);
  for (size_t n = 0; n < called.size(); ++n)
    for (const onnx::Node& node : called[n]->nodes) visit_nodes(node, look_at);
}

std::vector<std::string> unknown_operators(const onnx::Model& model) {
  std::map<std::string, std::vector<std::string>> unknown;
  visit_called_nodes(model, [&](const onnx::Node& node) {
    if (!is_known(model, node))
      unknown[qualified(node)].push_back(
          "'" +
          shown_name(node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name) +
          "'");
  });
  constexpr size_t kShown = 3;
  std::vector<std::string> out;
  for (auto& [name, nodes] : unknown) {
    const size_t more = nodes.size() > kShown ? nodes.size() - kShown : 0;
    nodes.resize(nodes.size() - more);
    out.push_back(fmt::format("{}: {}{}", shown_name(name), fmt::join(nodes, ", "),
                              more > 0 ? fmt::format(" and {} more", more) : ""));
  }
  return out;
}

}  // namespace stria::command
