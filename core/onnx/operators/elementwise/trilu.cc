// SPDX-License-Identifier: Apache-2.0
// Trilu: the triangle above or below a diagonal of the last two dimensions.
#include <fmt/format.h>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {

Status trilu(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t upper, node.integer_attribute("upper", 1));
  const int rank = node.rank(0);
  if (rank < 2) return node.error(fmt::format("a tensor of rank {} has no diagonal", rank));
  std::string diagonal = "0";
  if (node.has(1)) {
    STRIA_ASSIGN(const std::string k, node.tensor(1));
    diagonal = reshaped(k, {});
  }
  return node.result(
      0, fmt::format("index({0}, {1}) - index({0}, {2}) {3} {4} ? {0} : {5}", x, rank - 1, rank - 2,
                     upper ? ">=" : "<=", diagonal, typed(0, node.type(0).type)));
}

}  // namespace stria::onnx::operators
