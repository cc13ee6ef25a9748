// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention of com.microsoft: what language models by ONNX Runtime's builder are made of.
// Each row of the batch has a number of keys of its own, which a tensor gives: its new keys lie
// behind its past ones, and what the cache has behind them is 0.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stria/onnx/operators/attention/products.h"
#include "stria/onnx/operators/attention/rotary.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

struct Grouped {
  AttentionSizes sizes;
  DataType type = DataType::fp32;
  int64_t total = 0;  // keys of the longest row
  std::string keys;   // of each row, [batch]
  std::string past;   // of each row, [batch]; "" if none has any
};

// Heads first … of [batch, length, heads * size].
Heads heads_from(NodeWriter& node, const std::string& packed, int64_t first, const Heads& like,
                 int64_t batch) {
  Heads out = like;
  out.tensor = contract(
      node, '=', {"b", "s", "h", "d"}, {batch, like.length, like.heads, like.size},
      fmt::format("{}[b, s, {}]", packed, affine({{like.size, "h"}, {1, "d"}}, first * like.size)));
  return out;
}

// Queries, keys and values: three inputs, or one that holds them.
Status read_heads(NodeWriter& node, Grouped& of) {
  STRIA_ASSIGN(const int64_t q, node.integer_attribute("num_heads", 0));
  STRIA_ASSIGN(const int64_t kv, node.integer_attribute("kv_num_heads", 0));
  for (const auto& [name, count] : {std::pair("num_heads", q), std::pair("kv_num_heads", kv)})
    if (count < 1)
      return node.error(fmt::format("attribute '{}' is {}, not positive", name, count));
  if (q % kv != 0)
    return node.error(
        fmt::format("attribute 'num_heads' is {}, no multiple of 'kv_num_heads', {}", q, kv));
  STRIA_ASSIGN(const std::string packed, node.tensor(0));
  if (node.rank(0) != 3) return node.error("its input has not 3 dimensions");
  of.type = node.type(0).type;
  of.sizes.batch = node.size(0, 0);
  if (node.has(1)) {
    STRIA_ASSIGN(of.sizes.q, heads_of(node, 0, q));
    STRIA_ASSIGN(of.sizes.k, heads_of(node, 1, kv, "kv_num_heads"));
    STRIA_ASSIGN(of.sizes.v, heads_of(node, 2, kv, "kv_num_heads"));
    return {};
  }
  const int64_t width = node.size(0, 2);
  if (q > width || kv > width || width % (q + 2 * kv) != 0)
    return node.error(fmt::format(
        "its first input has {} elements in a row, which do not make as many heads as attributes "
        "'num_heads', {}, and twice 'kv_num_heads', {}, say",
        width, q, kv));
  const int64_t all = q + 2 * kv;
  Heads like{"", q, node.size(0, 1), node.size(0, 2) / all, false};
  of.sizes.q = heads_from(node, packed, 0, like, of.sizes.batch);
  like.heads = kv;
  of.sizes.k = heads_from(node, packed, q, like, of.sizes.batch);
  of.sizes.v = heads_from(node, packed, q + kv, like, of.sizes.batch);
  return {};
}

// A number of each row, for each of `count` places: [batch, count].
std::string for_each_place(NodeWriter& node, const Grouped& of, const std::string& rows,
                           int64_t count) {
  return contract(node, '=', {"b", "s"}, {of.sizes.batch, count}, rows + "[b]");
}

