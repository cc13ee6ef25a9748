// SPDX-License-Identifier: Apache-2.0
// MatMulBnb4 of com.microsoft: a product with weights of 4 bits as bitsandbytes makes them, which
// are places in a table of 16 numbers, times a scale for each block.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/quantize/product.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

// A sign, and three bits of which the table has no order.
const std::vector<float> kFloats = {
    0.0F,  0.0052083333F,  0.6666667F,  1.0F,  0.33333334F,  0.5F,  0.16666667F,  0.25F,
    -0.0F, -0.0052083333F, -0.6666667F, -1.0F, -0.33333334F, -0.5F, -0.16666667F, -0.25F};
// Where as many numbers of a normal distribution lie between each two.
const std::vector<float> kNormal = {-1.0F,        -0.6961928F,  -0.52507305F, -0.3949175F,
                                    -0.28444138F, -0.18477343F, -0.09105004F, 0.0F,
                                    0.0795803F,   0.1609302F,   0.2461123F,   0.33791524F,
                                    0.44070983F,  0.562617F,    0.72295684F,  1.0F};

}  // namespace

Status mat_mul_bnb4(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string bytes, node.tensor(1));
  STRIA_ASSIGN(const std::string scales, node.tensor(2));
  STRIA_ASSIGN(const int64_t inner, node.integer_attribute("K", 0));
  STRIA_ASSIGN(const int64_t columns, node.integer_attribute("N", 0));
  STRIA_ASSIGN(const int64_t block, node.integer_attribute("block_size", 0));
  STRIA_ASSIGN(const int64_t kind, node.integer_attribute("quant_type", -1));
  STRIA_ASSIGN(const int64_t turned, node.integer_attribute("transB", 1));
  if (kind != 0 && kind != 1) return node.error(fmt::format("quant_type is {}, not 0 or 1", kind));
  if (block < 16 || !std::has_single_bit(static_cast<uint64_t>(block)))
    return node.error(fmt::format("block_size is {}, no power of 2 from 16 on", block));
  constexpr int64_t kMost = 0x7fffffff;
  const int64_t blocks = element_count(node.type(2).sizes);
  if (inner < 1 || columns < 1 || inner > kMost || columns > kMost ||
      element_count(node.type(1).sizes) != (inner * columns + 1) / 2 ||
      blocks != (inner * columns - 1) / block + 1)
    return node.error(fmt::format("{} bytes and {} scales for K {}, N {} and block_size {}",
                                  element_count(node.type(1).sizes), blocks, inner, columns,
                                  block));
  const int64_t count = inner * columns, pairs = (count + 1) / 2;
  STRIA_ASSIGN(const std::string numbers, table(node, kind == 0 ? kFloats : kNormal, {16}));
  // The upper bits come first.
  STRIA_ASSIGN(const std::string shifts, table(node, std::vector<uint8_t>{4, 0}, {1, 2}));
  const std::string places =
      node.let(fmt::format("({} >> {}) & 15", node.let(reshaped(bytes, {pairs, 1})), shifts));
  const std::string flat = node.let(reshaped(places, {2 * pairs}));
  // The last byte and the last block may go on behind the weights.
  const std::string all =
      count == 2 * pairs ? flat : contract(node, '=', {"e"}, {count}, access(flat, {"e"}));
  const std::string each = node.let(reshaped(scales, {blocks}));
  const std::string block_of =
      node.let(fmt::format("index({}, 0) / {}", all, std::min(block, count)));
  const DataType type = node.type(0).type;
  const std::string weights = node.let(reshaped(
      node.let(stria::onnx::cast(
          fmt::format(
              "gather({}, {}) * {}", numbers, all,
              stria::onnx::cast(fmt::format("gather({}, {})", each, block_of), DataType::fp32)),
          type)),
      {columns, inner}));
  STRIA_ASSIGN(const Sized product, product_of(node, {a, node.type(0).sizes},
                                               {weights, {columns, inner}}, false, turned != 0));
  return node.result(0, product.name);
}

}  // namespace stria::onnx::operators
