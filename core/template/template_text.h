// SPDX-License-Identifier: Apache-2.0
// Renders the templates that hardware models and pipelines are written in, a subset of Jinja:
//   {{ expression }}                         its value
//   {% set x = expression %}                 in a loop body: for that round only
//   {% for x in list %} … {% endfor %}       with loop.index, index0, revindex, revindex0, first,
//                                            last, length
//   {% if c %} … {% elif c %} … {% else %} … {% endif %}
//   {# comment #}                            and {%- -%} trims white space on that side
// Expressions: template_expression.h, template_parameters.h. Every error carries file, line,
// column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"

namespace stria {

// Parameters as a command line gives them: NUM_SRAM=8. The text is read as JSON where it is JSON
// (8, 2.5, true, [1, 2], "x"; no blanks around it) and is a string otherwise.
using TemplateSettings = std::map<std::string, std::string>;
nlohmann::json settings_as_json(const TemplateSettings& settings);
// "NUM_SRAM=8"; invalid_argument without '=', with an ill-formed name or a value that is not UTF-8.
Status add_setting(std::string_view assignment, TemplateSettings& settings);

// What a value was computed from: the caller's values that were read, and whether a `default` spoke
// for one that was not there. Names that the template sets pass theirs on.
struct TemplateReads {
  static constexpr size_t kMaxPaths = 8;  // more are left out
  std::vector<std::string> paths;         // "NUM_SRAM", "device.exec_units.CORE.count"; each once
  bool defaulted = false;
  bool empty() const { return paths.empty() && !defaulted; }
  void add(const std::string& path);
  void add(const TemplateReads& more);
  bool operator==(const TemplateReads&) const = default;
};

struct RenderedText {
  std::string text;
  // (offset in `text`, offset in the template it came from), rising; the piece up to the next entry
  // runs parallel if `verbatim` there, else all of it came from that one place.
  struct Origin {
    size_t rendered = 0;
    size_t source = 0;
    bool verbatim = true;
    uint32_t reads = 0;  // position in `reads`
  };
  std::vector<Origin> origins;
  std::vector<TemplateReads> reads = {TemplateReads()};  // the first is empty
  // Where in the template the byte at `offset` of the rendered text came from.
  size_t source_offset(size_t offset) const;
  // What the bytes [begin, end) of the rendered text were computed from; without a byte, what was
  // empty there.
  TemplateReads reads_of(size_t begin, size_t end) const;

 private:
  size_t piece_at(size_t offset) const;  // position in `origins`; there is at least one
};

// The names that the template reads from its values, in any branch, and does not set itself first:
// its parameters. Thread-safe.
Result<std::set<std::string>> template_parameters(const SourceText& source);
// Those of them that a caller sets (template_parameters.h): without `hw`, `device` and `tune`.
Result<std::set<std::string>> settable_parameters(const SourceText& source);
// not_found, with the nearest name, for a setting that is none of `parameters`; `place` says whose
// they are, "'hw.json' or 'steps.json'". Thread-safe.
Status check_settings(const TemplateSettings& settings, const std::set<std::string>& parameters,
                      std::string_view place);

// `values` is an object of names. Output is limited to 64 MiB, the work and the values' sizes to
// about a second's (template_expression.h); beyond that out_of_range. Thread-safe.
Result<RenderedText> render_template(const SourceText& source, const nlohmann::json& values);

}  // namespace stria
