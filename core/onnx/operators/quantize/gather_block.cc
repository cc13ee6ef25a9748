// SPDX-License-Identifier: Apache-2.0
// GatherBlockQuantized of com.microsoft: rows of a table of small integers, as the numbers they
// stand for. The rows are taken first: the table is large.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/operators/quantize/quantization.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/operators/types/conversion.h"

namespace stria::onnx::operators {

Status gather_block_quantized(NodeWriter& node) {
  STRIA_ASSIGN(const std::string data, node.tensor(0));
  STRIA_ASSIGN(const std::string places, node.tensor(1));
  STRIA_ASSIGN(const std::string scales, node.tensor(2));
  STRIA_ASSIGN(const int64_t bits, node.integer_attribute("bits", 4));
  STRIA_ASSIGN(const int64_t block, node.integer_attribute("block_size", 128));
  STRIA_ASSIGN(const int64_t gathered, node.integer_attribute("gather_axis", 0));
  STRIA_ASSIGN(const int64_t quantized, node.integer_attribute("quantize_axis", 1));
  if (node.rank(0) != 2 || gathered != 0 || (quantized != 1 && quantized != -1))
    return node.not_supported(
        fmt::format("a table of {} dimensions, gathered along axis {} and quantized along {}",
                    node.rank(0), gathered, quantized));
  if (bits != 2 && bits != 4 && bits != 8)
    return node.not_supported(fmt::format("numbers of {} bits: 2, 4 or 8", bits));
  // Bytes hold several numbers; types of 4 bits hold one.
  const bool bytes_hold = node.element(0) == ElementType::u8;
  const bool packed = bytes_hold && bits < 8;
  const int64_t held = packed ? 8 / bits : 1, bytes = node.size(0, 1), columns = bytes * held;
  if (block < 1 || columns % block != 0)
    return node.not_supported(fmt::format("rows of {} numbers in blocks of {}", columns, block));
  const int64_t blocks = columns / block;
  if (node.type(2).sizes != Sizes{node.size(0, 0), blocks})
    return node.error(fmt::format("its scales are not [{}, {}]", node.size(0, 0), blocks));
  Sizes sizes = node.type(1).sizes;
  const int64_t rows = element_count(sizes);
  sizes.push_back(columns);
  const std::string which =
      node.let(fmt::format("{0} < 0 ? {0} + {1} : {0}", places, node.size(0, 0)));
  const auto rows_of = [&](const std::string& table) {
    return node.let(fmt::format("gather({}, {})", table, which));
  };
  // Numbers of `table`, which has one for each element or block: [rows, count] of i32.
  const auto integers_of = [&](const std::string& table, int64_t width,
                               int64_t count) -> Result<std::string> {
    if (!packed)
      return node.let(
          reshaped(rows_of(node.let(stria::onnx::cast(table, DataType::i16))), {rows, count}));
    STRIA_ASSIGN(const std::string all, unpacked(node, rows_of(table), rows, width, bits));
    if (width * held == count) return all;
    return contract(node, '=', {"n", "b"}, {rows, count}, all + "[n, b]");
  };
  STRIA_ASSIGN(const std::string integers, integers_of(data, bytes, columns));
  const DataType type = node.type(2).type;
  std::string numbers =
      node.let(stria::onnx::cast(reshaped(integers, {rows, blocks, block}), DataType::fp32));
  if (node.has(3)) {
    STRIA_ASSIGN(const std::string table, node.tensor(3));
    if (node.rank(3) != 2) return node.error("its zero points have not 2 dimensions");
    STRIA_ASSIGN(const std::string zeros, integers_of(table, node.size(3, 1), blocks));
    numbers = node.let(fmt::format(
        "{} - {}", numbers, stria::onnx::cast(reshaped(zeros, {rows, blocks, 1}), DataType::fp32)));
  } else if (bytes_hold) {
    numbers = node.let(
        fmt::format("{} - {}", numbers, number(static_cast<double>(int64_t{1} << (bits - 1)))));
  }
  const std::string scale =
      stria::onnx::cast(reshaped(rows_of(scales), {rows, blocks, 1}), DataType::fp32);
  const std::string out = node.let(fmt::format("{} * {}", numbers, scale));
  return node.result(0, reshaped(node.let(stria::onnx::cast(out, type)), sizes));
}

}  // namespace stria::onnx::operators
