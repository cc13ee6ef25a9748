// SPDX-License-Identifier: Apache-2.0
// Binarizer and ArrayFeatureExtractor.
#include <fmt/format.h>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {

Status binarizer(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const float threshold, node.float_attribute("threshold", 0));
  return node.result(
      0, stria::onnx::cast(fmt::format("{} > {}", x, literal(threshold)), node.type(0).type));
}

// Elements of the last dimension by their numbers; what is a vector becomes a row.
Status array_feature_extractor(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string y, node.tensor(1));
  const std::vector<int64_t>& sizes = node.type(0).sizes;
  if (sizes.empty()) return node.error("its input is a single number");
  int64_t rows = 1, chosen = 1;
  for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  for (const int64_t size : node.type(1).sizes) chosen *= size;
  const std::string matrix = node.let(reshaped(x, {rows, sizes.back()}));
  const std::string turned = node.fresh(), back = node.fresh();
  node.line(fmt::format("{}[c, r : {}, {}] = =({}[r, c]);", turned, sizes.back(), rows, matrix));
  const std::string found =
      node.let(fmt::format("gather({}, {})", turned, node.let(reshaped(y, {chosen}))));
  node.line(fmt::format("{}[r, c : {}, {}] = =({}[c, r]);", back, rows, chosen, found));
  std::vector<int64_t> made(sizes.begin(), sizes.end() - 1);
  if (made.empty()) made.push_back(1);
  made.push_back(chosen);
  return node.result(0, reshaped(back, made));
}

}  // namespace stria::onnx::operators
