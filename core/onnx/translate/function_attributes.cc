// SPDX-License-Identifier: Apache-2.0
// What a call of a model's function gives for the attributes that its nodes refer to.
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx {
namespace {

Graph with_attributes(const Graph& graph, const std::map<std::string, Attribute>& given) {
  Graph out = graph;
  out.nodes = with_attributes(graph.nodes, given);
  return out;
}

}  // namespace

std::vector<Node> with_attributes(const std::vector<Node>& nodes,
                                  const std::map<std::string, Attribute>& given) {
  std::vector<Node> out;
  out.reserve(nodes.size());
  for (const Node& node : nodes) {
    Node copy = node;
    copy.attributes.clear();
    for (const Attribute& attribute : node.attributes) {
      if (!attribute.refers_to.empty()) {
        // Without a value, the node's own default holds.
        const auto at = given.find(attribute.refers_to);
        if (at == given.end()) continue;
        Attribute value = at->second;
        value.name = attribute.name;
        value.refers_to.clear();
        copy.attributes.push_back(std::move(value));
        continue;
      }
      Attribute own = attribute;
      if (own.g) own.g = std::make_shared<const Graph>(with_attributes(*own.g, given));
      for (auto& graph : own.graphs)
        graph = std::make_shared<const Graph>(with_attributes(*graph, given));
      copy.attributes.push_back(std::move(own));
    }
    out.push_back(std::move(copy));
  }
  return out;
}

}  // namespace stria::onnx
