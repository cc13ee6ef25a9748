// SPDX-License-Identifier: Apache-2.0
// Attention and MultiHeadAttention of com.microsoft.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stria/onnx/operators/attention/microsoft.h"
#include "stria/onnx/operators/attention/products.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx {
namespace {

// What both operators have in common, behind their inputs.
struct Microsoft {
  AttentionSizes sizes;
  DataType type = DataType::fp32;
  int64_t past = 0;
  int mask = 0, bias = 0;  // inputs
};

// Columns first … of [batch, length, …], as heads.
Heads heads_at(NodeWriter& node, const std::string& from, int64_t batch, int64_t length,
               int64_t heads, int64_t size, int64_t first) {
  Heads out{"", heads, length, size, false};
  out.tensor = contract(node, '=', {"b", "s", "h", "d"}, {batch, length, heads, size},
                        fmt::format("{}[b, s, {}]", from, affine({{size, "h"}, {1, "d"}}, first)));
  return out;
}

// Which keys count, by the mask's sizes: a condition that is broadcast to the scores.
Result<std::string> unmasked_keys(NodeWriter& node, const Microsoft& of,
                                  const std::string& scores) {
  STRIA_ASSIGN(const std::string mask, node.tensor(of.mask));
  const Sizes& sizes = node.type(of.mask).sizes;
  const int64_t batch = of.sizes.batch, keys = of.sizes.k.length;
  const std::string key = fmt::format("index({}, 3)", scores);
  if (sizes == Sizes{batch}) return fmt::format("{} < {}", key, reshaped(mask, {batch, 1, 1, 1}));
  if (sizes == Sizes{2 * batch}) {
    const std::string both = node.let(reshaped(mask, {2, batch, 1, 1, 1}));
    std::string ends[2];
    for (int which = 0; which < 2; ++which)
      ends[which] = contract(node, '=', {"b", "0", "0", "0"}, {batch, 1, 1, 1},
                             fmt::format("{}[{}, b, 0, 0, 0]", both, which));
    return fmt::format("({0} < {1} && {0} >= {2})", key, ends[0], ends[1]);
  }
  if (sizes == Sizes{batch, keys}) return reshaped(mask, {batch, 1, 1, keys}) + " > 0";
  if (sizes == Sizes{batch, of.sizes.q.length, keys})
    return reshaped(mask, {batch, 1, of.sizes.q.length, keys}) + " > 0";
  return node.not_supported(
      fmt::format("a mask of rank {} with {} elements", sizes.size(), element_count(sizes)));
}

Status microsoft_attention(NodeWriter& node, const Microsoft& of) {
  STRIA_RETURN_IF_ERROR(check_attention(node, of.sizes));
  STRIA_ASSIGN(const float scale, node.float_attribute("scale", 0));
  STRIA_ASSIGN(const float filter, node.float_attribute("mask_filter_value", -10000));
  STRIA_ASSIGN(const int64_t causal, node.integer_attribute("unidirectional", 0));
  const double by = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(of.sizes.q.size));
  const std::string scores = attention_scores(node, of.sizes, by, of.type);
  std::string biased = wide(scores, of.type);
  if (node.has(of.bias)) {
    STRIA_ASSIGN(const std::string bias, node.tensor(of.bias));
    biased += " + " + wide(bias, node.type(of.bias).type);
  }
  if (node.has(of.mask)) {
    STRIA_ASSIGN(const std::string counts, unmasked_keys(node, of, scores));
    biased += fmt::format(" + ({} ? 0 : {})", counts, literal(filter));
  }
  if (causal)
    biased = fmt::format("index({0}, 3) <= index({0}, 2) + {1} ? {2} : {3}", scores, of.past,
                         biased, literal(std::numeric_limits<float>::lowest()));
  const std::string rows = node.let(biased);
  const std::string weights = node.let(narrow(attention_softmax(node, of.sizes, rows), of.type));
  return node.result(0, attention_values(node, of.sizes, weights, true));
}

