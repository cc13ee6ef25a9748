// SPDX-License-Identifier: Apache-2.0
// A template's parameters: what a caller may set, with the values that are legal. A template
// declares them by a filter, so that it stays a template:
//   {% set NUM_SRAM = NUM_SRAM | default(8) | integer(1, 64) %}     a whole number, ends included
//   {% set CLOCK_MHZ = CLOCK_MHZ | default(1000) | number(1, 1e5) %}
//   {% set WINOGRAD = WINOGRAD | default(0) | one_of(0, 2, 4) %}    numbers or texts
//   {% set SPREAD = SPREAD | default(true) | boolean %}
// The filter gives the value on, and fails for one that is not legal: the error names the
// parameter, its value, what is legal and the place in the template.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"

namespace stria {

struct TemplateParameter {
  std::string name;
  std::string initial;  // its default, as the template writes it; empty: there is none
  std::string legal;    // "a whole number from 1 to 64"; empty: the template does not say
  std::set<std::string> initial_reads;  // names that the default is computed from
  // What it may be, as settings give it: the values that one_of or boolean list as plain literals.
  std::vector<std::string> choices;
};

// Those that a caller may set (settable_parameters), in the order of the template. Thread-safe.
Result<std::vector<TemplateParameter>> declared_parameters(const SourceText& source);

// A line for each, indented: its name, its default, what is legal.
std::string describe_parameters(const std::vector<TemplateParameter>& parameters);

// The filters that declare a parameter.
const std::vector<std::string>& declaring_filters();
bool is_declaring_filter(std::string_view filter);
// "a whole number from 1 to 64": what the filter lets pass, its arguments as texts.
std::string legal_text(std::string_view filter, const std::vector<std::string>& arguments);
// Whether the filter lets `value` pass. invalid_argument, "integer needs …", if the arguments are
// not such as it takes.
Result<bool> is_legal(std::string_view filter, const std::vector<nlohmann::json>& arguments,
                      const nlohmann::json& value);

}  // namespace stria
