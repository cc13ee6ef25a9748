// SPDX-License-Identifier: Apache-2.0
#include "stria/tensor_io/numbers.h"

#include <limits>

#include "stria/base/number_text.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();

bool is_word(std::string_view text) { return text == "true" || text == "false"; }

Result<Scalar> scalar_of(const std::string& text, DataType type) {
  if (type == DataType::boolean) {
    if (text == "true" || text == "1") return Scalar::of_bool(true);
    if (text == "false" || text == "0") return Scalar::of_bool(false);
    return invalid_argument("'{}' is no bool: true, false, 1 or 0", shown_name(text));
  }
  if (is_word(text)) return invalid_argument("'{}' is no {}", text, name_of(type));
  if (is_float(type)) {
    STRIA_ASSIGN(const double value, parse_number(text, -kLargest, kLargest));
    return Scalar::of_float(type, value);
  }
  const int bits = bit_width(type);
  if (is_signed_integer(type)) {
    const int64_t least = std::numeric_limits<int64_t>::min() >> (64 - bits);
    STRIA_ASSIGN(const int64_t value, parse_integer(text, least, ~least));
    return Scalar::of_int(type, value);
  }
  STRIA_ASSIGN(const uint64_t value,
               parse_unsigned(text, 0, std::numeric_limits<uint64_t>::max() >> (64 - bits)));
  return Scalar::of_int(type, static_cast<int64_t>(value));
}

}  // namespace

std::optional<std::vector<std::string>> split_numbers(std::string_view text) {
  std::vector<std::string> parts = split(text, ',');
  for (const std::string& part : parts)
    if (!is_word(part) && !parse_number(part, -kLargest, kLargest).ok()) return std::nullopt;
  return parts;
}

std::optional<std::vector<int64_t>> sizes_of_numbers(size_t count, std::optional<size_t> rank) {
  if (count == 1 && rank.value_or(0) == 0) return std::vector<int64_t>{};
  if (rank.value_or(1) == 1) return std::vector<int64_t>{static_cast<int64_t>(count)};
  return std::nullopt;
}

Result<HostTensor> number_tensor(const std::vector<std::string>& numbers, DataType type,
                                 const std::vector<int64_t>& sizes, std::string_view what) {
  STRIA_ASSIGN(HostTensor tensor, HostTensor::create(type, sizes, what));
  const auto count = static_cast<int64_t>(numbers.size());
  if (count != 1 && count != tensor.element_count())
    return invalid_argument("{} is {}: it takes {} numbers or one for all, not {}", what,
                            to_string(type, sizes), tensor.element_count(), count);
  std::vector<Scalar> values;
  for (const std::string& number : numbers) {
    auto value = scalar_of(number, type);
    if (!value.ok()) return value.status().with_context(what);
    values.push_back(*value);
  }
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    store_scalar(type, tensor.data(), i, values[count == 1 ? 0 : static_cast<size_t>(i)]);
  return tensor;
}

}  // namespace stria
