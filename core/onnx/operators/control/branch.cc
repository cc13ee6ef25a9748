// SPDX-License-Identifier: Apache-2.0
// If: the branch that is taken, or, where only the device will know, a choice between the results
// of both.
#include <fmt/format.h>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx::operators {
namespace {

Result<std::vector<ValuePtr>> branch_results(NodeWriter& node, const char* name) {
  const Attribute* const branch = node.find_attribute(name);
  if (!branch || !branch->g) return node.error(fmt::format("it has no graph '{}'", name));
  STRIA_ASSIGN(std::vector<ValuePtr> results,
               node.graph().translate_graph(*branch->g, node.graph().scope(), {}));
  if (static_cast<int>(results.size()) != node.output_count())
    return node.error(fmt::format("'{}' has {} results, the node has {}", name, results.size(),
                                  node.output_count()));
  return results;
}

bool can_choose(const ValuePtr& a, const ValuePtr& b) {
  return a->kind == Value::Kind::tensor && b->kind == Value::Kind::tensor && a->type == b->type;
}

}  // namespace

Status branch(NodeWriter& node) {
  STRIA_ASSIGN(const std::string condition, node.tensor(0));
  if (product(node.type(0).sizes) != 1)
    return node.error(fmt::format("a condition of sizes [{}]", list_text(node.type(0).sizes)));
  if (node.value(0)->depends_on.empty()) {
    STRIA_ASSIGN(const int64_t holds, node.integer(0));
    STRIA_ASSIGN(const std::vector<ValuePtr> results,
                 branch_results(node, holds ? "then_branch" : "else_branch"));
    for (int k = 0; k < node.output_count(); ++k)
      STRIA_RETURN_IF_ERROR(node.result_value(k, results[static_cast<size_t>(k)]));
    return {};
  }
  auto then = branch_results(node, "then_branch");
  auto otherwise = branch_results(node, "else_branch");
  bool both = then.ok() && otherwise.ok();
  for (size_t k = 0; both && k < then->size(); ++k) both = can_choose((*then)[k], (*otherwise)[k]);
  // Without two results of one type and sizes, the condition must be known.
  if (!both) return node.integer(0).status();
  for (size_t k = 0; k < then->size(); ++k) {
    STRIA_ASSIGN(const ValuePtr chosen,
                 node.graph().compute("If", {node.value(0), (*then)[k], (*otherwise)[k]},
                                      [](NodeWriter& choice) -> Status {
                                        STRIA_ASSIGN(const std::string c, choice.tensor(0));
                                        STRIA_ASSIGN(const std::string a, choice.tensor(1));
                                        STRIA_ASSIGN(const std::string b, choice.tensor(2));
                                        return choice.result(
                                            0, fmt::format("{} ? {} : {}", reshaped(c, {}), a, b));
                                      }));
    STRIA_RETURN_IF_ERROR(node.result_value(static_cast<int>(k), chosen));
  }
  return {};
}

}  // namespace stria::onnx::operators
