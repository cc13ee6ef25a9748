// SPDX-License-Identifier: Apache-2.0
// The products and the softmax that attention of all kinds is made of. Query heads share the key
// heads in groups that lie behind each other.
#pragma once

#include <string>
#include <string_view>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {

// Queries, keys or values: a tensor of 4 dimensions, the batch and the element first and last.
struct Heads {
  std::string tensor;
  int64_t heads = 0, length = 0, size = 0;
  bool heads_first = true;  // [batch, heads, length, size]; else [batch, length, heads, size]
  std::string at(const std::string& head, const std::string& place,
                 const std::string& element) const;
  Forms forms(const std::string& head, const std::string& place, const std::string& element) const;
};

// Input `i` with 4 dimensions, or with 3, the last of which holds `heads` heads, of which
// `attribute` says how many.
Result<Heads> heads_of(NodeWriter& node, int i, int64_t heads,
                       std::string_view attribute = "num_heads");
// `past` in front of `now`, as [batch, heads, length, size].
Heads appended(NodeWriter& node, int64_t batch, const Heads& past, const Heads& now);

struct AttentionSizes {
  int64_t batch = 0;
  Heads q, k, v;
  int64_t group() const { return q.heads / k.heads; }
};
// invalid_argument if they do not fit each other.
Status check_attention(NodeWriter& node, const AttentionSizes& of);
// Q times K, times `scale`: [batch, heads of q, length of q, length of k], in the inputs' type.
std::string attention_scores(NodeWriter& node, const AttentionSizes& of, double scale,
                             DataType type);
// The softmax of each row, with 0 in a row that is -inf throughout. An expression.
std::string attention_softmax(NodeWriter& node, const AttentionSizes& of,
                              const std::string& scores);
// The sums of the values: [batch, heads, length, size], or `packed` [batch, length, heads * size].
std::string attention_values(NodeWriter& node, const AttentionSizes& of,
                             const std::string& probabilities, bool packed);

}  // namespace stria::onnx
