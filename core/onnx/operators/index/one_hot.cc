// SPDX-License-Identifier: Apache-2.0
// OneHot: a vector of one value for each number, with another one at the number's place.
#include <fmt/format.h>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {

Status one_hot(NodeWriter& node) {
  STRIA_ASSIGN(const std::string numbers, node.tensor(0));
  STRIA_ASSIGN(const double depth_number, node.number(1));
  STRIA_ASSIGN(const std::string values, node.tensor(2));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", -1));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0) + 1));
  if (!(depth_number >= 0 && depth_number < 9e15))
    return node.error(fmt::format("a depth of {}", depth_number));
  const auto depth = static_cast<int64_t>(depth_number);
  if (node.type(2).sizes != Sizes{2})
    return node.error(fmt::format("values of sizes [{}]", list_text(node.type(2).sizes)));
  Sizes sizes = node.type(0).sizes, line(sizes.size() + 1, 1);
  sizes.insert(sizes.begin() + axis, 1);
  line[static_cast<size_t>(axis)] = depth;
  const std::string places =
      fmt::format("index({}, {})", moved(node, values, {"0"}, index_list(line.size()), line), axis);
  const std::string number = node.let(reshaped(fmt::format("as_int({}, 64)", numbers), sizes));
  const std::string off = moved(node, values, {"0"}, {}, {});
  const std::string on = moved(node, values, {"1"}, {}, {});
  return node.result(0, fmt::format("{0} + ({0} < 0 ? {1} : 0) == {2} ? {3} : {4}", number, depth,
                                    places, on, off));
}

}  // namespace stria::onnx::operators
