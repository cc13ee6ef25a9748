// SPDX-License-Identifier: Apache-2.0
// What com.microsoft's attentions do behind the product that makes their queries, keys and values.
#pragma once

#include <string>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {

// Of queries, keys and values, as attributes and the columns of the weights, input 1, say.
struct HiddenSizes {
  int64_t heads = 0, q = 0, k = 0, v = 0;
};
Result<HiddenSizes> hidden_sizes(NodeWriter& node);

struct SelfAttention {
  std::string columns;  // [batch, length, q + k + v]
  DataType type = DataType::fp32;
  HiddenSizes hidden;
  int mask = 0, past = 0, bias = 0;  // inputs; the bias is of the scores
};
// Results 0 and 1: output, present.
Status self_attention(NodeWriter& node, const SelfAttention& self);

}  // namespace stria::onnx
