// SPDX-License-Identifier: Apache-2.0
// com.microsoft's products of matrices: FusedMatMul, MatMulNBits and DynamicQuantizeMatMul.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/quantize/product.h"
#include "stria/onnx/operators/quantize/quantization.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/operators/types/conversion.h"

namespace stria::onnx::operators {
namespace {

// Integers of `bits` bits that bytes hold, the first in the lowest bits, along the last dimension:
// [rows, bytes] as [rows, bytes * 8 / bits].
Result<std::string> unpacked(NodeWriter& node, const std::string& bytes, int64_t rows,
                             int64_t count, int64_t bits) {
  if (bits == 8) return node.let(reshaped(bytes, {rows, count}));
  std::vector<uint8_t> shifts;
  for (int64_t shift = 0; shift < 8; shift += bits) shifts.push_back(static_cast<uint8_t>(shift));
  const auto each = static_cast<int64_t>(shifts.size());
  STRIA_ASSIGN(const std::string places, table(node, shifts, {1, 1, each}));
  const std::string column = node.let(reshaped(bytes, {rows, count, 1}));
  const std::string parts =
      node.let(fmt::format("({} >> {}) & {}", column, places, (1 << bits) - 1));
  return node.let(reshaped(parts, {rows, count * each}));
}

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

}  // namespace

Status fused_mat_mul(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  STRIA_ASSIGN(const float alpha, node.float_attribute("alpha", 1));
  STRIA_ASSIGN(const int64_t transpose_a, node.integer_attribute("transA", 0));
  STRIA_ASSIGN(const int64_t transpose_b, node.integer_attribute("transB", 0));
  for (const std::string_view name : {"transBatchA", "transBatchB"}) {
    STRIA_ASSIGN(const int64_t batch, node.integer_attribute(name, 0));
    if (batch) return node.not_supported(fmt::format("attribute '{}'", name));
  }
  STRIA_ASSIGN(const Sized product,
               product_of(node, {a, node.type(0).sizes}, {b, node.type(1).sizes}, transpose_a != 0,
                          transpose_b != 0));
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
