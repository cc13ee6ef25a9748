// SPDX-License-Identifier: Apache-2.0
// Reads the JSON that people write: // and /* */ comments and trailing commas are accepted, a key
// given twice is not, and errors carry file, line and column. Typographic quotes, which slides and
// word processors make, are refused with a hint. Templates (template_text.h) are rendered first,
// and errors then point into the template.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"

namespace stria {

Result<nlohmann::json> parse_json_text(const SourceText& source);

// Renders `source` with `values` (an object of names), then parses.
Result<nlohmann::json> parse_json_template(const SourceText& source, const nlohmann::json& values);

// Whether JSON can hold the text: it is UTF-8.
bool fits_json(const std::string& text);

// A JSON pointer extended by one step: "/passes" + "0" -> "/passes/0", with ~ and / escaped.
std::string pointer_child(const std::string& pointer, const std::string& step);

}  // namespace stria
