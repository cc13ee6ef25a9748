// SPDX-License-Identifier: Apache-2.0
// Reads the JSON that people write: // and /* */ comments and trailing commas are accepted, a key
// given twice is not, and errors carry file, line and column. Typographic quotes, which slides and
// word processors make, are refused with a hint. Templates (template_text.h) are rendered first,
// and errors then point into the template.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/template/template_text.h"

namespace stria {

// Where a value of a JSON text stands: offsets in the source, which is the template if there is
// one.
struct JsonPlace {
  size_t key = 0;       // of its key's opening quote; of the value itself in a list and at the top
  size_t value = 0;     // of its first character
  TemplateReads reads;  // what a number, text or word was computed from
};
// By JSON pointer, "" for the top. Of the first 2^18 values; a text with more has too many to tell.
using JsonPlaces = std::map<std::string, JsonPlace>;

// `places`, if not null, is set to the places of the text's values.
Result<nlohmann::json> parse_json_text(const SourceText& source, JsonPlaces* places = nullptr);

// Renders `source` with `values` (an object of names), then parses.
Result<nlohmann::json> parse_json_template(const SourceText& source, const nlohmann::json& values,
                                           JsonPlaces* places = nullptr);

// What the text of a nlohmann::json::parse_error says is wrong, without the place: "syntax error
// while parsing object - unexpected string literal; expected ',' or '}'".
std::string json_error_text(std::string_view what);

// Whether JSON can hold the text: it is UTF-8.
bool fits_json(const std::string& text);

// A JSON pointer extended by one step: "/passes" + "0" -> "/passes/0", with ~ and / escaped.
std::string pointer_child(const std::string& pointer, const std::string& step);

}  // namespace stria
