// SPDX-License-Identifier: Apache-2.0
// LinearAttention, a token after another, and CausalConvWithState.
#include <fmt/format.h>

#include <cmath>

#include "stria/onnx/operators/attention/products.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

constexpr int64_t kMostTokens = 4096;

// Input `i`, [batch, tokens, …], with the last dimension in `heads` heads.
Result<std::string> token_heads(NodeWriter& node, int i, int64_t heads, DataType type) {
  STRIA_ASSIGN(const std::string given, node.tensor(i));
  const Sizes& sizes = node.type(i).sizes;
  if (sizes.size() != 3 || heads < 1 || sizes[2] % heads != 0)
    return node.error(fmt::format("input {} does not hold {} heads", i, heads));
  return node.let(reshaped(wide(given, type), {sizes[0], sizes[1], heads, sizes[2] / heads}));
}

}  // namespace

Status linear_attention(NodeWriter& node) {
  STRIA_ASSIGN(const std::string rule, node.string_attribute("update_rule", "gated_delta"));
  const bool gated = rule == "gated" || rule == "gated_delta";
  const bool delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear")
    return node.error(fmt::format("update_rule is '{}'", rule));
  STRIA_ASSIGN(const int64_t q_heads, node.integer_attribute("q_num_heads", 0));
  STRIA_ASSIGN(const int64_t heads, node.integer_attribute("kv_num_heads", 0));
  if (heads < 1 || q_heads < 1 || q_heads % heads != 0)
    return node.error(fmt::format("{} heads of queries, {} of keys", q_heads, heads));
  if (!node.has(0)) return node.error("input 0 is missing");
  const DataType type = node.type(0).type;
  STRIA_ASSIGN(const std::string q, token_heads(node, 0, q_heads, type));
  STRIA_ASSIGN(const std::string k, token_heads(node, 1, heads, type));
  STRIA_ASSIGN(const std::string v, token_heads(node, 2, heads, type));
  const int64_t batch = node.size(0, 0), tokens = node.size(0, 1);
  const int64_t size = node.size(1, 2) / heads, v_size = node.size(2, 2) / heads;
  if (node.size(0, 2) != q_heads * size)
    return node.error(
        fmt::format("queries of {} elements, keys of {}", node.size(0, 2) / q_heads, size));
  if (tokens < 1 || tokens > kMostTokens)
    return node.not_supported(fmt::format("{} tokens; 1 to {}", tokens, kMostTokens));
  STRIA_ASSIGN(float scale, node.float_attribute("scale", 0));
  const double by = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(size));
  const Sizes state_sizes = {batch, heads, size, v_size};
  const Forms all = {"b", "h", "d", "e"};
  std::string decay, beta;
  bool decay_of_each = false;
  if (gated) {
    STRIA_ASSIGN(decay, token_heads(node, 4, heads, type));
    decay_of_each = node.size(4, 2) != heads;
    decay = node.let(fmt::format("exp({})", decay));
  }
  int64_t beta_heads = 1;
  if (delta) {
    if (!node.has(5)) return node.error("input 5 is missing");
    beta_heads = node.rank(5) == 3 ? node.size(5, 2) : 0;
    if (beta_heads != 1 && beta_heads != heads)
      return node.error(fmt::format("{} update rates for {} heads", beta_heads, heads));
    STRIA_ASSIGN(beta, token_heads(node, 5, beta_heads, type));
  }
  std::string state;
  if (node.has(3)) {
    STRIA_ASSIGN(const std::string past, node.tensor(3));
    if (node.type(3).sizes != state_sizes) return node.error("past_state has other sizes");
    state = node.let(wide(past, node.type(3).type));
  } else {
    const std::string like =
        contract(node, '=', all, state_sizes, fmt::format("{}[b, 0, h, d]", k));
    state = node.let(fmt::format("0 ? {} : 0", like));
  }
  const int64_t group = q_heads / heads;
  const std::string head = group == 1 ? "h" : affine({{group, "h"}, {1, "r"}}, 0);
  const Forms in_group = group == 1 ? Forms{} : Forms{fmt::format("r < {}", group)};
  std::string out;
  for (int64_t t = 0; t < tokens; ++t) {
    if (gated) {
      const std::string factor =
          contract(node, '=', {"b", "h", decay_of_each ? "d" : "0", "0"},
                   {batch, heads, decay_of_each ? size : 1, 1},
                   fmt::format("{}[b, {}, h, {}]", decay, t, decay_of_each ? "d" : "0"));
      state = node.let(fmt::format("{} * {}", factor, state));
    }
    std::string value = contract(node, '=', {"b", "h", "e"}, {batch, heads, v_size},
                                 fmt::format("{}[b, {}, h, e]", v, t));
    if (delta) {
      const std::string seen =
          contract(node, '+', {"b", "h", "e"}, {batch, heads, v_size},
                   fmt::format("{}[b, h, d, e] * {}[b, {}, h, d]", state, k, t));
      const std::string rate =
          contract(node, '=', {"b", "h", "0"}, {batch, heads, 1},
                   fmt::format("{}[b, {}, {}, 0]", beta, t, beta_heads == 1 ? "0" : "h"));
      value = node.let(fmt::format("{} * ({} - {})", rate, value, seen));
    }
    const std::string outer = contract(node, '+', all, state_sizes,
                                       fmt::format("{}[b, {}, h, d] * {}[b, h, e]", k, t, value));
    state = node.let(fmt::format("{} + {}", state, outer));
    const std::string read =
        contract(node, '+', {"b", head, "e"}, {batch, q_heads, v_size},
                 fmt::format("{}[b, {}, {}, d] * {}[b, h, d, e]", q, t, head, state), in_group);
    out = contract(node, '=', {"b", fmt::format("{}", t), "h", "e"},
                   {batch, tokens, q_heads, v_size}, read + "[b, h, e]", {}, out);
  }
  const std::string scaled = node.let(fmt::format("{} * {}", out, literal(by)));
  STRIA_RETURN_IF_ERROR(
      node.result(0, narrow(reshaped(scaled, {batch, tokens, q_heads * v_size}), type)));
  return node.result(1, narrow(state, type));
}

