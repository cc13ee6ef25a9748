// SPDX-License-Identifier: Apache-2.0
// BatchNormalization, and the normalizations of each image: InstanceNormalization and
// GroupNormalization.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/operators/normalize/moments.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

Status check_vector(NodeWriter& node, int i, const Sizes& sizes) {
  if (!node.has(i)) return node.error(fmt::format("input {} is missing", i));
  if (node.type(i).sizes != sizes)
    return node.error(fmt::format("input {} has other sizes than [{}]", i, fmt::join(sizes, ", ")));
  return {};
}

std::string vector_at(const std::string& vector, DataType type, const Sizes& sizes) {
  return reshaped(wide(vector, type), sizes);
}

}  // namespace

Status batch_normalization(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  const Sizes& sizes = node.type(0).sizes;
  if (sizes.empty()) return node.error("its input has rank 0");
  const int64_t rank = node.rank(0);
  const int64_t channels = rank > 1 ? sizes[1] : 1;
  Sizes of_vector = {channels}, at = along(rank, rank > 1 ? 1 : 0, channels);
  STRIA_ASSIGN(const int64_t spatial, node.integer_attribute("spatial", 1));
  if (node.version() < 9 && !spatial) {
    // Each element of an image has numbers of its own.
    of_vector.assign(sizes.begin() + 1, sizes.end());
    at = sizes;
    at[0] = 1;
  }
  DataType computed = wide_type(type);
  std::vector<std::string> vectors(1);
  for (int i = 1; i <= 4; ++i) {
    STRIA_RETURN_IF_ERROR(check_vector(node, i, of_vector));
    if (node.type(i).type == DataType::fp64) computed = DataType::fp64;
    STRIA_ASSIGN(const std::string vector, node.tensor(i));
    vectors.push_back(vector_at(vector, node.type(i).type, at));
  }
  STRIA_ASSIGN(const float epsilon, node.float_attribute("epsilon", 1e-5f));
  STRIA_ASSIGN(const int64_t training, node.integer_attribute("training_mode", 0));
  STRIA_ASSIGN(const float momentum, node.float_attribute("momentum", 0.9f));
  if (node.version() < 14 && node.output_count() > 1 && node.wants(1))
    return node.not_supported("statistics of a training before version 14");
  if (type != wide_type(type)) x = node.let(wide(x, type));
  std::string centered = fmt::format("({} - {})", x, vectors[3]), variance = vectors[4];
  if (training) {
    std::vector<bool> axes(sizes.size(), true);
    if (rank > 1) axes[1] = false;
    const Moments of = moments(node, x, sizes, axes);
    centered = of.centered;
    variance = of.variance;
    const auto running = [&](int k, const std::string& now) {
      const std::string mixed =
          fmt::format("({} * {} + {} * {})", vectors[static_cast<size_t>(k + 2)], literal(momentum),
                      now, literal(1 - momentum));
      return node.result(k,
                         reshaped(converted(mixed, computed, node.type(k + 2).type), {channels}));
    };
    STRIA_RETURN_IF_ERROR(running(1, of.mean));
    STRIA_RETURN_IF_ERROR(running(2, variance));
  }
  const std::string factor =
      node.let(fmt::format("{} / sqrt({} + {})", vectors[1], variance, literal(epsilon)));
  return node.result(
      0, converted(fmt::format("({} * {} + {})", centered, factor, vectors[2]), computed, type));
}

Status instance_normalization(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  const Sizes& sizes = node.type(0).sizes;
  if (sizes.size() < 2) return node.error("its input has less than 2 dimensions");
  STRIA_RETURN_IF_ERROR(check_vector(node, 1, {sizes[1]}));
  STRIA_RETURN_IF_ERROR(check_vector(node, 2, {sizes[1]}));
  STRIA_ASSIGN(const std::string scale, node.tensor(1));
  STRIA_ASSIGN(const std::string bias, node.tensor(2));
  STRIA_ASSIGN(const float epsilon, node.float_attribute("epsilon", 1e-5f));
  if (type != wide_type(type)) x = node.let(wide(x, type));
  std::vector<bool> axes(sizes.size(), true);
  axes[0] = axes[1] = false;
  const Moments of = moments(node, x, sizes, axes);
  const Sizes at = along(node.rank(0), 1, sizes[1]);
  const std::string out =
      fmt::format("({} / sqrt({} + {}) * {} + {})", of.centered, of.variance, literal(epsilon),
                  vector_at(scale, type, at), vector_at(bias, type, at));
  return node.result(0, narrow(out, type));
}

// Scale and bias are those of the channels; before version 21, of the groups.
Status group_normalization(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  const Sizes& sizes = node.type(0).sizes;
  if (sizes.size() < 2) return node.error("its input has less than 2 dimensions");
  STRIA_ASSIGN(const int64_t groups, node.integer_attribute("num_groups", 0));
  if (groups < 1 || sizes[1] % groups != 0)
    return node.error(fmt::format("{} channels do not make {} groups", sizes[1], groups));
  const bool of_channels = node.version() >= 21;
  const int64_t count = of_channels ? sizes[1] : groups;
  STRIA_RETURN_IF_ERROR(check_vector(node, 1, {count}));
  STRIA_RETURN_IF_ERROR(check_vector(node, 2, {count}));
  STRIA_ASSIGN(const std::string scale, node.tensor(1));
  STRIA_ASSIGN(const std::string bias, node.tensor(2));
  STRIA_ASSIGN(const float epsilon, node.float_attribute("epsilon", 1e-5f));
  // Groups get a dimension of their own.
  Sizes grouped = {sizes[0], groups, sizes[1] / groups};
  grouped.insert(grouped.end(), sizes.begin() + 2, sizes.end());
  x = node.let(reshaped(wide(x, type), grouped));
  std::vector<bool> axes(grouped.size(), true);
  axes[0] = axes[1] = false;
  const Moments of = moments(node, x, grouped, axes);
  Sizes at(grouped.size(), 1);
  at[1] = groups;
  if (of_channels) at[2] = grouped[2];
  const std::string out = node.let(
      fmt::format("{} / sqrt({} + {}) * {} + {}", of.centered, of.variance, literal(epsilon),
                  vector_at(scale, type, at), vector_at(bias, type, at)));
  return node.result(0, narrow(reshaped(out, sizes), type));
}

}  // namespace stria::onnx::operators
