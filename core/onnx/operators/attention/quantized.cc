// SPDX-License-Identifier: Apache-2.0
// QAttention of com.microsoft: what ONNX Runtime's quantizer makes of Attention. Queries, keys and
// values come of a product of small integers; behind it all are floats.
#include <fmt/format.h>

#include "stria/onnx/operators/attention/microsoft.h"
#include "stria/onnx/operators/quantize/product.h"
#include "stria/onnx/operators/quantize/quantization.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// Input `i`, a scale or a zero point: one, or one for each column.
Result<std::string> by_columns(NodeWriter& node, int i, int64_t columns) {
  STRIA_ASSIGN(const std::string own, node.tensor(i));
  const int64_t count = element_count(node.type(i).sizes);
  if (node.rank(i) > 1 || (count != 1 && count != columns))
    return node.error(fmt::format("input {} has {} elements, not 1 or {}", i, count, columns));
  return count == 1 ? node.let(reshaped(own, {})) : own;
}

Result<std::string> whole_numbers(NodeWriter& node, int i, int zero_point, int64_t columns) {
  std::string zero;
  if (node.has(zero_point)) {
    STRIA_ASSIGN(zero, by_columns(node, zero_point, columns));
  }
  return centered(node, i, zero);
}

}  // namespace

// Inputs: input, weights, bias, their scales, mask, their zero points, past. Outputs: output,
// present.
Status quantized_attention(NodeWriter& node) {
  STRIA_ASSIGN(const HiddenSizes hidden, hidden_sizes(node));
  const int64_t columns = node.size(1, 1);
  STRIA_ASSIGN(const std::string x_scale, by_columns(node, 3, 1));
  STRIA_ASSIGN(const std::string w_scale, by_columns(node, 4, columns));
  STRIA_ASSIGN(const std::string x, whole_numbers(node, 0, 6, 1));
  STRIA_ASSIGN(const std::string w, whole_numbers(node, 1, 7, columns));
  STRIA_ASSIGN(const Sized sum, product_of(node, {x, node.type(0).sizes}, {w, node.type(1).sizes}));
  const DataType type = node.type(3).type;
  std::string all = node.let(fmt::format(
      "{} * ({} * {})",
      stria::onnx::cast(stria::onnx::cast(sum.name, DataType::i32), DataType::fp32),
      stria::onnx::cast(x_scale, DataType::fp32), stria::onnx::cast(w_scale, DataType::fp32)));
  if (node.has(2)) {
    STRIA_ASSIGN(const std::string bias, node.tensor(2));
    if (node.type(2).sizes != Sizes{columns})
      return node.error(fmt::format("its bias has not the sizes [{}]", columns));
    all = node.let(fmt::format("{} + {}", all, stria::onnx::cast(bias, DataType::fp32)));
  }
  if (type != DataType::fp32) all = node.let(stria::onnx::cast(all, type));
  // It has no bias of the scores.
  return self_attention(node, {all, type, hidden, 5, 8, node.input_count()});
}

}  // namespace stria::onnx::operators
