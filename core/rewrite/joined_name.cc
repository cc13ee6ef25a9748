// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/joined_name.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "stria/base/text.h"

namespace stria::passes {
namespace {

constexpr size_t kMaxName = 256;
constexpr size_t kMaxLines = 24, kFirstLines = 16, kLastLines = 7;

// The number between `before` and `after`, if `text` consists of these three.
std::optional<size_t> number_between(std::string_view text, std::string_view before,
                                     std::string_view after) {
  if (!text.starts_with(before) || !text.ends_with(after) ||
      text.size() <= before.size() + after.size())
    return std::nullopt;
  text.remove_prefix(before.size());
  text.remove_suffix(after.size());
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

constexpr std::string_view kMoreLines = " lines more …";

}  // namespace

std::string joined_name(const std::string& a, const std::string& b) {
  std::string all = a + "+" + b;
  if (all.size() <= kMaxName) return all;
  const std::vector<std::string> parts = split(all, '+');
  size_t between = 0;
  for (size_t i = 1; i + 1 < parts.size(); ++i)
    between += number_between(parts[i], "..", "..").value_or(1);
  return between == 0 ? all : fmt::format("{}+..{}..+{}", parts.front(), between, parts.back());
}

std::vector<std::string> joined_comments(std::vector<std::string> a, std::vector<std::string> b) {
  for (std::string& line : b) a.push_back(std::move(line));
  if (a.size() <= kMaxLines) return a;
  size_t left_out = 0;
  for (size_t i = kFirstLines; i < a.size() - kLastLines; ++i)
    left_out += number_between(a[i], "… ", kMoreLines).value_or(1);
  std::vector<std::string> out;
  for (size_t i = 0; i < kFirstLines; ++i) out.push_back(std::move(a[i]));
  out.push_back(fmt::format("… {}{}", left_out, kMoreLines));
  for (size_t i = a.size() - kLastLines; i < a.size(); ++i) out.push_back(std::move(a[i]));
  return out;
}

}  // namespace stria::passes
