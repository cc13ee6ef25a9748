// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/model/model_check.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <tuple>

#include "stria/base/shown_text.h"

namespace stria::onnx {
namespace {

// `name` is of what is `what` in `where`.
Status once(std::set<std::string>& seen, const std::string& name, std::string_view where,
            std::string_view what) {
  if (name.empty() || seen.insert(name).second) return Status();
  return invalid_argument("{}: {} '{}' is there twice", where, what, shown_name(name));
}

Status check_graph(const Graph& graph);

Status check_nodes(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    std::set<std::string> seen;
    for (const Attribute& attribute : node.attributes) {
      STRIA_RETURN_IF_ERROR(once(seen, attribute.name, text_of(node), "the attribute"));
      if (attribute.g) STRIA_RETURN_IF_ERROR(check_graph(*attribute.g));
      for (const auto& graph : attribute.graphs) STRIA_RETURN_IF_ERROR(check_graph(*graph));
    }
  }
  return {};
}

Status check_graph(const Graph& graph) {
  const std::string where = fmt::format("graph '{}'", shown_name(graph.name));
  std::set<std::string> inputs, initializers;
  for (const ValueInfo& info : graph.inputs)
    STRIA_RETURN_IF_ERROR(once(inputs, info.name, where, "the input"));
  for (const auto& data : graph.initializers)
    STRIA_RETURN_IF_ERROR(once(initializers, data->name, where, "the initializer"));
  for (const auto& data : graph.sparse_initializers)
    STRIA_RETURN_IF_ERROR(once(initializers, data->values.name, where, "the initializer"));
  return check_nodes(graph.nodes);
}

}  // namespace

Status check_names(const Model& model) {
  std::set<std::tuple<std::string, std::string, std::string>> functions;
  for (const Function& function : model.functions) {
    const std::string where = fmt::format("function '{}'", shown_name(function.name));
    if (!functions.emplace(function.domain, function.name, function.overload).second)
      return invalid_argument("{} of the domain '{}' is there twice", where,
                              shown_name(function.domain));
    std::set<std::string> parameters;
    for (const std::string& input : function.inputs)
      STRIA_RETURN_IF_ERROR(once(parameters, input, where, "the input"));
    STRIA_RETURN_IF_ERROR(check_nodes(function.nodes));
  }
  return check_graph(model.graph);
}

}  // namespace stria::onnx
