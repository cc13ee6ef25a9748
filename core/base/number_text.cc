// SPDX-License-Identifier: Apache-2.0
#include "stria/base/number_text.h"

#include <charconv>
#include <cmath>

#include "stria/base/shown_text.h"

namespace stria {
namespace {

template <typename Number>
Result<Number> parse(std::string_view text, Number least, Number most, std::string_view kind) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole_text = error == std::errc() && end == text.data() + text.size();
  // Not so of NaN.
  if (whole_text && least <= value && value <= most) return value;
  return invalid_argument("'{}' is not {} from {} to {}", shown_name(text), kind, least, most);
}

}  // namespace

Result<int64_t> parse_integer(std::string_view text, int64_t least, int64_t most) {
  return parse(text, least, most, "a whole number");
}

Result<uint64_t> parse_unsigned(std::string_view text, uint64_t least, uint64_t most) {
  return parse(text, least, most, "a whole number");
}

Result<double> parse_number(std::string_view text, double least, double most) {
  return parse(text, least, most, "a number");
}

}  // namespace stria
