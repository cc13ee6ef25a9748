// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding: pairs of elements are turned by the angle of their position.
#include <fmt/format.h>

#include "stria/onnx/operators/attention/products.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// The cosines or sines of input `i`, for each position of each image: [batch, length, half].
Result<std::string> angles(NodeWriter& node, int i, int64_t batch, int64_t length, int64_t half) {
  STRIA_ASSIGN(const std::string table, node.tensor(i));
  const int rank = node.has(3) ? 2 : 3;
  if (node.rank(i) != rank || node.size(i, rank - 1) != half)
    return node.error(
        fmt::format("input {} has no {} elements in the last of {} dimensions", i, half, rank));
  if (!node.has(3)) return table;
  STRIA_ASSIGN(const std::string places, node.tensor(3));
  if (node.type(3).sizes != Sizes{batch, length})
    return node.error(fmt::format("position_ids are not [{}, {}]", batch, length));
  return node.let(fmt::format("gather({}, {})", table, places));
}

}  // namespace

Status rotary_embedding(NodeWriter& node) {
  STRIA_ASSIGN(const int64_t heads, node.integer_attribute("num_heads", 0));
  STRIA_ASSIGN(const int64_t interleaved, node.integer_attribute("interleaved", 0));
  STRIA_ASSIGN(int64_t turned, node.integer_attribute("rotary_embedding_dim", 0));
  STRIA_ASSIGN(const Heads x, heads_of(node, 0, heads));
  if (turned == 0) turned = x.size;
  if (turned < 0 || turned > x.size || turned % 2 != 0)
    return node.error(fmt::format("{} of {} elements cannot be turned in pairs", turned, x.size));
  const int64_t half = turned / 2, batch = node.size(0, 0);
  const Sizes sizes = x.heads_first ? Sizes{batch, x.heads, x.length, x.size}
                                    : Sizes{batch, x.length, x.heads, x.size};
  STRIA_ASSIGN(const std::string cosines, angles(node, 1, batch, x.length, half));
  STRIA_ASSIGN(const std::string sines, angles(node, 2, batch, x.length, half));
  // The first and the second element of pair p.
  const std::string first = interleaved ? "2 * p" : "p";
  const std::string second = interleaved ? "2 * p + 1" : affine({{1, "p"}}, half);
  const auto product = [&](const std::string& element, const std::string& table,
                           const std::string& to) {
    return contract(node, '=', x.forms("h", "s", to), sizes,
                    fmt::format("{} * {}[b, s, p]", x.at("h", "s", element), table));
  };
  // Elements that are not turned are left 0 in each part.
  std::string out = fmt::format("{} - {} + {} + {}", product(first, cosines, first),
                                product(second, sines, first), product(first, sines, second),
                                product(second, cosines, second));
  if (turned < x.size) {
    out = fmt::format("index({0}, 3) < {1} ? {2} : {0}", x.tensor, turned, out);
  }
  out = node.let(out);
  return node.result(0, reshaped(out, node.type(0).sizes));
}

}  // namespace stria::onnx::operators
