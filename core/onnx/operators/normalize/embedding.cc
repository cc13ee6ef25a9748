// SPDX-License-Identifier: Apache-2.0
// SkipLayerNormalization, SkipSimplifiedLayerNormalization, EmbedLayerNormalization and its
// quantized form, of com.microsoft.
#include <fmt/format.h>

#include "stria/onnx/operators/normalize/layer_norm.h"
#include "stria/onnx/operators/quantize/q_linear.h"
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

namespace {

// Where the tables of an embedding are, and how their rows become numbers.
struct Embedding {
  DataType type = DataType::fp32;  // of the results
  int words = 2, positions = 3, segments = 4, gamma = 5, beta = 6, mask = 7;
  int places = 8;      // ids of positions; past the end where there are none
  bool small = false;  // small integers, whose scales are inputs from 8 on and zero points from 13
};

// Numbers of table `i`, or the rows of it that `which` names: wide.
Result<std::string> numbers_of(NodeWriter& node, const Embedding& of, int i,
                               const std::string& which = "") {
  STRIA_ASSIGN(const std::string table, node.tensor(i));
  const std::string rows =
      which.empty() ? table : node.let(fmt::format("gather({}, {})", table, which));
  if (!of.small) return wide(rows, node.type(i).type);
  const int part = i == of.gamma ? 3 : i == of.beta ? 4 : i - of.words;
  STRIA_ASSIGN(const std::string scale, scalar_of(node, 8 + part));
  STRIA_ASSIGN(const std::string zero, scalar_of(node, 13 + part));
  return node.let(fmt::format("({} - {}) * {}", stria::onnx::cast(rows, DataType::fp32),
                              stria::onnx::cast(zero, DataType::fp32), wide(scale, of.type)));
}

Status embedded(NodeWriter& node, const Embedding& of) {
  STRIA_ASSIGN(const std::string ids, node.tensor(0));
  STRIA_ASSIGN(const float epsilon, node.float_attribute("epsilon", 1e-12f));
  for (const int i : {of.words, of.positions})
    if (!node.has(i)) return node.error(fmt::format("input {} is missing", i));
  if (node.rank(0) != 2 || node.rank(of.words) != 2 || node.rank(of.positions) != 2)
    return node.error("ids and embeddings must have 2 dimensions");
  const int64_t batch = node.size(0, 0), length = node.size(0, 1), hidden = node.size(of.words, 1);
  std::string places = fmt::format("index({}, 1)", ids);
  if (node.has(of.places)) {
    // One row may stand for all.
    STRIA_ASSIGN(const std::string given, node.tensor(of.places));
    if (node.rank(of.places) != 2)
      return node.error(fmt::format("position_ids (input {}) of rank {}, not 2", of.places,
                                    node.rank(of.places)));
    places = contract(node, '=', {"b", "s"}, {batch, length},
                      access(given, {node.size(of.places, 0) == 1 ? "0" : "b", "s"}));
  }
  STRIA_ASSIGN(const std::string word, numbers_of(node, of, of.words, ids));
  STRIA_ASSIGN(const std::string position, numbers_of(node, of, of.positions, places));
  std::string sum = word + " + " + position;
  if (node.has(1) != node.has(of.segments)) return node.error("segments need ids and embeddings");
  if (node.has(1)) {
    STRIA_ASSIGN(const std::string segments, node.tensor(1));
    STRIA_ASSIGN(const std::string segment, numbers_of(node, of, of.segments, segments));
    sum += " + " + segment;
  }
  sum = node.let(sum);
  STRIA_ASSIGN(const std::string gamma, numbers_of(node, of, of.gamma));
  STRIA_ASSIGN(const std::string beta, numbers_of(node, of, of.beta));
  const LayerNorm out = layer_norm(node, sum, {batch, length, hidden}, 2, gamma, beta, epsilon);
  STRIA_RETURN_IF_ERROR(node.result(0, narrow("(" + out.y + ")", of.type)));
  if (node.wants(1)) {
    std::string front;
    if (node.has(of.mask)) {
      STRIA_ASSIGN(const std::string mask, node.tensor(of.mask));
      front = contract(node, '+', {"b"}, {batch}, access(mask, {"b", "s"}));
    } else {
      const std::string none = node.let("0");
      front = contract(node, '=', {"b"}, {batch}, none + "[]");
    }
    STRIA_RETURN_IF_ERROR(node.result(1, front));
  }
  return node.result(2, narrow(sum, of.type));
}

}  // namespace

// Inputs: ids, segment ids, embeddings of words, positions and segments, gamma, beta, mask, ids of
// positions. Outputs: output, number of unmasked ids in front, sum of the embeddings.
Status embed_layer_normalization(NodeWriter& node) {
  Embedding of;
  if (node.has(of.words)) of.type = node.type(of.words).type;
  return embedded(node, of);
}

// The same inputs up to the mask, then a scale and a zero point of each table.
Status quantized_embed_layer_normalization(NodeWriter& node) {
  Embedding of;
  of.small = true;
  of.places = node.input_count();
  if (node.has(8)) of.type = node.type(8).type;
  return embedded(node, of);
}

}  // namespace stria::onnx::operators
