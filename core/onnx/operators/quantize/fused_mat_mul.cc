// SPDX-License-Identifier: Apache-2.0
// com.microsoft's products of matrices: FusedMatMul, once called TransposeMatMul, MatMulNBits and
// DynamicQuantizeMatMul.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/operators/quantize/product.h"
#include "stria/onnx/operators/quantize/quantization.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/operators/types/conversion.h"

namespace stria::onnx::operators {
namespace {

// The zero points of MatMulNBits as numbers of fp32, [columns * blocks, 1]: packed as the weights
// are, one row for each column, or numbers of the scales' type.
Result<std::string> zero_points_of(NodeWriter& node, int64_t columns, int64_t blocks,
                                   int64_t bits) {
  if (!node.has(3)) return number(static_cast<double>(int64_t{1} << (bits - 1)));
  STRIA_ASSIGN(const std::string own, node.tensor(3));
  if (is_float(node.type(3).type))
    return node.let(stria::onnx::cast(reshaped(own, {columns * blocks, 1}), DataType::fp32));
  const int64_t bytes = (blocks * bits + 7) / 8;
  STRIA_ASSIGN(const std::string all, unpacked(node, own, columns, bytes, bits));
  const std::string inside = node.fresh();
  node.line(fmt::format("{}[n, b : {}, {}] = =({}[n, b]);", inside, columns, blocks, all));
  return node.let(stria::onnx::cast(reshaped(inside, {columns * blocks, 1}), DataType::fp32));
}

// A tensor whose first dimension is one of its matrices', with that behind the batches.
Sized batches_in_front(NodeWriter& node, const Sized& of) {
  const size_t rank = of.sizes.size();
  if (rank < 3) return of;
  const Forms from = indices("i", rank);
  Forms to(from.begin() + 1, from.end());
  to.insert(to.end() - 1, from[0]);
  Sizes sizes(of.sizes.begin() + 1, of.sizes.end());
  sizes.insert(sizes.end() - 1, of.sizes[0]);
  return {contract(node, '=', to, sizes, access(of.name, from)), sizes};
}

}  // namespace

Status fused_mat_mul(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  STRIA_ASSIGN(const float alpha, node.float_attribute("alpha", 1));
  STRIA_ASSIGN(const int64_t transpose_a, node.integer_attribute("transA", 0));
  STRIA_ASSIGN(const int64_t transpose_b, node.integer_attribute("transB", 0));
  STRIA_ASSIGN(const int64_t batches_a, node.integer_attribute("transBatchA", 0));
  STRIA_ASSIGN(const int64_t batches_b, node.integer_attribute("transBatchB", 0));
  Sized left{a, node.type(0).sizes}, right{b, node.type(1).sizes};
  if (batches_a) left = batches_in_front(node, left);
  if (batches_b) right = batches_in_front(node, right);
  STRIA_ASSIGN(const Sized product,
               product_of(node, left, right, transpose_a != 0, transpose_b != 0));
  return node.result(
      0, alpha == 1 ? product.name : fmt::format("{} * {}", product.name, number(alpha)));
}

// The weights are [columns, blocks, bytes of a block]; each block has a scale and a zero point.
Status mat_mul_n_bits(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  STRIA_ASSIGN(const std::string own_scales, node.tensor(2));
  STRIA_ASSIGN(const int64_t inner, node.integer_attribute("K", 0));
  STRIA_ASSIGN(const int64_t columns, node.integer_attribute("N", 0));
  STRIA_ASSIGN(const int64_t bits, node.integer_attribute("bits", 4));
  STRIA_ASSIGN(const int64_t block, node.integer_attribute("block_size", 0));
  if (bits != 2 && bits != 4 && bits != 8)
    return node.not_supported(fmt::format("weights of {} bits: 2, 4 or 8", bits));
  if (node.has(4)) return node.not_supported("input 4 ('g_idx')");
  if (inner < 1 || columns < 1 || block < 1 || block * bits % 8 != 0)
    return node.error(fmt::format("K {}, N {}, block_size {}", inner, columns, block));
  const int64_t blocks = (inner + block - 1) / block;
  std::vector<int64_t> sizes = node.type(0).sizes;
  int64_t bytes = 1, rows = 1;
  for (const int64_t size : node.type(1).sizes) bytes *= size;
  if (sizes.empty() || sizes.back() != inner || bytes != columns * blocks * block * bits / 8)
    return node.error(fmt::format("input 0 [{}] and input 1 [{}] do not fit K {} and N {}",
                                  fmt::join(sizes, ", "), fmt::join(node.type(1).sizes, ", "),
                                  inner, columns));
  for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  STRIA_ASSIGN(const std::string integers,
               unpacked(node, b, columns * blocks, block * bits / 8, bits));
  STRIA_ASSIGN(const std::string zero_points, zero_points_of(node, columns, blocks, bits));
  const std::string scales =
      node.let(stria::onnx::cast(reshaped(own_scales, {columns * blocks, 1}), DataType::fp32));
  const std::string weights = node.let(
      stria::onnx::cast(fmt::format("({} - {}) * {}", stria::onnx::cast(integers, DataType::fp32),
                                    zero_points, scales),
                        node.type(0).type));
  // The last block may go on behind the matrix.
  const std::string by_column = node.let(reshaped(weights, {columns, blocks * block}));
  const std::string by_row = node.let(reshaped(a, {rows, inner}));
  const std::string product = node.fresh();
  node.line(fmt::format("{}[m, n : {}, {}] = +({}[m, k] * {}[n, k]);", product, rows, columns,
                        by_row, by_column));
  sizes.back() = columns;
  std::string y = reshaped(product, sizes);
  if (node.has(5)) {
    STRIA_ASSIGN(const std::string bias, node.tensor(5));
    y = fmt::format("{} + {}", y, bias);
  }
  return node.result(0, y);
}

// Input 0 becomes u8 by its own range; then the product is one of integers.
Status dynamic_quantize_mat_mul(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b_scale, node.tensor(2));
  std::string b_zero;
  if (node.has(3)) {
    STRIA_ASSIGN(b_zero, node.tensor(3));
  }
  STRIA_ASSIGN(const DynamicRange range, dynamic_range(node, a, node.type(0).sizes));
  const std::string integers = node.let(
      saturated(node, rounded_quotient(node, a, range.scale), range.zero_point, ElementType::u8));
  const std::string moved =
      node.let(fmt::format("{} - {}", stria::onnx::cast(integers, DataType::i16),
                           stria::onnx::cast(range.zero_point, DataType::i16)));
  STRIA_ASSIGN(const std::string weights, centered(node, 1, b_zero));
  STRIA_ASSIGN(const Sized product,
               product_of(node, {moved, node.type(0).sizes}, {weights, node.type(1).sizes}));
  std::string y = fmt::format("{} * ({} * {})", stria::onnx::cast(product.name, DataType::fp32),
                              range.scale, b_scale);
  if (node.has(4)) {
    STRIA_ASSIGN(const std::string bias, node.tensor(4));
    y += " + " + bias;
  }
  return node.result(0, y);
}

}  // namespace stria::onnx::operators
