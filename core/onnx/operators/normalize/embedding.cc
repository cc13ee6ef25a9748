// SPDX-License-Identifier: Apache-2.0
// SkipLayerNormalization, SkipSimplifiedLayerNormalization and EmbedLayerNormalization of
// com.microsoft.
#include <fmt/format.h>

#include "stria/onnx/operators/normalize/layer_norm.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// Input `i`, wide; "" if it is not given.
Result<std::string> optional_wide(NodeWriter& node, int i) {
  if (!node.has(i)) return std::string();
  STRIA_ASSIGN(const std::string tensor, node.tensor(i));
  return wide(tensor, node.type(i).type);
}

// Inputs 0 and 1, and 'bias', which need not be given: wide.
Result<std::string> skipped_sum(NodeWriter& node, int bias) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string skip, node.tensor(1));
  STRIA_ASSIGN(const std::string more, optional_wide(node, bias));
  if (node.rank(0) == 0) return node.error("its input has rank 0");
  const std::string sum = wide(x, node.type(0).type) + " + " + wide(skip, node.type(0).type);
  return node.let(more.empty() ? sum : sum + " + " + more);
}

}  // namespace

// Inputs: input, skip, gamma, beta, bias. Outputs: output, mean, inverse deviation, sum.
Status skip_layer_normalization(NodeWriter& node) {
  STRIA_ASSIGN(const std::string gamma, node.tensor(2));
  STRIA_ASSIGN(const std::string beta, optional_wide(node, 3));
  STRIA_ASSIGN(const float epsilon, node.float_attribute("epsilon", 1e-12f));
  const DataType type = node.type(0).type;
  STRIA_ASSIGN(const std::string sum, skipped_sum(node, 4));
  const LayerNorm out =
      layer_norm(node, sum, node.type(0).sizes, node.rank(0) - 1, wide(gamma, type), beta, epsilon);
  STRIA_RETURN_IF_ERROR(node.result(0, narrow("(" + out.y + ")", type)));
  STRIA_RETURN_IF_ERROR(node.result(1, out.mean));
  STRIA_RETURN_IF_ERROR(node.result(2, out.inverse_deviation));
  return node.result(3, narrow(sum, type));
}

// Inputs: input, skip, gamma, bias. Outputs: output, none, inverse deviation, sum.
Status skip_rms_normalization(NodeWriter& node) {
  STRIA_ASSIGN(const std::string gamma, node.tensor(2));
  STRIA_ASSIGN(const float epsilon, node.float_attribute("epsilon", 1e-12f));
  const DataType type = node.type(0).type;
  STRIA_ASSIGN(const std::string sum, skipped_sum(node, 3));
  const RmsNorm out = rms_norm(node, sum, node.type(0).sizes, node.rank(0) - 1,
                               wide(gamma, node.type(2).type), epsilon);
  STRIA_RETURN_IF_ERROR(node.result(0, narrow("(" + out.y + ")", type)));
  STRIA_RETURN_IF_ERROR(node.result(2, out.inverse_deviation));
  return node.result(3, narrow(sum, type));
}

// Inputs: ids, segment ids, embeddings of words, positions and segments, gamma, beta, mask, ids of
// positions. Outputs: output, number of unmasked ids in front, sum of the embeddings.
Status embed_layer_normalization(NodeWriter& node) {
  STRIA_ASSIGN(const std::string ids, node.tensor(0));
  STRIA_ASSIGN(const std::string words, node.tensor(2));
  STRIA_ASSIGN(const std::string positions, node.tensor(3));
  STRIA_ASSIGN(const std::string gamma, node.tensor(5));
  STRIA_ASSIGN(const std::string beta, node.tensor(6));
  STRIA_ASSIGN(const float epsilon, node.float_attribute("epsilon", 1e-12f));
  const DataType type = node.type(2).type;
  if (node.rank(0) != 2 || node.rank(2) != 2 || node.rank(3) != 2)
    return node.error("ids and embeddings must have 2 dimensions");
  const int64_t batch = node.size(0, 0), length = node.size(0, 1), hidden = node.size(2, 1);
  std::string places = fmt::format("index({}, 1)", ids);
  if (node.has(8)) {
    // One row may stand for all.
    STRIA_ASSIGN(const std::string given, node.tensor(8));
    places = contract(node, '=', {"b", "s"}, {batch, length},
                      access(given, {node.size(8, 0) == 1 ? "0" : "b", "s"}));
  }
  std::string sum = fmt::format("{} + {}", wide(fmt::format("gather({}, {})", words, ids), type),
                                wide(fmt::format("gather({}, {})", positions, places), type));
  if (node.has(1) != node.has(4)) return node.error("segments need ids and embeddings");
  if (node.has(1)) {
    STRIA_ASSIGN(const std::string segments, node.tensor(1));
    STRIA_ASSIGN(const std::string table, node.tensor(4));
    sum += " + " + wide(fmt::format("gather({}, {})", table, segments), type);
  }
  sum = node.let(sum);
  const LayerNorm out = layer_norm(node, sum, {batch, length, hidden}, 2, wide(gamma, type),
                                   wide(beta, type), epsilon);
  STRIA_RETURN_IF_ERROR(node.result(0, narrow("(" + out.y + ")", type)));
  if (node.wants(1)) {
    std::string front;
    if (node.has(7)) {
      STRIA_ASSIGN(const std::string mask, node.tensor(7));
      front = contract(node, '+', {"b"}, {batch}, access(mask, {"b", "s"}));
    } else {
      const std::string none = node.let("0");
      front = contract(node, '=', {"b"}, {batch}, none + "[]");
    }
    STRIA_RETURN_IF_ERROR(node.result(1, front));
  }
  return node.result(2, narrow(sum, type));
}

}  // namespace stria::onnx::operators
