// SPDX-License-Identifier: Apache-2.0
// Windows of a signal, sums of cosines, and the matrix of MelWeightMatrix.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

Result<DataType> output_type(NodeWriter& node) {
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("output_datatype", 1));
  const std::optional<DataType> out = tile_type_of(static_cast<ElementType>(written));
  if (!out) return node.error(fmt::format("output_datatype is {}", written));
  return *out;
}

// first + second * cos(angle) + third * cos(2 * angle)
Status window(NodeWriter& node, double first, double second, double third) {
  STRIA_ASSIGN(const int64_t size, node.integer(0));
  STRIA_ASSIGN(const std::string carrier, node.tensor(0));
  STRIA_ASSIGN(const int64_t periodic, node.integer_attribute("periodic", 1));
  STRIA_ASSIGN(const DataType type, output_type(node));
  if (size < 0) return node.error(fmt::format("a window of {} elements", size));
  if (node.rank(0) != 0) return node.error("its size is no scalar");
  const std::string places = contract(node, '=', {"i"}, {size}, carrier + "[]");
  const int64_t turn = std::max<int64_t>(periodic ? size : size - 1, 1);
  const DataType inner = type == DataType::fp64 ? type : DataType::fp32;
  const std::string angle = node.let(
      fmt::format("{} * {}", converted(fmt::format("index({}, 0)", places), DataType::i32, inner),
                  literal(2 * std::numbers::pi / static_cast<double>(turn))));
  std::string out = fmt::format("({} + {} * cos({})", literal(first), literal(second), angle);
  if (third != 0) out += fmt::format(" + {} * cos(2 * {})", literal(third), angle);
  return node.result(0, converted(out + ")", inner, type));
}

}  // namespace

Status hann_window(NodeWriter& node) { return window(node, 0.5, -0.5, 0); }
Status hamming_window(NodeWriter& node) { return window(node, 25.0 / 46, -21.0 / 46, 0); }
Status blackman_window(NodeWriter& node) { return window(node, 0.42, -0.5, 0.08); }

// Triangles over the bins of a spectrum. The bins in which they begin and end are few whole
// numbers, which rounding must not move: they are made here, in double precision.
Status mel_weight_matrix(NodeWriter& node) {
  STRIA_ASSIGN(const int64_t bands, node.integer(0));
  STRIA_ASSIGN(const int64_t points, node.integer(1));
  STRIA_ASSIGN(const int64_t rate, node.integer(2));
  STRIA_ASSIGN(const double lowest, node.number(3));
  STRIA_ASSIGN(const double highest, node.number(4));
  STRIA_ASSIGN(const DataType type, output_type(node));
  if (bands < 1 || points < 1 || rate < 1 || lowest < 0 || highest <= lowest)
    return node.error(fmt::format("{} bands of {} points from {} to {} at {} samples a second",
                                  bands, points, lowest, highest, rate));
  STRIA_RETURN_IF_ERROR(check_table(node, fmt::format("{} bands", bands), {bands}));
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(highest) - mel(lowest)) / static_cast<double>(bands + 2);
  std::vector<int32_t> edges;
  for (int64_t e = 0; e < bands + 2; ++e) {
    const double at = mel(lowest) + static_cast<double>(e) * step;
    const double hertz = 700 * (std::pow(10.0, at / 2595) - 1);
    edges.push_back(static_cast<int32_t>(
        std::floor(static_cast<double>(points + 1) * hertz / static_cast<double>(rate))));
  }
  STRIA_ASSIGN(HostTensor table, HostTensor::create(DataType::i32, {bands + 2}, "edges"));
  std::memcpy(table.data(), edges.data(), edges.size() * sizeof(int32_t));
  const std::string all = node.constant(std::move(table));
  std::string edge[3];
  for (int64_t which = 0; which < 3; ++which)
    edge[which] = contract(node, '=', {"r", "b"}, {points / 2 + 1, bands},
                           fmt::format("{}[{}]", all, affine({{1, "b"}}, which)));
  const std::string bin = fmt::format("index({}, 0)", edge[0]);
  const DataType inner = type == DataType::fp64 ? type : DataType::fp32;
  const auto share = [&](const std::string& from, const std::string& to) {
    const auto as_float = [&](const std::string& x) { return converted(x, DataType::i32, inner); };
    return fmt::format("{} / {}", as_float("(" + from + ")"), as_float("(" + to + ")"));
  };
  const std::string up =
      share(fmt::format("{} - {}", bin, edge[0]), fmt::format("{} - {}", edge[1], edge[0]));
  const std::string down =
      share(fmt::format("{} - {}", edge[2], bin), fmt::format("{} - {}", edge[2], edge[1]));
  // The falling edge begins at the middle, unless it has no length.
  const std::string out = fmt::format(
      "({0} >= {2} && {0} < {3} ? {5} : ({0} == {2} && {1} == {2} ? 1 : "
      "({0} >= {1} && {0} <= {2} ? {4} : 0)))",
      bin, edge[0], edge[1], edge[2], up, down);
  return node.result(0, converted(out, inner, type));
}

}  // namespace stria::onnx::operators
