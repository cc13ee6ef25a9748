// SPDX-License-Identifier: Apache-2.0
#include "inputs/named_values.h"

#include "stria/base/number_text.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"

namespace stria::command {

Result<std::vector<NamedValue>> parse_named_values(std::string_view option,
                                                   const std::vector<std::string>& texts,
                                                   bool unique) {
  std::vector<NamedValue> out;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return invalid_argument("{} '{}' is not of the form NAME=VALUE", option, shown_name(text));
    NamedValue value{text.substr(0, equals), text.substr(equals + 1)};
    for (const NamedValue& other : out)
      if (unique && other.name == value.name)
        return invalid_argument("{} is given twice for '{}'", option, shown_name(value.name));
    out.push_back(std::move(value));
  }
  return out;
}

Result<std::vector<ShapeText>> parse_shapes(const std::vector<std::string>& texts) {
  STRIA_ASSIGN(std::vector<NamedValue> values, parse_named_values("--shape", texts, true));
  std::vector<ShapeText> out;
  for (NamedValue& value : values) {
    ShapeText shape;
    shape.name = value.name;
    std::string sizes = value.value;
    const std::string shown = "--shape " + shown_name(value.name + "=" + value.value);
    if (const size_t colon = sizes.find(':'); colon != std::string::npos) {
      const std::string type = sizes.substr(colon + 1);
      shape.type = parse_tensor_type(type);
      if (!shape.type)
        return invalid_argument("{}: unknown type '{}'{}", shown, shown_name(type),
                                did_you_mean(type, tensor_type_names()));
      sizes.resize(colon);
    }
    if (!sizes.empty()) {
      for (const std::string& part : split(sizes, ',')) {
        const Result<int64_t> size = parse_integer(part, 0, INT64_MAX);
        if (!size.ok()) return size.status().with_context(fmt::format("{}: a size", shown));
        shape.sizes.push_back(*size);
      }
    }
    out.push_back(std::move(shape));
  }
  return out;
}

Result<CheckRequest> parse_check(std::string_view text) {
  if (text.empty()) return CheckRequest{};
  if (text == "all") return CheckRequest{true, std::nullopt};
  if (text.starts_with("sample:")) {
    const Result<int64_t> count = parse_integer(text.substr(7), 1, INT64_MAX);
    if (!count.ok()) return count.status().with_context(fmt::format("--check={}", text));
    return CheckRequest{true, *count};
  }
  return invalid_argument("--check={} is neither --check nor --check=sample:N with N at least 1",
                          shown_name(text));
}

}  // namespace stria::command
