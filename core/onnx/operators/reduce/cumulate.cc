// SPDX-License-Identifier: Apache-2.0
// CumSum and CumProd.
#include <fmt/format.h>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

// Up to so many elements each result is a sum of its own: few kernels. Beyond it the work of that,
// the square of the size, is too much, and sums of 2, 4, 8, … elements follow one another.
constexpr int64_t kDirect = 256;

Status cumulate(NodeWriter& node, char aggregation) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  const Sizes& sizes = node.type(0).sizes;
  STRIA_ASSIGN(const int64_t written, node.integer(1));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  STRIA_ASSIGN(const int64_t exclusive, node.integer_attribute("exclusive", 0));
  STRIA_ASSIGN(const int64_t reverse, node.integer_attribute("reverse", 0));
  const auto along = static_cast<size_t>(axis);
  const int64_t size = sizes[along];
  const DataType summed_type =
      is_float(type) || bit_width(type) >= 32 ? wide_type(type) : DataType::i32;
  std::string from = node.let(converted(x, type, summed_type));
  // What stands where nothing is summed up.
  const std::string none = aggregation == '*' ? node.let("1") : "";
  const Forms all = indices("i", sizes.size());
  Forms source = all;
  if (size <= kDirect) {
    // Result i takes element j in front of it, or behind it.
    source[along] = "j";
    const std::string distance = fmt::format("{} - {}{}", reverse ? "j" : all[along],
                                             reverse ? all[along] : "j", exclusive ? " - 1" : "");
    from = contract(node, aggregation, all, sizes, access(from, source),
                    {fmt::format("{} < {}", distance, size)}, none);
    return node.result(0, converted(from, summed_type, type));
  }
  const auto shift = [&](int64_t distance) {
    source[along] = affine({{1, all[along]}}, reverse ? distance : -distance);
    return contract(node, '=', all, sizes, access(from, source), {}, none);
  };
  if (exclusive) from = shift(1);
  for (int64_t done = 1; done < size; done *= 2)
    from = node.let(fmt::format("{} {} {}", from, aggregation, shift(done)));
  return node.result(0, converted(from, summed_type, type));
}

}  // namespace

Status cumsum(NodeWriter& node) { return cumulate(node, '+'); }
Status cumprod(NodeWriter& node) { return cumulate(node, '*'); }

}  // namespace stria::onnx::operators
