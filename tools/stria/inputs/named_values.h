// SPDX-License-Identifier: Apache-2.0
// Options of the form NAME=VALUE, and what the values of --shape and --check mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/type/data_type.h"

namespace stria::command {

struct NamedValue {
  std::string name;
  std::string value;
};
// `option` stands in messages. invalid_argument without '=' or without a name; with `unique`, also
// for a name given twice.
Result<std::vector<NamedValue>> parse_named_values(std::string_view option,
                                                   const std::vector<std::string>& texts,
                                                   bool unique);

struct ShapeText {
  std::string name;
  std::vector<int64_t> sizes;
  std::optional<DataType> type;
};
// "A=2,3:fp16", "A=" (rank 0), "A=:i8".
Result<std::vector<ShapeText>> parse_shapes(const std::vector<std::string>& texts);

// What --check asks for: nothing, everything, or so many elements of each result.
struct CheckRequest {
  bool wanted = false;
  std::optional<int64_t> sample;
};
Result<CheckRequest> parse_check(std::string_view text);

}  // namespace stria::command
