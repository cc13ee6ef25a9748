// SPDX-License-Identifier: Apache-2.0
// MatMulInteger, QLinearMatMul, QGemm, ConvInteger and QLinearConv: sums of products of small
// integers in 32 bits, and back to small integers by a scale; and MulInteger.
#include <fmt/format.h>

#include "stria/onnx/operators/quantize/product.h"
#include "stria/onnx/operators/quantize/q_linear.h"
#include "stria/onnx/operators/quantize/quantization.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/operators/types/conversion.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx::operators {
namespace {

// Input `i` of a product, a scale or a zero point: one, or one for each row or column.
Result<std::string> by_lines(NodeWriter& node, int i, bool rows) {
  STRIA_ASSIGN(const std::string own, node.tensor(i));
  const std::vector<int64_t>& sizes = node.type(i).sizes;
  if (sizes.size() != 1) return own;
  if (sizes[0] == 1) return node.let(reshaped(own, {}));
  return rows ? node.let(reshaped(own, {sizes[0], 1})) : own;
}

Result<Sized> centered_by_lines(NodeWriter& node, int i, int zero_point, bool rows) {
  std::string lines;
  if (node.has(zero_point)) {
    STRIA_ASSIGN(lines, by_lines(node, zero_point, rows));
  }
  STRIA_ASSIGN(const std::string name, centered(node, i, lines));
  return Sized{name, node.type(i).sizes};
}

// Of weights, for each output channel, in the sizes that broadcast to a tensor of `rank` whose
// channels are dimension `axis`.
Result<std::string> by_channels(NodeWriter& node, int i, size_t rank, size_t axis) {
  STRIA_ASSIGN(const std::string own, node.tensor(i));
  const std::vector<int64_t>& sizes = node.type(i).sizes;
  if (sizes.empty()) return own;
  if (sizes.size() != 1)
    return node.error(fmt::format("input {} has rank {}, not 0 or 1", i, sizes.size()));
  if (sizes[0] == 1) return node.let(reshaped(own, {}));
  std::vector<int64_t> spread_sizes(rank, 1);
  spread_sizes[axis] = sizes[0];
  return node.let(reshaped(own, spread_sizes));
}

Result<Sized> integer_convolution(NodeWriter& node, int x, int x_zero, int w, int w_zero,
                                  bool channels_last = false) {
  if (!node.has(x) || !node.has(w)) return node.error("an input is missing");
  if (node.rank(x) < 3 || node.rank(w) < 3)
    return node.error(
        fmt::format("an input of rank {} with weights of rank {}", node.rank(x), node.rank(w)));
  std::string of_x, of_w;
  if (node.has(x_zero)) {
    const size_t rank = node.type(x).sizes.size();
    STRIA_ASSIGN(of_x, by_channels(node, x_zero, rank, channels_last ? rank - 1 : 1));
  }
  if (node.has(w_zero)) {
    STRIA_ASSIGN(of_w, by_channels(node, w_zero, node.type(w).sizes.size(), 0));
  }
  STRIA_ASSIGN(const std::string from, centered(node, x, of_x));
  STRIA_ASSIGN(const std::string kernel, centered(node, w, of_w));
  return convolution_of(node, {from, node.type(x).sizes}, {kernel, node.type(w).sizes},
                        channels_last);
}

// The sum in the scale of the result.
Status scaled_result(NodeWriter& node, const std::string& sum, const std::string& scale,
                     const std::string& result_scale, const std::string& zero_point,
                     ElementType type) {
  const std::string real =
      node.let(fmt::format("{} * ({} / {})", stria::onnx::cast(sum, DataType::fp32), scale,
                           stria::onnx::cast(result_scale, DataType::fp32)));
  return node.result(0, saturated(node, fmt::format("round({})", real), zero_point, type), type);
}

std::string scales(const std::string& a, const std::string& b) {
  return fmt::format("{} * {}", stria::onnx::cast(a, DataType::fp32),
                     stria::onnx::cast(b, DataType::fp32));
}

}  // namespace

// com.microsoft's, of 16 bits: without zero points, summed in 32.
Status mat_mul_integer_16(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  const auto wide = [&](const std::string& of) {
    return node.let(stria::onnx::cast(of, DataType::i32));
  };
  STRIA_ASSIGN(const Sized sum,
               product_of(node, {wide(a), node.type(0).sizes}, {wide(b), node.type(1).sizes}));
  const bool positive =
      is_unsigned_integer(node.type(0).type) && is_unsigned_integer(node.type(1).type);
  return node.result(0, stria::onnx::cast(sum.name, positive ? DataType::u32 : DataType::i32));
}

// com.microsoft's: element by element. Each operand's zero point stands behind it.
Status multiply_integers(NodeWriter& node) {
  std::string factors[2];
  for (int k = 0; k < 2; ++k) {
    STRIA_ASSIGN(const std::string x, node.tensor(2 * k));
    factors[k] = stria::onnx::cast(x, DataType::i32);
    if (!node.has(2 * k + 1)) continue;
    STRIA_ASSIGN(const std::string zero, scalar_of(node, 2 * k + 1));
    factors[k] = fmt::format("({} - {})", factors[k], stria::onnx::cast(zero, DataType::i32));
  }
  return node.result(0, factors[0] + " * " + factors[1]);
}

Status mat_mul_integer(NodeWriter& node) {
  STRIA_ASSIGN(const Sized a, centered_by_lines(node, 0, 2, true));
  STRIA_ASSIGN(const Sized b, centered_by_lines(node, 1, 3, false));
  STRIA_ASSIGN(const Sized sum, product_of(node, a, b));
  return node.result(0, stria::onnx::cast(sum.name, DataType::i32));
}