// The part of `packed` for each of the results, with heads behind the lengths.
Result<Heads> packed_heads(NodeWriter& node, int i, int64_t which) {
  STRIA_ASSIGN(const std::string packed, node.tensor(i));
  const Sizes& sizes = node.type(i).sizes;
  Heads out{"", sizes[2], sizes[1], sizes[4], false};
  out.tensor = contract(node, '=', {"b", "s", "h", "d"}, {sizes[0], sizes[1], sizes[2], sizes[4]},
                        fmt::format("{}[b, s, h, {}, d]", packed, which));
  return out;
}

// Adds elements first … of the bias to each position.
Status add_bias(NodeWriter& node, int i, int64_t first, Heads& to) {
  STRIA_ASSIGN(const std::string bias, node.tensor(i));
  const int64_t count = to.heads * to.size;
  if (node.rank(i) != 1 || first + count > node.size(i, 0))
    return node.error(fmt::format("its bias has less than {} elements", first + count));
  const std::string row =
      contract(node, '=', {"q"}, {count}, fmt::format("{}[{}]", bias, affine({{1, "q"}}, first)));
  to.tensor = node.let(fmt::format(
      "{} + {}", to.tensor,
      reshaped(row, to.heads_first ? Sizes{to.heads, 1, to.size} : Sizes{to.heads, to.size})));
  return {};
}

}  // namespace

Result<HiddenSizes> hidden_sizes(NodeWriter& node) {
  STRIA_ASSIGN(const int64_t heads, node.integer_attribute("num_heads", 0));
  STRIA_ASSIGN(Sizes parts, node.integers_attribute("qkv_hidden_sizes"));
  STRIA_ASSIGN(const int64_t rotary, node.integer_attribute("do_rotary", 0));
  if (rotary) return node.not_supported("do_rotary");
  for (const int i : {0, 1})
    if (!node.has(i)) return node.error(fmt::format("input {} is missing", i));
  if (node.rank(0) != 3 || node.rank(1) != 2 || node.size(1, 0) != node.size(0, 2))
    return node.error("its input and its weights do not fit");
  const int64_t columns = node.size(1, 1);
  if (parts.empty()) parts.assign(3, columns / 3);
  int64_t left = columns;
  for (const int64_t size : parts) {
    if (heads < 1 || heads > size || size % heads != 0)
      return node.error(fmt::format("{} elements do not make num_heads {} heads", size, heads));
    left -= std::min(size, left + 1);
  }
  if (parts.size() != 3 || left != 0)
    return node.error(fmt::format("qkv_hidden_sizes [{}] for weights of {} columns",
                                  fmt::join(parts, ", "), columns));
  return HiddenSizes{heads, parts[0], parts[1], parts[2]};
}

Status self_attention(NodeWriter& node, const SelfAttention& self) {
  const auto [heads, q, k, v] = self.hidden;
  Microsoft of{{}, self.type, 0, self.mask, self.bias};
  const int64_t batch = node.size(0, 0), length = node.size(0, 1);
  of.sizes.batch = batch;
  of.sizes.q = heads_at(node, self.columns, batch, length, heads, q / heads, 0);
  of.sizes.k = heads_at(node, self.columns, batch, length, heads, k / heads, q);
  of.sizes.v = heads_at(node, self.columns, batch, length, heads, v / heads, q + k);
  if (!node.has(self.past) && !node.wants(1)) return microsoft_attention(node, of);
  if (k != v) return node.error("past keys and values have other sizes");
  Sizes past_sizes = {2, batch, heads, 0, k / heads};
  std::string past;
  if (node.has(self.past)) {
    STRIA_ASSIGN(past, node.tensor(self.past));
    if (node.rank(self.past) == 5) past_sizes[3] = node.size(self.past, 3);
    if (node.type(self.past).sizes != past_sizes) return node.error("its past has other sizes");
  }
  of.past = past_sizes[3];
  Sizes present_sizes = past_sizes;
  present_sizes[3] += length;
  std::string present;
  Heads* const parts[] = {&of.sizes.k, &of.sizes.v};
  for (int64_t which = 0; which < 2; ++which) {
    Heads& now = *parts[which];
    Heads before{"", heads, of.past, now.size, true};
    if (of.past > 0)
      before.tensor = contract(node, '=', {"b", "h", "s", "d"}, {batch, heads, of.past, now.size},
                               fmt::format("{}[{}, b, h, s, d]", past, which));
    now = appended(node, batch, before, now);
    if (node.wants(1))
      present = contract(node, '=', {fmt::format("{}", which), "b", "h", "s", "d"}, present_sizes,
                         now.at("h", "s", "d"), {}, present);
  }
  STRIA_RETURN_IF_ERROR(node.result(1, present));
  return microsoft_attention(node, of);
}

