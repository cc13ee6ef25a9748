// SPDX-License-Identifier: Apache-2.0
// Tensors of which only sizes are given: ConstantOfShape, EyeLike, Range; and Size.
#include <fmt/format.h>

#include <algorithm>
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
  STRIA_ASSIGN(const int64_t k, node.integer_attribute("k", 0));
  const int64_t above = std::clamp(k, -node.size(0, 0), node.size(0, 1));
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

namespace {

// How far a range goes, and in which steps; com.microsoft's may go without a step.
template <typename T>
struct Span {
  T start, limit, delta = 1;
};
template <typename T, typename Read>
Result<Span<T>> span_of(NodeWriter& node, const Read& read) {
  Span<T> out;
  STRIA_ASSIGN(out.start, read(0));
  STRIA_ASSIGN(out.limit, read(1));
  if (node.has(2)) {
    STRIA_ASSIGN(out.delta, read(2));
  }
  if (out.delta == 0) return node.error("a delta of 0");
  return out;
}

// Elements of a range.
Result<double> range_length(NodeWriter& node) {
  STRIA_ASSIGN(const Span<double> of, span_of<double>(node, [&](int i) { return node.number(i); }));
  return std::ceil((of.limit - of.start) / of.delta);
}

// Of integers, whose differences may be beyond what double holds, and beyond int64.
Result<double> integer_range_length(NodeWriter& node) {
  const auto read = [&](int i) { return node.integer(i); };
  STRIA_ASSIGN(const Span<int64_t> of, span_of<int64_t>(node, read));
  const auto [start, limit, delta] = of;
  if (delta > 0 ? limit <= start : limit >= start) return 0.0;
  const auto bits = [](int64_t value) { return static_cast<uint64_t>(value); };
  const uint64_t span = delta > 0 ? bits(limit) - bits(start) : bits(start) - bits(limit);
  const uint64_t step = delta > 0 ? bits(delta) : 0 - bits(delta);
  return static_cast<double>((span - 1) / step + 1);
}

}  // namespace

// Its size depends on all three numbers.
Status range(NodeWriter& node) {
  if (!node.has(0)) return node.error("input 0 is missing");
  STRIA_ASSIGN(const double length,
               is_float(node.type(0).type) ? range_length(node) : integer_range_length(node));
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