Status causal_convolution(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string w, node.tensor(1));
  STRIA_ASSIGN(const std::string activation, node.string_attribute("activation", "none"));
  if (activation != "none" && activation != "silu" && activation != "swish")
    return node.error(fmt::format("activation is '{}'", activation));
  const Sizes &sizes = node.type(0).sizes, &weights = node.type(1).sizes;
  if (sizes.size() != 3 || weights.size() != 3 || weights[0] != sizes[1] || weights[1] != 1 ||
      weights[2] < 1)
    return node.error("its input or its weights have other sizes");
  const int64_t kernel = weights[2], before = kernel - 1;
  const Sizes state_sizes = {sizes[0], sizes[1], before};
  // The input behind what came before it; without that, the convolution's bounds leave it out.
  int64_t shift = before;
  std::string padded = x;
  if (node.has(3) && before > 0) {
    STRIA_ASSIGN(const std::string past, node.tensor(3));
    if (node.type(3).sizes != state_sizes) return node.error("past_state has other sizes");
    const Sizes whole = {sizes[0], sizes[1], sizes[2] + before};
    const std::string front = contract(node, '=', {"n", "c", "i"}, whole, past + "[n, c, i]");
    padded = contract(node, '=', {"n", "c", affine({{1, "i"}}, before)}, whole, x + "[n, c, i]", {},
                      front);
    shift = 0;
  }
  std::string out = contract(
      node, '+', {"n", "c", "i"}, sizes,
      fmt::format("{}[n, c, {}] * {}[c, 0, k]", padded, affine({{1, "i"}, {1, "k"}}, -shift), w));
  if (node.has(2)) {
    STRIA_ASSIGN(const std::string bias, node.tensor(2));
    out = node.let(fmt::format("{} + {}", out, reshaped(bias, {1, sizes[1], 1})));
  }
  STRIA_RETURN_IF_ERROR(
      node.result(0, activation == "none" ? out : fmt::format("{0} * sigmoid({0})", out)));
  if (!node.wants(1)) return {};
  // The last elements; zeros where there were none.
  return node.result(
      1, contract(node, '=', {"n", "c", "i"}, state_sizes,
                  fmt::format("{}[n, c, {}]", padded, affine({{1, "i"}}, sizes[2] - shift))));
}

}  // namespace stria::onnx::operators