namespace operators {

// Inputs: input, weights, bias, mask, past, bias of the scores. Outputs: output, present.
Status attention_of_microsoft(NodeWriter& node) {
  STRIA_ASSIGN(const HiddenSizes hidden, hidden_sizes(node));
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string w, node.tensor(1));
  std::string all =
      contract(node, '+', {"b", "s", "q"}, {node.size(0, 0), node.size(0, 1), node.size(1, 1)},
               fmt::format("{}[b, s, i] * {}[i, q]", x, w));
  if (node.has(2)) {
    STRIA_ASSIGN(const std::string bias, node.tensor(2));
    all = node.let(fmt::format("{} + {}", all, bias));
  }
  return self_attention(node, {all, node.type(0).type, hidden, 3, 4, 5});
}

// Inputs: queries, keys, values, bias, mask, bias of the scores, past keys and values. Queries may
// hold keys and values, too, and keys the values. Outputs: output, present keys and values.
Status multi_head_attention(NodeWriter& node) {
  STRIA_ASSIGN(const int64_t heads, node.integer_attribute("num_heads", 0));
  if (!node.has(0)) return node.error("input 0 is missing");
  if (node.has(8) || node.has(9)) return node.not_supported("cache_indirection");
  Microsoft of{{}, node.type(0).type, 0, 4, 5};
  of.sizes.batch = node.size(0, 0);
  if (node.rank(0) == 5) {
    STRIA_ASSIGN(of.sizes.q, packed_heads(node, 0, 0));
    STRIA_ASSIGN(of.sizes.k, packed_heads(node, 0, 1));
    STRIA_ASSIGN(of.sizes.v, packed_heads(node, 0, 2));
  } else {
    STRIA_ASSIGN(of.sizes.q, heads_of(node, 0, heads));
    if (!node.has(1)) return node.error("input 1 is missing");
    if (node.rank(1) == 5) {
      STRIA_ASSIGN(of.sizes.k, packed_heads(node, 1, 0));
      STRIA_ASSIGN(of.sizes.v, packed_heads(node, 1, 1));
    } else {
      STRIA_ASSIGN(of.sizes.k, heads_of(node, 1, heads));
      STRIA_ASSIGN(of.sizes.v, heads_of(node, 2, heads));
    }
  }
  if (node.has(3)) {
    const int64_t q = of.sizes.q.heads * of.sizes.q.size, k = of.sizes.k.heads * of.sizes.k.size;
    STRIA_RETURN_IF_ERROR(add_bias(node, 3, 0, of.sizes.q));
    // Keys and values with heads in front come as they are from elsewhere.
    if (!of.sizes.k.heads_first) {
      STRIA_RETURN_IF_ERROR(add_bias(node, 3, q, of.sizes.k));
      STRIA_RETURN_IF_ERROR(add_bias(node, 3, q + k, of.sizes.v));
    }
  }
  if (node.has(6) != node.has(7)) return node.error("past keys and values belong together");
  if (node.has(6) || node.wants(1) || node.wants(2)) {
    Heads past_k = of.sizes.k, past_v = of.sizes.v;
    past_k.length = past_v.length = 0;
    if (node.has(6)) {
      STRIA_ASSIGN(past_k, heads_of(node, 6, heads));
      STRIA_ASSIGN(past_v, heads_of(node, 7, heads));
    }
    of.past = past_k.length;
    of.sizes.k = appended(node, of.sizes.batch, past_k, of.sizes.k);
    of.sizes.v = appended(node, of.sizes.batch, past_v, of.sizes.v);
    STRIA_RETURN_IF_ERROR(node.result(1, of.sizes.k.tensor));
    STRIA_RETURN_IF_ERROR(node.result(2, of.sizes.v.tensor));
  }
  return microsoft_attention(node, of);
}

}  // namespace operators
}  // namespace stria::onnx