Status rotate(NodeWriter& node, Grouped& of) {
  STRIA_ASSIGN(const int64_t wanted, node.integer_attribute("do_rotary", 0));
  if (!wanted) return {};
  STRIA_ASSIGN(const int64_t interleaved, node.integer_attribute("rotary_interleaved", 0));
  STRIA_ASSIGN(const std::string cosines, node.tensor(7));
  STRIA_ASSIGN(const std::string sines, node.tensor(8));
  const int64_t length = of.sizes.q.length;
  if (node.rank(7) != 2 || node.type(7).sizes != node.type(8).sizes ||
      2 * node.size(7, 1) > of.sizes.q.size)
    return node.error(
        fmt::format("attribute 'do_rotary' is {}, but inputs 7 and 8 are no tables of cosines and "
                    "sines for heads of {} elements",
                    wanted, of.sizes.q.size));
  std::string places;
  if (node.has(9)) {
    STRIA_ASSIGN(places, node.tensor(9));
    if (node.type(9).sizes != Sizes{of.sizes.batch, length})
      return node.error(fmt::format("position_ids are not [{}, {}]", of.sizes.batch, length));
  } else {
    const std::string& rows = of.past.empty() ? of.keys : of.past;
    const std::string each = for_each_place(node, of, rows, length);
    places = node.let(of.past.empty() ? fmt::format("index({}, 1)", each)
                                      : fmt::format("{0} + index({0}, 1)", each));
  }
  const Rotation by{node.let(fmt::format("gather({}, {})", cosines, places)),
                    node.let(fmt::format("gather({}, {})", sines, places)), node.size(7, 1),
                    interleaved != 0};
  of.sizes.q.tensor = rotated(node, of.sizes.q, of.sizes.batch, by);
  of.sizes.k.tensor = rotated(node, of.sizes.k, of.sizes.batch, by);
  return {};
}

// The cache of input `i` with `now` behind what each row has: [batch, heads, length, size].
Result<Heads> cached(NodeWriter& node, const Grouped& of, int i, const Heads& now) {
  Heads before{"", now.heads, 0, now.size, true};
  if (node.has(i)) {
    STRIA_ASSIGN(before, heads_of(node, i, now.heads, "kv_num_heads"));
    if (node.rank(i) != 4 || node.size(i, 0) != of.sizes.batch || before.heads != now.heads ||
        before.size != now.size)
      return node.error(fmt::format("input {} is no cache of its heads", i));
  }
  Heads out{"", now.heads, std::max(before.length, of.total), now.size, true};
  const Sizes sizes = {of.sizes.batch, out.heads, out.length, out.size};
  const auto in_cache = [&](const Heads& from) {
    const std::string rest = from.length < out.length ? node.let("0") : "";
    return contract(node, '=', {"b", "h", "s", "d"}, sizes, from.at("h", "s", "d"), {}, rest);
  };
  if (of.past.empty()) {
    out.tensor = in_cache(now);
    return out;
  }
  const std::string old = in_cache(before);
  // The new ones are rows of a table; where a place has none, any row will do.
  const std::string table =
      node.let(reshaped(now.tensor, {of.sizes.batch * now.length, now.heads * now.size}));
  const std::string past = for_each_place(node, of, of.past, out.length);
  const std::string which =
      node.let(fmt::format("index({0}, 0) * {1} + max(min(index({0}, 1) - {0}, {2}), 0)", past,
                           now.length, now.length - 1));
  const std::string rows = node.let(reshaped(node.let(fmt::format("gather({}, {})", table, which)),
                                             {of.sizes.batch, out.length, now.heads, now.size}));
  const std::string fresh = contract(node, '=', {"b", "h", "s", "d"}, sizes, rows + "[b, s, h, d]");
  const std::string first = node.let(reshaped(of.past, {of.sizes.batch, 1, 1, 1}));
  const std::string place = fmt::format("index({}, 2)", old);
  out.tensor = node.let(fmt::format("{0} < {1} ? {2} : {0} < {1} + {3} ? {4} : 0", place, first,
                                    old, now.length, fresh));
  return out;
}

