// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/pick/device_selector.h"

#include <algorithm>
#include <cstdlib>

#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/runtime/pick/glob.h"
#include "stria/runtime/pick/quantity.h"
#include "stria/runtime/pick/selector_words.h"

namespace stria {
namespace {

// A pattern as it stands in a selector: what would end it or mean something else is in quotes.
std::string quoted_where_needed(std::string_view pattern, std::string_view reserved) {
  const size_t last = pattern.size() - 1;
  std::string out;
  bool inside = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool at_an_end = i == 0 || i == last;
    const bool quote = reserved.find(c) != std::string_view::npos || c == ',' || c == '"' ||
                       (at_an_end && (c == ' ' || c == '\t' || c == '\r'));
    if (quote != inside) out += '"';
    inside = quote;
    out += c;
    if (c == '"') out += c;
  }
  return inside ? out + '"' : out;
}

// Would it be read as a number, or as a negative one?
bool looks_like_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string device_text(const SelectorTerm& term) {
  std::string out = is_selector_word(term.plugin) ? '"' + term.plugin + '"' : term.plugin;
  if (term.number) return out + fmt::format(":{}", *term.number);
  if (term.device.empty()) return out;
  return out + ":" +
         (looks_like_number(term.device) ? '"' + term.device + '"'
                                         : quoted_where_needed(term.device, ""));
}

std::string alternatives(const std::vector<std::string>& patterns) {
  std::vector<std::string> out;
  for (const std::string& pattern : patterns) out.push_back(quoted_where_needed(pattern, "|"));
  return join(out, "|");
}

std::string_view sign_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::at_least: return ">=";
    case Comparison::at_most: return "<=";
    case Comparison::more: return ">";
    case Comparison::less: return "<";
  }
  return "";
}

}  // namespace

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::any: return "";
    case Objective::latency: return "latency";
    case Objective::throughput: return "throughput";
    case Objective::energy: return "energy";
    case Objective::first_result: return "first-result";
  }
  return "";
}

std::string SelectorTerm::to_string() const {
  const std::string sign = negated ? "!" : "";
  switch (kind) {
    case Kind::device: return sign + device_text(*this);
    case Kind::memory:
      return fmt::format("{}mem{}{}", sign, sign_of(comparison), bytes_text(bytes));
    case Kind::type: {
      std::vector<std::string> names;
      for (const DataType type : types) names.emplace_back(stria::name_of(type));
      return sign + "dtype:" + join(names, "|");
    }
    case Kind::kind: return sign + "kind:" + alternatives(patterns);
    case Kind::vendor: return sign + "vendor:" + alternatives(patterns);
    case Kind::real: return sign + "real";
  }
  return "";
}

std::string DeviceSelector::to_string() const {
  std::vector<std::string> parts;
  if (automatic)
    parts.push_back(objective == Objective::any ? "auto"
                                                : fmt::format("auto:{}", name_of(objective)));
  for (const SelectorTerm& term : terms) parts.push_back(term.to_string());
  if (runs) parts.push_back(fmt::format("runs={}", *runs));
  if (deadline_s) parts.push_back("deadline<=" + seconds_text(*deadline_s));
  if (power_w) parts.push_back("power<=" + watts_text(*power_w));
  return (isolated ? std::string(kIsolated) : "") + join(parts, ",");
}

std::vector<std::string> DeviceSelector::plugins() const {
  std::vector<std::string> out;
  for (const SelectorTerm& term : terms) {
    if (term.kind != SelectorTerm::Kind::device || term.negated) continue;
    if (is_pattern(term.plugin)) return {};
    if (std::find(out.begin(), out.end(), term.plugin) == out.end()) out.push_back(term.plugin);
  }
  return out;
}

bool DeviceSelector::is_pinned() const {
  const auto named = std::count_if(terms.begin(), terms.end(), [](const SelectorTerm& term) {
    return term.kind == SelectorTerm::Kind::device && !term.negated;
  });
  return !automatic && named == 1;
}

std::string default_device_selector() {
  const char* text = secure_getenv("STRIA_DEVICE");
  return text != nullptr && *text != '\0' ? text : "auto";
}

bool asks_predictions(const DeviceSelector& selector) {
  return selector.objective != Objective::any || selector.runs || selector.deadline_s ||
         selector.power_w;
}

Status check_can_be_kept(const DeviceSelector& selector, bool has_program) {
  if (has_program) {
    if (!selector.runs || selector.automatic) return Status();
    return invalid_argument(
        "the device selector '{}': 'runs={}' changes nothing where the first of a list is taken; "
        "add 'auto' for the best one",
        selector.to_string(), *selector.runs);
  }
  std::vector<std::string> asked;
  if (selector.objective != Objective::any)
    asked.push_back(fmt::format("'auto:{}'", name_of(selector.objective)));
  if (selector.runs) asked.push_back(fmt::format("'runs={}'", *selector.runs));
  if (selector.deadline_s)
    asked.push_back(fmt::format("'deadline<={}'", seconds_text(*selector.deadline_s)));
  if (selector.power_w) asked.push_back(fmt::format("'power<={}'", watts_text(*selector.power_w)));
  if (asked.empty()) return Status();
  return unsupported(
      "the device selector '{}' asks for {}, which cannot be kept here: what a device takes is "
      "known "
      "for a program only (stria pick, stria run); leave {} out",
      selector.to_string(), join(asked, ", "), asked.size() == 1 ? "it" : "them");
}

}  // namespace stria
