// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization: over an axis and all behind it.
#include <fmt/format.h>

#include "stria/onnx/operators/normalize/layer_norm.h"
#include "stria/onnx/operators/normalize/moments.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

LayerNorm layer_norm(NodeWriter& node, const std::string& x, const Sizes& sizes, int64_t axis,
                     const std::string& scale, const std::string& bias, double epsilon) {
  std::vector<bool> axes(sizes.size(), false);
  for (size_t d = static_cast<size_t>(axis); d < sizes.size(); ++d) axes[d] = true;
  const Moments of = moments(node, x, sizes, axes);
  LayerNorm out;
  out.mean = of.mean;
  out.inverse_deviation = node.let(fmt::format("1 / sqrt({} + {})", of.variance, literal(epsilon)));
  out.y = fmt::format("{} * {}", of.centered, out.inverse_deviation);
  if (!scale.empty()) out.y += " * " + scale;
  if (!bias.empty()) out.y += " + " + bias;
  return out;
}

RmsNorm rms_norm(NodeWriter& node, const std::string& x, const Sizes& sizes, int64_t axis,
                 const std::string& scale, double epsilon) {
  std::vector<bool> axes(sizes.size(), false);
  for (size_t d = static_cast<size_t>(axis); d < sizes.size(); ++d) axes[d] = true;
  const std::string square = mean_square(node, x, sizes, axes);
  RmsNorm out;
  out.inverse_deviation = node.let(fmt::format("1 / sqrt({} + {})", square, literal(epsilon)));
  out.y = fmt::format("{} * {} * {}", x, out.inverse_deviation, scale);
  return out;
}

namespace operators {
namespace {

struct Normalized {
  std::string x;
  DataType type;
  int64_t axis = 0;
  float epsilon = 0;
  std::string scale, bias;
};

Result<Normalized> normalized_of(NodeWriter& node) {
  Normalized out;
  STRIA_ASSIGN(out.x, node.tensor(0));
  out.type = node.type(0).type;
  if (out.type != wide_type(out.type)) out.x = node.let(wide(out.x, out.type));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", -1));
  STRIA_ASSIGN(out.axis, node.axis(written, node.rank(0)));
  STRIA_ASSIGN(out.epsilon, node.float_attribute("epsilon", 1e-5f));
  STRIA_ASSIGN(out.scale, node.tensor(1));
  out.scale = wide(out.scale, node.type(1).type);
  if (!node.has(2)) return out;
  STRIA_ASSIGN(out.bias, node.tensor(2));
  out.bias = wide(out.bias, node.type(2).type);
  return out;
}

}  // namespace

Status layer_normalization(NodeWriter& node) {
  STRIA_ASSIGN(const Normalized of, normalized_of(node));
  const LayerNorm out =
      layer_norm(node, of.x, node.type(0).sizes, of.axis, of.scale, of.bias, of.epsilon);
  STRIA_RETURN_IF_ERROR(node.result(0, narrow("(" + out.y + ")", of.type)));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("stash_type", 1));
  const std::optional<DataType> stash = tile_type_of(static_cast<ElementType>(written));
  if (!stash || !is_float(*stash))
    return node.error(fmt::format("stash_type is {}, no type of floats", written));
  const DataType from = wide_type(of.type);
  STRIA_RETURN_IF_ERROR(node.result(1, converted(out.mean, from, *stash)));
  return node.result(2, converted(out.inverse_deviation, from, *stash));
}

// SimplifiedLayerNormalization, too, which ONNX Runtime puts in place of its nodes: it gives the
// inverse deviation.
Status rms_normalization(NodeWriter& node) {
  STRIA_ASSIGN(const Normalized of, normalized_of(node));
  const RmsNorm out = rms_norm(node, of.x, node.type(0).sizes, of.axis, of.scale, of.epsilon);
  // Its elements are of the scale's type.
  const DataType scale = node.type(1).type;
  const DataType computed =
      of.type == DataType::fp64 || scale == DataType::fp64 ? DataType::fp64 : DataType::fp32;
  STRIA_RETURN_IF_ERROR(node.result(0, converted("(" + out.y + ")", computed, scale)));
  return node.wants(1) ? node.result(1, out.inverse_deviation) : Status();
}

}  // namespace operators
}  // namespace stria::onnx
