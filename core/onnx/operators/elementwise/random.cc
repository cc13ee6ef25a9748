// SPDX-License-Identifier: Apache-2.0
// Dropout, and the operators that draw random numbers. A node draws the same numbers in each run:
// they follow from its attribute `seed`, or from the name of its result if it has none.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstring>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/operators/types/conversion.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx::operators {
namespace {

Result<uint32_t> seed_of(NodeWriter& node) {
  const Attribute* const given = node.find_attribute("seed");
  if (given && given->type == Attribute::Type::i) return static_cast<uint32_t>(given->i);
  if (given) {
    STRIA_ASSIGN(const float seed, node.float_attribute("seed", 0));
    return std::bit_cast<uint32_t>(seed);
  }
  uint32_t hash = 2166136261U;
  for (const char c : node.node().outputs[0]) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619U;
  return hash;
}

// Numbers in [0, 1), from a state that the seed gives as rule M16 says.
Result<std::string> uniform(NodeWriter& node, std::vector<int64_t> sizes) {
  STRIA_ASSIGN(const uint32_t seed, seed_of(node));
  STRIA_ASSIGN(HostTensor state, HostTensor::create(DataType::u32, {3, 2048}, "random state"));
  for (uint32_t at = 0; at < 3 * 2048; ++at) {
    uint32_t h = seed + 0x9e3779b9U * (at + 1);
    h ^= h >> 16;
    h *= 0x85ebca6bU;
    h ^= h >> 13;
    h *= 0xc2b2ae35U;
    h ^= h >> 16;
    h |= 16;
    std::memcpy(state.data() + size_t{at} * 4, &h, 4);
  }
  const std::vector<int64_t> made = sizes.empty() ? std::vector<int64_t>{1} : sizes;
  const std::string step = node.let(
      fmt::format("prng_step({}, {})", node.constant(std::move(state)), fmt::join(made, ", ")));
  const std::string numbers = node.let(fmt::format("prng_value({})", step));
  return sizes.empty() ? reshaped(numbers, {}) : numbers;
}

// Numbers of mean 0 and deviation 1, each from two uniform ones by the transform of Box and Muller.
Result<std::string> normal(NodeWriter& node, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> two = {2};
  two.insert(two.end(), sizes.begin(), sizes.end());
  STRIA_ASSIGN(const std::string both, uniform(node, two));
  std::string indices, extents;
  for (size_t d = 0; d < sizes.size(); ++d) {
    indices += fmt::format(", i{}", d);
    extents += fmt::format(", {}", sizes[d]);
  }
  std::vector<std::string> parts;
  for (int half = 0; half < 2; ++half) {
    const std::string one = node.fresh();
    node.line(
        fmt::format("{}[0{} : 1{}] = =({}[{}{}]);", one, indices, extents, both, half, indices));
    parts.push_back(node.let(reshaped(one, sizes)));
  }
  return node.let(fmt::format("sqrt(-2.0 * log(1.0 - {})) * cos({} * {})", parts[0],
                              number(6.2831853071795865), parts[1]));
}

// Sizes are an attribute, or those of input 0.
Result<std::vector<int64_t>> sizes_of(NodeWriter& node, bool like) {
  if (!like) return node.integers_attribute("shape");
  if (!node.has(0)) return node.error("input 0 is missing");
  return node.type(0).sizes;
}

Status random(NodeWriter& node, bool like, bool is_normal) {
  STRIA_ASSIGN(const std::vector<int64_t> sizes, sizes_of(node, like));
  STRIA_ASSIGN(const ElementType type,
               type_attribute(node, "dtype", like ? node.element(0) : ElementType::fp32));
  std::string first, scale;
  if (is_normal) {
    STRIA_ASSIGN(const float mean, node.float_attribute("mean", 0));
    STRIA_ASSIGN(const float deviation, node.float_attribute("scale", 1));
    first = number(mean);
    scale = number(deviation);
  } else {
    STRIA_ASSIGN(const float low, node.float_attribute("low", 0));
    STRIA_ASSIGN(const float high, node.float_attribute("high", 1));
    first = number(low);
    scale = number(double{high} - low);
  }
  STRIA_ASSIGN(const std::string drawn, is_normal ? normal(node, sizes) : uniform(node, sizes));
  const std::string scaled = node.let(fmt::format("{} * {} + {}", drawn, scale, first));
  STRIA_ASSIGN(const std::string y, converted(node, scaled, ElementType::fp32, type));
  return node.result(0, y, type);
}

// 1 everywhere, in the sizes of `x`.
std::string ones(const std::string& x, DataType type) {
  return fmt::format("0 ? {} : {}", stria::onnx::cast(x, type), typed(1, type));
}

}  // namespace