// The sum of integers, times both scales, and a bias: floats.
Status mat_mul_integer_to_float(NodeWriter& node) {
  STRIA_ASSIGN(const Sized a, centered_by_lines(node, 0, 4, true));
  STRIA_ASSIGN(const Sized b, centered_by_lines(node, 1, 5, false));
  STRIA_ASSIGN(const std::string a_scale, by_lines(node, 2, true));
  STRIA_ASSIGN(const std::string b_scale, by_lines(node, 3, false));
  STRIA_ASSIGN(const Sized sum, product_of(node, a, b));
  const DataType type = node.type(2).type;
  std::string y = fmt::format(
      "{} * ({})", stria::onnx::cast(stria::onnx::cast(sum.name, DataType::i32), DataType::fp32),
      scales(a_scale, b_scale));
  if (node.has(6)) {
    STRIA_ASSIGN(const std::string bias, node.tensor(6));
    y += " + " + bias;
  }
  return node.result(0, stria::onnx::cast(y, type));
}

Status q_linear_mat_mul(NodeWriter& node) {
  STRIA_ASSIGN(const Sized a, centered_by_lines(node, 0, 2, true));
  STRIA_ASSIGN(const Sized b, centered_by_lines(node, 3, 5, false));
  STRIA_ASSIGN(const std::string a_scale, by_lines(node, 1, true));
  STRIA_ASSIGN(const std::string b_scale, by_lines(node, 4, false));
  STRIA_ASSIGN(const std::string y_scale, by_lines(node, 6, true));
  STRIA_ASSIGN(const std::string y_zero, by_lines(node, 7, true));
  STRIA_ASSIGN(const Sized product, product_of(node, a, b));
  const std::string sum = node.let(stria::onnx::cast(product.name, DataType::i32));
  return scaled_result(node, sum, scales(a_scale, b_scale), y_scale, y_zero, node.element(7));
}

// com.microsoft's Gemm: C is of integers in the scale of the product. With a scale of the result
// that gives small integers, else floats.
Status q_gemm(NodeWriter& node) {
  STRIA_ASSIGN(const float alpha, node.float_attribute("alpha", 1));
  STRIA_ASSIGN(const int64_t turn_a, node.integer_attribute("transA", 0));
  STRIA_ASSIGN(const int64_t turn_b, node.integer_attribute("transB", 0));
  if (!node.has(1) || !node.has(4)) return node.error("a scale is missing");
  STRIA_ASSIGN(const Sized a, centered_by_lines(node, 0, 2, true));
  // The columns of the product are the rows of a matrix that is transposed.
  STRIA_ASSIGN(const Sized b, centered_by_lines(node, 3, 5, turn_b != 0));
  STRIA_ASSIGN(const std::string a_scale, by_lines(node, 1, true));
  STRIA_ASSIGN(const std::string b_scale, by_lines(node, 4, false));
  STRIA_ASSIGN(const Sized product, product_of(node, a, b, turn_a != 0, turn_b != 0));
  std::string sum = node.let(stria::onnx::cast(product.name, DataType::i32));
  if (node.has(6)) {
    STRIA_ASSIGN(const std::string c, node.tensor(6));
    sum = node.let(fmt::format("{} + {}", sum, c));
  }
  std::string scale = scales(a_scale, b_scale);
  if (alpha != 1) scale = fmt::format("{} * {}", scale, number(alpha));
  if (!node.has(7))
    return node.result(0, fmt::format("{} * ({})", stria::onnx::cast(sum, DataType::fp32), scale));
  STRIA_ASSIGN(const std::string y_scale, by_lines(node, 7, true));
  std::string y_zero;
  if (node.has(8)) {
    STRIA_ASSIGN(y_zero, by_lines(node, 8, true));
  }
  return scaled_result(node, sum, scale, y_scale, y_zero,
                       node.has(8) ? node.element(8) : node.element(0));
}

Status conv_integer(NodeWriter& node) {
  STRIA_ASSIGN(const Sized sum, integer_convolution(node, 0, 2, 1, 3));
  return node.result(0, stria::onnx::cast(sum.name, DataType::i32));
}

// com.microsoft's may have its channels last, those of the weights apart.
Status q_linear_conv(NodeWriter& node) {
  STRIA_ASSIGN(const int64_t last, node.integer_attribute("channels_last", 0));
  STRIA_ASSIGN(const Sized product, integer_convolution(node, 0, 2, 3, 5, last != 0));
  const size_t rank = product.sizes.size(), axis = last ? rank - 1 : 1;
  STRIA_ASSIGN(const std::string x_scale, by_channels(node, 1, rank, axis));
  STRIA_ASSIGN(const std::string w_scale, by_channels(node, 4, rank, axis));
  STRIA_ASSIGN(const std::string y_scale, by_channels(node, 6, rank, axis));
  STRIA_ASSIGN(const std::string y_zero, by_channels(node, 7, rank, axis));
  std::string sum = node.let(stria::onnx::cast(product.name, DataType::i32));
  if (node.has(8)) {
    STRIA_ASSIGN(const std::string bias, by_channels(node, 8, rank, axis));
    sum = node.let(fmt::format("{} + {}", sum, bias));
  }
  return scaled_result(node, sum, scales(x_scale, w_scale), y_scale, y_zero, node.element(7));
}

}  // namespace stria::onnx::operators
