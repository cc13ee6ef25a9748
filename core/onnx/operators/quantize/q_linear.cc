// SPDX-License-Identifier: Apache-2.0
// com.microsoft's operators on quantized tensors: numbers of small integers, computed in fp32, and
// back to small integers. Each tensor comes with its scale and its zero point.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/operators/quantize/q_linear.h"
#include "stria/onnx/operators/quantize/quantization.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/operators/types/conversion.h"

namespace stria::onnx {

Result<std::string> scalar_of(NodeWriter& node, int i) {
  STRIA_ASSIGN(const std::string own, node.tensor(i));
  if (node.rank(i) == 0) return own;
  if (node.rank(i) != 1 || node.size(i, 0) != 1)
    return node.error(fmt::format("input {} is not one number", i));
  return node.let(reshaped(own, {}));
}

Result<std::string> numbers_at(NodeWriter& node, int i) {
  STRIA_ASSIGN(const std::string scale, scalar_of(node, i + 1));
  std::string zero_point;
  if (node.has(i + 2)) {
    STRIA_ASSIGN(zero_point, scalar_of(node, i + 2));
  }
  STRIA_ASSIGN(const std::string moved, centered(node, i, zero_point));
  return node.let(fmt::format("{} * {}", cast(moved, DataType::fp32), scale));
}

Status quantized_result(NodeWriter& node, const std::string& numbers, int i, int like) {
  STRIA_ASSIGN(const std::string scale, scalar_of(node, i));
  std::string zero_point;
  if (node.has(i + 1)) {
    STRIA_ASSIGN(zero_point, scalar_of(node, i + 1));
  }
  return node.result(0, saturated(node, fmt::format("round(({}) / {})", numbers, scale), zero_point,
                                  node.element(like)));
}

namespace operators {
namespace {

Status q_linear_binary(NodeWriter& node, char operation) {
  STRIA_ASSIGN(const std::string a, numbers_at(node, 0));
  STRIA_ASSIGN(const std::string b, numbers_at(node, 3));
  return quantized_result(node, fmt::format("{} {} {}", a, operation, b), 6, 0);
}

}  // namespace

Status q_linear_add(NodeWriter& node) { return q_linear_binary(node, '+'); }
Status q_linear_mul(NodeWriter& node) { return q_linear_binary(node, '*'); }

Status q_linear_sigmoid(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, numbers_at(node, 0));
  return quantized_result(node, fmt::format("sigmoid({})", x), 3, 0);
}

Status q_linear_leaky_relu(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, numbers_at(node, 0));
  STRIA_ASSIGN(const float alpha, node.float_attribute("alpha", 0.01F));
  return quantized_result(node, fmt::format("{0} < 0.0 ? {1} * {0} : {0}", x, number(alpha)), 3, 0);
}

Status q_linear_where(NodeWriter& node) {
  STRIA_ASSIGN(const std::string condition, node.tensor(0));
  STRIA_ASSIGN(const std::string x, numbers_at(node, 1));
  STRIA_ASSIGN(const std::string y, numbers_at(node, 4));
  return quantized_result(node, fmt::format("{} ? {} : {}", condition, x, y), 7, 1);
}

// The scale and the zero point of the result come first, then tensors with theirs.
Status q_linear_concat(NodeWriter& node) {
  const int parts = (node.input_count() - 2) / 3;
  if (parts < 1 || node.input_count() != 2 + 3 * parts)
    return node.error(fmt::format("{} inputs: two, and three for each tensor", node.input_count()));
  STRIA_ASSIGN(const std::string scale, scalar_of(node, 0));
  STRIA_ASSIGN(const std::string zero_point, scalar_of(node, 1));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 0));
  if (!node.has(2)) return node.error("input 2 is missing");
  std::vector<int64_t> sizes = node.type(2).sizes;
  STRIA_ASSIGN(const int64_t found, node.axis(written, static_cast<int64_t>(sizes.size())));
  const auto axis = static_cast<size_t>(found);
  sizes[axis] = 0;
  for (int part = 0; part < parts; ++part) {
    const int input = 2 + 3 * part;
    if (!node.has(input)) return node.error(fmt::format("input {} is missing", input));
    std::vector<int64_t> wanted = sizes;
    if (wanted.size() == node.type(input).sizes.size())
      wanted[axis] = node.size(input, static_cast<int>(axis));
    if (wanted != node.type(input).sizes)
      return node.error(
          fmt::format("input {} has sizes [{}]; all but dimension {} must be those "
                      "of [{}]",
                      input, fmt::join(node.type(input).sizes, ", "), axis,
                      fmt::join(node.type(2).sizes, ", ")));
    sizes[axis] += wanted[axis];
  }
  int64_t begin = 0;
  std::string all;
  for (int part = 0; part < parts; ++part) {
    STRIA_ASSIGN(const std::string numbers, numbers_at(node, 2 + 3 * part));
    std::vector<std::string> from, to;
    for (size_t d = 0; d < sizes.size(); ++d) {
      from.push_back(fmt::format("i{}", d));
      to.push_back(d == axis ? fmt::format("i{} + {}", d, begin) : from.back());
    }
    // Each part is written over what stands there so far.
    const std::string next = node.fresh();
    node.line(fmt::format("{}[{} : {}] = =({}[{}]){};", next, fmt::join(to, ", "),
                          fmt::join(sizes, ", "), numbers, fmt::join(from, ", "),
                          all.empty() ? "" : " default " + all));
    begin += node.size(2 + 3 * part, static_cast<int>(axis));
    all = next;
  }
  return node.result(
      0, saturated(node, fmt::format("round({} / {})", all, scale), zero_point, node.element(1)),
      node.element(1));
}

}  // namespace operators
}  // namespace stria::onnx
