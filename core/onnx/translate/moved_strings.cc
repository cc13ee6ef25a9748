// SPDX-License-Identifier: Apache-2.0
// Strings that are moved, or chosen from. Operators that compute nothing (Reshape, Gather, Concat)
// do to the numbers of strings what they would do to the strings: a device can, and where the
// numbers are known, so are the strings.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "stria/base/status.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/onnx/translate/operator.h"
#include "stria/type/scalar.h"

namespace stria::onnx {
namespace {

struct Mover {
  std::string_view domain, name;
  int movable;  // how many inputs, from the first on, hold what is moved
};

constexpr int kAll = 1 << 30;
constexpr Mover kMovers[] = {
    {"", "Compress", 1},  {"", "Concat", kAll}, {"", "Expand", 1},
    {"", "Flatten", 1},   {"", "Gather", 1},    {"", "GatherElements", 1},
    {"", "GatherND", 1},  {"", "Reshape", 1},   {"", "Slice", 1},
    {"", "Split", 1},     {"", "Squeeze", 1},   {"", "Tile", 1},
    {"", "Transpose", 1}, {"", "Unsqueeze", 1}, {"ai.onnx.ml", "ArrayFeatureExtractor", 1},
};

const Mover* mover_of(const Node& node) {
  const std::string_view domain = node.domain == "ai.onnx" ? "" : std::string_view(node.domain);
  for (const Mover& mover : kMovers)
    if (mover.domain == domain && mover.name == node.op_type) return &mover;
  return nullptr;
}

bool has_strings(const ValuePtr& value) {
  return value && (value->kind == Value::Kind::strings || value->kind == Value::Kind::chosen);
}

}  // namespace

bool GraphTranslator::moves_strings(const Node& node, const std::vector<ValuePtr>& inputs) const {
  const Mover* const mover = mover_of(node);
  if (!mover) return false;
  for (size_t i = 0; i < inputs.size() && static_cast<int>(i) < mover->movable; ++i)
    if (has_strings(inputs[i])) return true;
  return false;
}

Result<ValuePtr> GraphTranslator::numbers_of_strings(const ValuePtr& strings, int64_t first) {
  STRIA_ASSIGN(HostTensor numbers,
               HostTensor::create(DataType::i64, strings->type.sizes, "numbers of strings"));
  for (int64_t e = 0; e < numbers.element_count(); ++e)
    store_scalar(DataType::i64, numbers.data(), e, Scalar::of_int(DataType::i64, first + e));
  return known(strings->name, std::move(numbers));
}

Status GraphTranslator::move_strings(const Operator& found, const Node& node,
                                     std::vector<ValuePtr> inputs, int64_t version, Scope& scope) {
  const Mover* const mover = mover_of(node);
  std::vector<std::string> strings;
  for (size_t i = 0; i < inputs.size() && static_cast<int>(i) < mover->movable; ++i) {
    ValuePtr& input = inputs[i];
    if (!has_strings(input))
      return invalid_argument("{}: input {} has no strings, another one has", text_of(node), i);
    const auto first = static_cast<int64_t>(strings.size());
    strings.insert(strings.end(), input->strings.begin(), input->strings.end());
    if (input->kind == Value::Kind::chosen) {
      if (first == 0) {
        input = input->items[0];
        continue;
      }
      const auto behind_others = [&](NodeWriter& writer) -> Status {
        STRIA_ASSIGN(const std::string x, writer.tensor(0));
        return writer.result(0, fmt::format("{} + {}", x, first));
      };
      STRIA_ASSIGN(input, compute("Behind", {input->items[0]}, behind_others));
      continue;
    }
    STRIA_ASSIGN(input, numbers_of_strings(input, first));
  }
  NodeWriter writer(*this, node, version, std::move(inputs));
  scope_ = &scope;
  STRIA_RETURN_IF_ERROR(found.translate(writer));
  Scope moved;
  STRIA_RETURN_IF_ERROR(finish(writer, moved));
  for (const auto& [name, value] : moved.values) {
    STRIA_ASSIGN(ValuePtr out, strings_by(value, strings));
    if (!scope.values.emplace(name, std::move(out)).second)
      return invalid_argument("{}: the name '{}' is taken", text_of(node), name);
  }
  return {};
}

Result<ValuePtr> GraphTranslator::strings_by(const ValuePtr& numbers,
                                             const std::vector<std::string>& strings) {
  ValuePtr out = chosen_by(numbers, strings);
  if (!numbers->depends_on.empty()) return out;
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> known, elements(numbers));
  out->kind = Value::Kind::strings;
  out->items.clear();
  out->strings.clear();
  for (int64_t e = 0; e < known->element_count(); ++e) {
    const int64_t number = load_scalar(known->type(), known->data(), e).i;
    if (number < 0 || number >= static_cast<int64_t>(strings.size()))
      return internal_error("'{}': string {} of {}", numbers->name, number, strings.size());
    out->strings.push_back(strings[static_cast<size_t>(number)]);
  }
  return out;
}

}  // namespace stria::onnx