Status random_normal(NodeWriter& node) { return random(node, false, true); }
Status random_normal_like(NodeWriter& node) { return random(node, true, true); }
Status random_uniform(NodeWriter& node) { return random(node, false, false); }
Status random_uniform_like(NodeWriter& node) { return random(node, true, false); }

Status bernoulli(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const ElementType type, type_attribute(node, "dtype", node.element(0)));
  STRIA_ASSIGN(const std::string drawn, uniform(node, node.type(0).sizes));
  const std::string below = node.let(fmt::format("{} < {}", drawn, x));
  STRIA_ASSIGN(const std::string y, converted(node, below, ElementType::boolean, type));
  return node.result(0, y, type);
}

// Input 0 has the logarithms of what classes weigh, up to a factor, for each row. What is drawn is
// the number of classes whose sum of weights up to them lies below a part of the whole.
Status multinomial(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t count, node.integer_attribute("sample_size", 1));
  STRIA_ASSIGN(const ElementType type, type_attribute(node, "dtype", ElementType::i32));
  if (node.rank(0) != 2) return node.error("its input is no matrix");
  const int64_t rows = node.size(0, 0), classes = node.size(0, 1);
  const std::string top = node.fresh(), sums = node.fresh(), all = node.fresh(),
                    chosen = node.fresh();
  node.line(fmt::format("{}[r, 0 : {}, 1] = >({}[r, c]);", top, rows, x));
  const std::string weights = node.let(fmt::format("as_float(exp({} - {}), 32)", x, top));
  node.line(fmt::format("{}[r, c : {}, {}] = +({}[r, c - d]), d < {};", sums, rows, classes,
                        weights, classes));
  node.line(fmt::format("{}[r, 0 : {}, 1] = +({}[r, c]);", all, rows, weights));
  STRIA_ASSIGN(const std::string drawn, uniform(node, {rows, count}));
  const std::string limits = node.let(fmt::format("{} * {}", drawn, all));
  const std::string below = node.let(fmt::format("reshape({}, {}, 1, {}) <= reshape({}, {}, {}, 1)",
                                                 sums, rows, classes, limits, rows, count));
  node.line(fmt::format("{}[r, s : {}, {}] = +({}[r, s, c]);", chosen, rows, count, below));
  const std::string inside = node.let(fmt::format("min({}, {})", chosen, classes - 1));
  STRIA_ASSIGN(const std::string y, converted(node, inside, ElementType::i32, type));
  return node.result(0, y, type);
}

// Training is an input from opset 12 on, and asked for by the absence of is_test before 7.
Status dropout(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  bool training = false;
  std::string ratio = "0.5";
  if (node.version() >= 12) {
    if (node.has(2)) {
      STRIA_ASSIGN(const int64_t mode, node.integer(2));
      training = mode != 0;
    }
    if (training && node.has(1)) {
      STRIA_ASSIGN(const std::string given, node.tensor(1));
      ratio = node.let(reshaped(given, {}));
    }
  } else {
    STRIA_ASSIGN(const float given, node.float_attribute("ratio", 0.5F));
    ratio = number(given);
    if (node.version() < 7) {
      STRIA_ASSIGN(const int64_t test, node.integer_attribute("is_test", 0));
      training = test == 0;
    }
  }
  // The mask has the type of the data before opset 10.
  const DataType mask_type = node.version() < 10 ? type : DataType::boolean;
  if (!training) {
    STRIA_RETURN_IF_ERROR(node.result_value(0, node.value(0)));
    return node.result(1, ones(x, mask_type));
  }
  STRIA_ASSIGN(const std::string drawn, uniform(node, node.type(0).sizes));
  const std::string kept = node.let(fmt::format("{} >= {}", drawn, ratio));
  const std::string scaled = fmt::format("{} ? {} / (1.0 - {}) : 0.0", kept, x, ratio);
  STRIA_RETURN_IF_ERROR(node.result(0, stria::onnx::cast(scaled, type)));
  return node.result(1, stria::onnx::cast(kept, mask_type));
}

}  // namespace stria::onnx::operators
