// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding, of the standard and of com.microsoft.
#include "stria/onnx/operators/attention/rotary.h"

#include <fmt/format.h>

#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

std::string rotated(NodeWriter& node, const Heads& x, int64_t batch, const Rotation& by) {
  const Sizes sizes = x.heads_first ? Sizes{batch, x.heads, x.length, x.size}
                                    : Sizes{batch, x.length, x.heads, x.size};
  // The first and the second element of pair p.
  const std::string first = by.interleaved ? "2 * p" : "p";
  const std::string second = by.interleaved ? "2 * p + 1" : affine({{1, "p"}}, by.half);
  // Elements that are not turned are 0 in each part.
  const std::string none = node.let("0");
  const auto product = [&](const std::string& element, const std::string& table,
                           const std::string& to) {
    return contract(node, '=', x.forms("h", "s", to), sizes,
                    fmt::format("{} * {}[b, s, p]", x.at("h", "s", element), table), {}, none);
  };
  std::string out = fmt::format("{} - {} + {} + {}", product(first, by.cosines, first),
                                product(second, by.sines, first), product(first, by.sines, second),
                                product(second, by.cosines, second));
  if (2 * by.half < x.size)
    out = fmt::format("index({0}, 3) < {1} ? {2} : {0}", x.tensor, 2 * by.half, out);
  return node.let(out);
}

namespace operators {
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

// How many elements of a head are turned.
Result<int64_t> turned_elements(NodeWriter& node, int64_t otherwise, int64_t size) {
  STRIA_ASSIGN(int64_t turned, node.integer_attribute("rotary_embedding_dim", 0));
  if (turned == 0) turned = otherwise;
  if (turned < 0 || turned > size || turned % 2 != 0)
    return node.error(fmt::format("{} of {} elements cannot be turned in pairs", turned, size));
  return turned;
}

}  // namespace

Status rotary_embedding(NodeWriter& node) {
  STRIA_ASSIGN(const int64_t heads, node.integer_attribute("num_heads", 0));
  STRIA_ASSIGN(const int64_t interleaved, node.integer_attribute("interleaved", 0));
  STRIA_ASSIGN(const Heads x, heads_of(node, 0, heads));
  STRIA_ASSIGN(const int64_t turned, turned_elements(node, x.size, x.size));
  const int64_t batch = node.size(0, 0);
  Rotation by{"", "", turned / 2, interleaved != 0};
  STRIA_ASSIGN(by.cosines, angles(node, 1, batch, x.length, by.half));
  STRIA_ASSIGN(by.sines, angles(node, 2, batch, x.length, by.half));
  return node.result(0, reshaped(rotated(node, x, batch, by), node.type(0).sizes));
}

// Inputs: input, positions (one to begin with, or one for each), cosines and sines by position.
Status rotary_embedding_of_microsoft(NodeWriter& node) {
  STRIA_ASSIGN(int64_t heads, node.integer_attribute("num_heads", 0));
  STRIA_ASSIGN(const int64_t interleaved, node.integer_attribute("interleaved", 0));
  STRIA_ASSIGN(const int64_t packed, node.integer_attribute("is_packed_batching", 0));
  STRIA_ASSIGN(const float scale, node.float_attribute("scale", 1));
  STRIA_ASSIGN(const std::string places, node.tensor(1));
  STRIA_ASSIGN(const std::string cosines, node.tensor(2));
  STRIA_ASSIGN(const std::string sines, node.tensor(3));
  if (packed) return node.not_supported("is_packed_batching");
  if (scale != 1) return node.not_supported(fmt::format("scale {}", scale));
  if (node.rank(2) != 2 || node.type(2).sizes != node.type(3).sizes)
    return node.error("cosines and sines are not two tables of the same sizes");
  const int64_t half = node.size(2, 1);
  // The tables are for whole heads unless the node says how many there are.
  if (heads == 0 && node.rank(0) == 3 && half > 0) heads = node.size(0, 2) / (2 * half);
  STRIA_ASSIGN(const Heads x, heads_of(node, 0, heads));
  STRIA_ASSIGN(const int64_t turned, turned_elements(node, 2 * half, x.size));
  if (turned != 2 * half)
    return node.error(fmt::format("tables of {} angles for {} elements", half, turned));
  const int64_t batch = node.size(0, 0);
  std::string all = places;
  if (element_count(node.type(1).sizes) == 1) {
    const std::string ones = contract(node, '=', {"b", "s"}, {batch, x.length},
                                      fmt::format("{}[0]", node.let(reshaped(places, {1}))));
    all = node.let(fmt::format("{0} + index({0}, 1)", ones));
  } else if (node.type(1).sizes != Sizes{batch, x.length}) {
    return node.error(fmt::format("position_ids are not [{}, {}]", batch, x.length));
  }
  const Rotation by{node.let(fmt::format("gather({}, {})", cosines, all)),
                    node.let(fmt::format("gather({}, {})", sines, all)), half, interleaved != 0};
  return node.result(0, reshaped(rotated(node, x, batch, by), node.type(0).sizes));
}

}  // namespace operators
}  // namespace stria::onnx
