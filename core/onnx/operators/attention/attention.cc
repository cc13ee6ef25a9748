// SPDX-License-Identifier: Apache-2.0
// Attention of the standard: with past keys and values, masks, windows and a soft cap.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "stria/onnx/operators/attention/products.h"
#include "stria/onnx/translate/operator.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx::operators {
namespace {

// The mask of input 3 with 4 dimensions. Along the keys it may be shorter than they are: what it
// does not reach is masked.
struct Mask {
  std::string tensor;  // "" without one
  bool truth = false;
  int64_t reach = 0;
};

Result<Mask> mask_of(NodeWriter& node, const AttentionSizes& of) {
  Mask out;
  out.reach = of.k.length;
  if (!node.has(3)) return out;
  STRIA_ASSIGN(const std::string given, node.tensor(3));
  Sizes sizes = node.type(3).sizes;
  while (sizes.size() < 4) sizes.insert(sizes.begin(), 1);
  const Sizes wanted = {of.batch, of.q.heads, of.q.length, of.k.length};
  for (size_t d = 0; d < 4; ++d)
    if (sizes.size() != 4 ||
        (d < 3 ? sizes[d] != 1 && sizes[d] != wanted[d] : sizes[3] > wanted[3]))
      return node.error(fmt::format("a mask of [{}] for scores of [{}]",
                                    fmt::join(node.type(3).sizes, ", "), fmt::join(wanted, ", ")));
  out.truth = node.type(3).type == DataType::boolean;
  out.tensor = node.let(reshaped(given, sizes));
  if (sizes[3] == wanted[3] || sizes[3] == 1) return out;
  out.reach = sizes[3];
  sizes[3] = wanted[3];
  out.tensor = contract(node, '=', indices("i", 4), sizes, out.tensor + "[i0, i1, i2, i3]");
  return out;
}

// What must hold for a query to see a key; "" if nothing must.
Result<std::string> visibility(NodeWriter& node, const AttentionSizes& of, const Mask& mask,
                               const std::string& scores, int64_t past) {
  Forms all;
  const std::string key = fmt::format("index({}, 3)", scores);
  std::string place = fmt::format("(index({}, 2) + {})", scores, past);
  if (mask.truth) all.push_back(mask.tensor);
  if (mask.reach < of.k.length) all.push_back(fmt::format("{} < {}", key, mask.reach));
  if (node.has(6)) {
    STRIA_ASSIGN(const std::string lengths, node.tensor(6));
    if (node.type(6).sizes != Sizes{of.batch})
      return node.error(fmt::format("nonpad_kv_seqlen has other sizes than [{}]", of.batch));
    const std::string length = node.let(reshaped(lengths, {of.batch, 1, 1, 1}));
    all.push_back(fmt::format("{} < {}", key, length));
    place = fmt::format("(index({}, 2) + {} - {})", scores, length, of.q.length);
  }
  STRIA_ASSIGN(const int64_t causal, node.integer_attribute("is_causal", 0));
  STRIA_ASSIGN(const int64_t left, node.integer_attribute("left_window_size", -1));
  STRIA_ASSIGN(const int64_t right, node.integer_attribute("right_window_size", -1));
  if (causal) all.push_back(fmt::format("{} <= {}", key, place));
  if (left >= 0) all.push_back(fmt::format("{} >= {} - {}", key, place, left));
  if (right >= 0) all.push_back(fmt::format("{} <= {} + {}", key, place, right));
  return fmt::format("{}", fmt::join(all, " && "));
}

// The type of the softmax: 16-bit floats are computed in fp32.
Result<DataType> softmax_type(NodeWriter& node, DataType type) {
  if (!node.has_attribute("softmax_precision")) return wide_type(type);
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("softmax_precision", 0));
  const std::optional<DataType> out = tile_type_of(static_cast<ElementType>(written));
  if (!out || !is_float(*out))
    return node.error(fmt::format("softmax_precision is {}, no type of floats", written));
  return wide_type(*out);
}

}  // namespace

Status attention(NodeWriter& node) {
  STRIA_ASSIGN(const int64_t q_heads, node.integer_attribute("q_num_heads", 0));
  STRIA_ASSIGN(const int64_t kv_heads, node.integer_attribute("kv_num_heads", 0));
  AttentionSizes of;
  STRIA_ASSIGN(of.q, heads_of(node, 0, q_heads));
  STRIA_ASSIGN(of.k, heads_of(node, 1, kv_heads));
  STRIA_ASSIGN(of.v, heads_of(node, 2, kv_heads));
  of.batch = node.size(0, 0);
  const DataType type = node.type(0).type;
  int64_t past = 0;
  if (node.has(4) != node.has(5)) return node.error("past_key and past_value belong together");
  if (node.has(4) || node.wants(1) || node.wants(2)) {
    Heads past_k = of.k, past_v = of.v;
    past_k.length = past_v.length = 0;
    if (node.has(4)) {
      STRIA_ASSIGN(past_k, heads_of(node, 4, kv_heads));
      STRIA_ASSIGN(past_v, heads_of(node, 5, kv_heads));
    }
    past = past_k.length;
    of.k = appended(node, of.batch, past_k, of.k);
    of.v = appended(node, of.batch, past_v, of.v);
    STRIA_RETURN_IF_ERROR(node.result(1, of.k.tensor));
    STRIA_RETURN_IF_ERROR(node.result(2, of.v.tensor));
  }
  STRIA_RETURN_IF_ERROR(check_attention(node, of));
  STRIA_ASSIGN(const float scale, node.float_attribute("scale", 0));
  STRIA_ASSIGN(const float softcap, node.float_attribute("softcap", 0));
  STRIA_ASSIGN(const int64_t mode, node.integer_attribute("qk_matmul_output_mode", 0));
  if (mode < 0 || mode > 3) return node.error(fmt::format("qk_matmul_output_mode is {}", mode));
  const double by =
      node.has_attribute("scale") ? scale : 1 / std::sqrt(static_cast<double>(of.q.size));
  std::string stages[4];
  stages[0] = attention_scores(node, of, by, type);
  stages[1] = softcap > 0
                  ? node.let(fmt::format("{0} * tanh({1} / {0})", literal(softcap), stages[0]))
                  : stages[0];
  STRIA_ASSIGN(const Mask mask, mask_of(node, of));
  STRIA_ASSIGN(const std::string visible, visibility(node, of, mask, stages[0], past));
  std::string biased = stages[1];
  if (!mask.tensor.empty() && !mask.truth) biased += " + " + mask.tensor;
  if (!visible.empty()) biased = fmt::format("{} ? {} : {}", visible, biased, literal(-HUGE_VAL));
  stages[2] = biased == stages[1] ? biased : node.let(biased);
  STRIA_ASSIGN(const DataType inner, softmax_type(node, type));
  const std::string scores =
      inner == type ? stages[2] : node.let(converted(stages[2], type, inner));
  stages[3] = node.let(converted(attention_softmax(node, of, scores), inner, type));
  STRIA_RETURN_IF_ERROR(node.result(3, stages[mode]));
  return node.result(0, attention_values(node, of, stages[3], node.rank(0) == 3));
}

}  // namespace stria::onnx::operators
