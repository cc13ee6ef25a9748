// SPDX-License-Identifier: Apache-2.0
// FlexAttention of ai.onnx.preview: graphs of the node change the scores and the probabilities.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "stria/onnx/operators/attention/products.h"
#include "stria/onnx/translate/operator.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx::operators {
namespace {

// `expression` as the graph of attribute `name` changes it; the same without one.
Result<std::string> modified(NodeWriter& node, std::string_view name,
                             const std::string& expression) {
  const Attribute* graph = node.find_attribute(name);
  if (!graph) return expression;
  if (!graph->g) return node.error(fmt::format("attribute '{}' is no graph", name));
  STRIA_ASSIGN(const ValuePtr value, node.stage(expression));
  STRIA_ASSIGN(const std::vector<ValuePtr> out,
               node.graph().translate_graph(*graph->g, node.graph().scope(), {value}));
  if (out.size() != 1 || out[0]->kind != Value::Kind::tensor || out[0]->type != value->type)
    return node.error(fmt::format("'{}' does not give one tensor like its input", name));
  return node.parameter(out[0]);
}

Result<AttentionSizes> flex_sizes(NodeWriter& node) {
  AttentionSizes out;
  Heads* const all[] = {&out.q, &out.k, &out.v};
  for (int i = 0; i < 3; ++i) {
    STRIA_ASSIGN(*all[i], heads_of(node, i, 0));
  }
  out.batch = node.size(0, 0);
  STRIA_RETURN_IF_ERROR(check_attention(node, out));
  return out;
}

}  // namespace

Status flex_attention(NodeWriter& node) {
  STRIA_ASSIGN(AttentionSizes of, flex_sizes(node));
  const DataType type = node.type(0).type;
  STRIA_ASSIGN(const float scale, node.float_attribute("scale", 0));
  const double by =
      node.has_attribute("scale") ? scale : 1 / std::sqrt(static_cast<double>(of.q.size));
  DataType inner = type == DataType::fp64 ? type : DataType::fp32;
  if (node.has_attribute("softmax_precision")) {
    STRIA_ASSIGN(const int64_t written, node.integer_attribute("softmax_precision", 0));
    const std::optional<DataType> asked = tile_type_of(static_cast<ElementType>(written));
    if (!asked || !is_float(*asked))
      return node.error(fmt::format("softmax_precision is {}, no type of floats", written));
    inner = *asked;
  }
  const std::string scores = converted(attention_scores(node, of, by, type), type, inner);
  STRIA_ASSIGN(std::string changed, modified(node, "score_mod", scores));
  changed = node.let(changed);
  STRIA_ASSIGN(const std::string probabilities,
               modified(node, "prob_mod", attention_softmax(node, of, changed)));
  // Inputs that were parameters before a stage are so again.
  STRIA_ASSIGN(of.v, heads_of(node, 2, 0));
  const std::string weights = node.let(converted(probabilities, inner, type));
  return node.result(0, attention_values(node, of, weights, false));
}

}  // namespace stria::onnx::operators
