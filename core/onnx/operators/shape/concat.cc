// SPDX-License-Identifier: Apache-2.0
// Concat: tensors one behind the other.
#include <fmt/format.h>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/shape/moves.h"

namespace stria::onnx::operators {

Status concat(NodeWriter& node) {
  if (node.input_count() == 0) return node.error("it has no input");
  std::vector<std::string> tensors;
  std::vector<Sizes> sizes;
  for (int i = 0; i < node.input_count(); ++i) {
    STRIA_ASSIGN(std::string x, node.tensor(i));
    tensors.push_back(std::move(x));
    sizes.push_back(node.type(i).sizes);
  }
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 1));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  for (size_t i = 1; i < sizes.size(); ++i) {
    Sizes other = sizes[i];
    if (other.size() == sizes[0].size())
      other[static_cast<size_t>(axis)] = sizes[0][static_cast<size_t>(axis)];
    if (other != sizes[0] || node.type(static_cast<int>(i)).type != node.type(0).type)
      return node.error(fmt::format("input {} of sizes [{}] does not fit [{}] along axis {}", i,
                                    list_text(sizes[i]), list_text(sizes[0]), axis));
  }
  return node.result(0, concatenated(node, tensors, sizes, static_cast<size_t>(axis)));
}

}  // namespace stria::onnx::operators
