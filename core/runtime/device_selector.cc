// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/device_selector.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "stria/base/shown_text.h"

namespace stria {
namespace {

std::optional<size_t> whole_number(std::string_view text) {
  size_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Does the set that starts behind '[' hold `c`? Moves `pattern` behind its ']'.
bool set_match(std::string_view& pattern, char c) {
  const bool negated = !pattern.empty() && pattern[0] == '!';
  if (negated) pattern.remove_prefix(1);
  bool found = false;
  for (bool first = true; !pattern.empty() && (first || pattern[0] != ']'); first = false) {
    const char low = lower_case(pattern[0]);
    char high = low;
    pattern.remove_prefix(1);
    if (pattern.size() >= 2 && pattern[0] == '-' && pattern[1] != ']') {
      high = lower_case(pattern[1]);
      pattern.remove_prefix(2);
    }
    found = found || (low <= c && c <= high);
  }
  if (!pattern.empty()) pattern.remove_prefix(1);
  return found != negated;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  // On a mismatch the last star takes one character more: no recursion, at worst a product of
  // lengths.
  std::optional<std::string_view> star;
  std::string_view star_text;
  while (true) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      star = pattern;
      star_text = text;
      continue;
    }
    bool matched = false;
    if (!text.empty() && !pattern.empty()) {
      const char c = lower_case(text[0]);
      const char p = pattern[0];
      pattern.remove_prefix(1);
      matched = p == '?' || (p == '[' ? set_match(pattern, c) : lower_case(p) == c);
      text.remove_prefix(1);
    } else if (text.empty()) {
      return pattern.empty();
    }
    if (matched) continue;
    if (!star || star_text.empty()) return false;
    star_text.remove_prefix(1);
    pattern = *star;
    text = star_text;
  }
}

Result<DeviceSelector> parse_device_selector(std::string_view text) {
  if (text.empty())
    return invalid_argument(
        "the device selector is empty; it is PLUGIN, PLUGIN:N, PLUGIN:NAME or auto");
  const std::string shown = shown_name(text);
  DeviceSelector selector;
  if (text.starts_with(kIsolated)) {
    selector.isolated = true;
    text.remove_prefix(kIsolated.size());
  }
  if (text == "auto") {
    selector.automatic = true;
    return selector;
  }
  const size_t colon = text.find(':');
  selector.plugin = std::string(text.substr(0, colon));
  const bool word = std::all_of(selector.plugin.begin(), selector.plugin.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  if (selector.plugin.empty() || !word)
    return invalid_argument(
        "the device selector '{}' does not begin with the name of a plugin; it is "
        "PLUGIN, PLUGIN:N, PLUGIN:NAME or auto",
        shown);
  if (colon == std::string_view::npos) return selector;
  if (selector.plugin == "auto")
    return invalid_argument("the device selector '{}' has something behind auto; auto stands alone",
                            shown);
  selector.device = std::string(text.substr(colon + 1));
  if (selector.device.size() > 1 && selector.device[0] == '-' &&
      selector.device.find_first_not_of("0123456789", 1) == std::string::npos)
    return invalid_argument("the device selector '{}' has a negative number; devices count from 0",
                            shown);
  if (selector.device.empty())
    return invalid_argument(
        "the device selector '{}' has nothing behind its colon; it is PLUGIN, "
        "PLUGIN:N, PLUGIN:NAME or auto",
        shown);
  return selector;
}

bool selects(const DeviceSelector& selector, std::string_view name, std::string_view id,
             size_t position) {
  if (selector.device.empty()) return true;
  if (auto number = whole_number(selector.device)) return *number == position;
  return glob_match(selector.device, name) || glob_match(selector.device, id);
}

}  // namespace stria