// The scores that count; the others are the lowest number.
Result<std::string> masked_scores(NodeWriter& node, const Grouped& of) {
  STRIA_ASSIGN(const float written, node.float_attribute("scale", 0));
  STRIA_ASSIGN(const float cap, node.float_attribute("softcap", 0));
  STRIA_ASSIGN(const int64_t window, node.integer_attribute("local_window_size", -1));
  STRIA_ASSIGN(const int64_t sliding, node.integer_attribute("sliding_window_cache", 0));
  if (window == 0 || window < -1)
    return node.error(
        fmt::format("attribute 'local_window_size' is {}, not positive or -1", window));
  if (!(cap >= 0)) return node.error(fmt::format("attribute 'softcap' is {}", cap));
  // Such a cache drops what the window has left behind.
  if (sliding && window > 0 && of.total > window)
    return node.not_supported(
        fmt::format("sliding_window_cache with {} keys for a window of {}", of.total, window));
  const double scale = written != 0 ? written : 1 / std::sqrt(static_cast<double>(of.sizes.q.size));
  const std::string scores = attention_scores(node, of.sizes, scale, of.type);
  std::string out = wide(scores, of.type);
  if (cap > 0) out = fmt::format("{0} * tanh({1} / {0})", literal(cap), node.let(out));
  if (node.has(10)) {
    STRIA_ASSIGN(const std::string bias, node.tensor(10));
    if (node.rank(10) != 4 || node.size(10, 3) != of.sizes.k.length)
      return node.not_supported(
          fmt::format("attention_bias for other than {} keys", of.sizes.k.length));
    out += " + " + wide(bias, node.type(10).type);
  }
  const std::string key = fmt::format("index({}, 3)", scores);
  std::string query = fmt::format("index({}, 2)", scores);
  if (!of.past.empty())
    query = fmt::format("({} + {})", query, node.let(reshaped(of.past, {of.sizes.batch, 1, 1, 1})));
  std::string seen = fmt::format("{} <= {}", key, query);
  if (window > 0 && window < of.sizes.k.length)
    seen += fmt::format(" && {} > {} - {}", key, query, window);
  return node.let(
      fmt::format("{} ? {} : {}", seen, out, literal(std::numeric_limits<float>::lowest())));
}

}  // namespace

// Inputs: queries, keys, values, past keys and values, keys of each row less 1, keys of the longest
// row, cosines, sines, positions, bias. Outputs: output, keys, values.
Status group_query_attention(NodeWriter& node) {
  for (const std::string_view name : {"smooth_softmax", "qk_output"}) {
    STRIA_ASSIGN(const int64_t wanted, node.integer_attribute(name, 0));
    if (wanted > 0) return node.not_supported(fmt::format("attribute '{}'", name));
  }
  for (const std::string_view name : {"k_quant_type", "v_quant_type"}) {
    STRIA_ASSIGN(const std::string kind, node.string_attribute(name, "NONE"));
    if (kind != "NONE") return node.not_supported(fmt::format("{} '{}'", name, kind));
  }
  if (node.has(11)) return node.not_supported("input 11 ('head_sink')");
  Grouped of;
  STRIA_RETURN_IF_ERROR(read_heads(node, of));
  STRIA_RETURN_IF_ERROR(check_attention(node, of.sizes));
  STRIA_ASSIGN(const std::string last, node.tensor(5));
  STRIA_ASSIGN(of.total, node.integer(6));
  const int64_t length = of.sizes.q.length, batch = of.sizes.batch;
  if (element_count(node.type(5).sizes) != batch || of.total < length ||
      of.sizes.k.length != length)
    return node.error(
        fmt::format("{} keys in all for {} queries in {} rows", of.total, length, batch));
  of.keys = node.let(reshaped(last, {batch}));
  // A first prompt has no past, whatever its rows are padded to.
  if (of.total > length) of.past = node.let(fmt::format("{} - {}", of.keys, length - 1));
  STRIA_RETURN_IF_ERROR(rotate(node, of));
  STRIA_ASSIGN(of.sizes.k, cached(node, of, 3, of.sizes.k));
  STRIA_ASSIGN(of.sizes.v, cached(node, of, 4, of.sizes.v));
  STRIA_RETURN_IF_ERROR(node.result(1, of.sizes.k.tensor));
  STRIA_RETURN_IF_ERROR(node.result(2, of.sizes.v.tensor));
  STRIA_ASSIGN(const std::string scores, masked_scores(node, of));
  const std::string weights = node.let(narrow(attention_softmax(node, of.sizes, scores), of.type));
  return node.result(0, attention_values(node, of.sizes, weights, true));
}

}  // namespace stria::onnx::operators
