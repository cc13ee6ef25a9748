// SPDX-License-Identifier: Apache-2.0
// Sign, IsNaN, IsInf, Clip, Sum and Mean.
#include <fmt/format.h>

#include <limits>

#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

double largest_of(DataType type) {
  switch (type) {
    case DataType::fp16: return 65504;
    case DataType::bf16: return 0x1.fep127;
    case DataType::fp64: return std::numeric_limits<double>::max();
    default: return std::numeric_limits<float>::max();
  }
}

// A + B + C of any number of tensors.
Result<std::string> sum_of(NodeWriter& node) {
  STRIA_ASSIGN(std::string all, node.tensor(0));
  for (int i = 1; i < node.input_count(); ++i) {
    STRIA_ASSIGN(const std::string next, node.tensor(i));
    all += " + " + next;
  }
  return all;
}

}  // namespace

Status sign(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  if (is_unsigned_integer(type)) return node.result(0, fmt::format("min({}, 1)", x));
  if (is_integer(type)) return node.result(0, fmt::format("max(min({}, 1), -1)", x));
  // Zeros and NaN stay.
  return node.result(0, fmt::format("{0} > 0.0 ? {1} : {0} < 0.0 ? {2} : {0}", x, typed(1, type),
                                    typed(-1, type)));
}

Status is_nan(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  return node.result(0, fmt::format("{0} != {0}", x));
}

Status is_inf(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t positive, node.integer_attribute("detect_positive", 1));
  STRIA_ASSIGN(const int64_t negative, node.integer_attribute("detect_negative", 1));
  const std::string largest = number(largest_of(node.type(0).type));
  const std::string above = fmt::format("{} > {}", x, largest);
  const std::string below = fmt::format("{} < -{}", x, largest);
  if (positive && negative) return node.result(0, above + " || " + below);
  if (positive) return node.result(0, above);
  return node.result(0, negative ? below : fmt::format("{0} != {0} && {0} == {0}", x));
}

// Limits are attributes before opset 11, inputs from there.
Status clip(NodeWriter& node) {
  STRIA_ASSIGN(std::string all, node.tensor(0));
  int input = 0;
  for (const auto& [name, function] : {std::pair("min", "max"), std::pair("max", "min")}) {
    ++input;
    if (node.version() >= 11) {
      if (!node.has(input)) continue;
      STRIA_ASSIGN(const std::string limit, node.tensor(input));
      all = fmt::format("{}({}, {})", function, all, limit);
    } else if (node.has_attribute(name) || (node.version() >= 6 && is_float(node.type(0).type) &&
                                            node.type(0).type != DataType::fp16)) {
      // From version 6 on the largest numbers of fp32 are the defaults; fp16 has none beyond.
      const float most = std::numeric_limits<float>::max();
      STRIA_ASSIGN(const float limit, node.float_attribute(name, input == 1 ? -most : most));
      all = fmt::format("{}({}, {})", function, all, number(limit));
    }
  }
  return node.result(0, all);
}

Status sum(NodeWriter& node) {
  STRIA_ASSIGN(const std::string all, sum_of(node));
  return node.result(0, all);
}

Status mean(NodeWriter& node) {
  STRIA_ASSIGN(const std::string all, sum_of(node));
  return node.result(0, fmt::format("({}) / {}", all, number(node.input_count())));
}

}  // namespace stria::onnx::operators
