// SPDX-License-Identifier: Apache-2.0
// CDist of com.microsoft, which scikit-learn's neighbours and Gaussian processes become: distances
// of each row of one matrix to each of another, by one product.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {

Status distances(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  STRIA_ASSIGN(const std::string metric, node.string_attribute("metric", "sqeuclidean"));
  if (metric != "sqeuclidean" && metric != "euclidean")
    return node.not_supported(fmt::format("attribute 'metric' is '{}'", metric));
  if (node.rank(0) != 2 || node.rank(1) != 2 || node.size(0, 1) != node.size(1, 1))
    return node.error(fmt::format("rows of [{}] and [{}] have no distances",
                                  fmt::join(node.type(0).sizes, ", "),
                                  fmt::join(node.type(1).sizes, ", ")));
  const int64_t rows = node.size(0, 0), columns = node.size(1, 0);
  const std::string both =
      contract(node, '+', {"i", "j"}, {rows, columns}, fmt::format("{}[i, k] * {}[j, k]", a, b));
  const std::string of_a =
      contract(node, '+', {"i", "0"}, {rows, 1}, fmt::format("{0}[i, k] * {0}[i, k]", a));
  const std::string of_b =
      contract(node, '+', {"j"}, {columns}, fmt::format("{0}[j, k] * {0}[j, k]", b));
  // Rounding may leave less than nothing.
  const std::string squares =
      node.let(fmt::format("max({} + {} - {} * {}, {})", of_a, of_b, typed(2, node.type(0).type),
                           both, typed(0, node.type(0).type)));
  return node.result(0, metric == "euclidean" ? fmt::format("sqrt({})", squares) : squares);
}

}  // namespace stria::onnx::operators
