// SPDX-License-Identifier: Apache-2.0
// Tensors of which only sizes are given: ConstantOfShape, EyeLike, Range; and Size.
#include <fmt/format.h>

#include <cmath>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {

Status size(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  STRIA_ASSIGN(HostTensor count, integer_table({product(node.type(0).sizes)}, {}));
  return node.result_known(0, std::move(count));
}

Status constant_of_shape(NodeWriter& node) {
  STRIA_ASSIGN(const Sizes sizes, node.integers(0));
  for (const int64_t each : sizes)
    if (each < 0) return node.error(fmt::format("[{}] are no sizes", list_text(sizes)));
  HostTensor value;
  ElementType element = ElementType::fp32;
  if (const Attribute* const given = node.find_attribute("value"); given && given->t) {
    auto elements = host_tensor_of(*given->t);
    if (!elements.ok()) return elements.status().with_context(text_of(node.node()));
    value = std::move(*elements);
    element = given->t->type;
    if (value.element_count() != 1)
      return node.error(fmt::format("a value of {} elements", value.element_count()));
  } else {
    STRIA_ASSIGN(value, number_table(DataType::fp32, {0}, {}));
  }
  const Sizes value_sizes = value.sizes();
  const std::string x = node.constant(std::move(value));
  return node.result(0,
                     moved(node, x, std::vector<std::string>(value_sizes.size(), "0"),
                           index_list(sizes.size()), sizes),
                     element);
}

Status eye_like(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  if (node.rank(0) != 2) return node.error(fmt::format("a tensor of rank {}", node.rank(0)));
  STRIA_ASSIGN(const int64_t above, node.integer_attribute("k", 0));
  STRIA_ASSIGN(const int64_t number, node.integer_attribute("dtype", 0));
  DataType type = node.type(0).type;
  if (number != 0) {
    const auto named = tile_type_of(static_cast<ElementType>(number));
    if (!named)
      return node.not_supported(
          fmt::format("elements of type {}", name_of(static_cast<ElementType>(number))));
    type = *named;
  }
  STRIA_ASSIGN(HostTensor one, number_table(type, {1}, {}));
  const std::string x = node.constant(std::move(one));
  // The diagonal of what is as large: T[d, d + above] = 1, and 0 elsewhere.
  const std::string zero = node.let("0");
  return node.result(0, moved(node, x, {}, {"d", fmt::format("d + {}", above)}, node.type(0).sizes,
                              " default " + zero));
}

// Its size depends on all three numbers.
Status range(NodeWriter& node) {
  STRIA_ASSIGN(const double start, node.number(0));
  STRIA_ASSIGN(const double limit, node.number(1));
  // com.microsoft's may go without it.
  double delta = 1;
  if (node.has(2)) {
    STRIA_ASSIGN(delta, node.number(2));
  }
  if (delta == 0) return node.error("a delta of 0");
  const double length = std::ceil((limit - start) / delta);
  if (!(length < 9e15)) return node.error(fmt::format("a range of {} elements", length));
  const int64_t count = length > 0 ? static_cast<int64_t>(length) : 0;
  STRIA_ASSIGN(const std::string first, node.tensor(0));
  const std::vector<std::string> whole(static_cast<size_t>(node.rank(0)), "0");
  const std::string all = moved(node, first, whole, {"i"}, {count});
  std::string steps = fmt::format("index({}, 0)", all);
  if (node.has(2)) {
    STRIA_ASSIGN(const std::string step, node.tensor(2));
    steps += " * " + node.let(reshaped(step, {}));
  }
  return node.result(0, stria::onnx::cast(fmt::format("{} + {}", all, steps), node.type(0).type));
}

}  // namespace stria::onnx::operators
