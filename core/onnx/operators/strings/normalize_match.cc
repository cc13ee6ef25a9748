// SPDX-License-Identifier: Apache-2.0
// StringNormalizer and RegexFullMatch.
#include <fmt/format.h>
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <memory>
#include <regex>

#include "stria/base/status.h"
#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/operators/strings/string_value.h"

namespace stria::onnx::operators {
namespace {

// The compiler of patterns calls itself for groups inside each other.
constexpr size_t kLongestPattern = 1000;

struct FreeLocale {
  void operator()(locale_t locale) const { freelocale(locale); }
};
using Locale = std::unique_ptr<std::remove_pointer_t<locale_t>, FreeLocale>;

std::string in_case(const std::string& text, bool upper, locale_t locale) {
  std::u32string points = code_points(text);
  for (char32_t& point : points) {
    const auto c = static_cast<wint_t>(point);
    point = static_cast<char32_t>(upper ? towupper_l(c, locale) : towlower_l(c, locale));
  }
  return utf8(points);
}

std::wstring wide_text(std::string_view text) {
  const std::u32string points = code_points(text);
  return {points.begin(), points.end()};
}

}  // namespace

Status string_normalizer(NodeWriter& node) {
  STRIA_ASSIGN(const ValuePtr x, strings_of(node, 0));
  STRIA_ASSIGN(const std::string change, node.string_attribute("case_change_action", "NONE"));
  STRIA_ASSIGN(const int64_t case_sensitive, node.integer_attribute("is_case_sensitive", 0));
  const Sizes& sizes = x->type.sizes;
  if (sizes.empty() || sizes.size() > 2 || (sizes.size() == 2 && sizes[0] != 1))
    return node.error(fmt::format("strings of sizes [{}]", list_text(sizes)));
  if (change != "NONE" && change != "UPPER" && change != "LOWER")
    return node.error(fmt::format("case_change_action '{}'", change));
  // The letters of all languages; those of one, like Turkish, are not told apart.
  const Locale locale(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr));
  if (!locale) return internal_error("the locale C.UTF-8 is missing");
  std::vector<std::string> stop;
  if (const Attribute* const words = node.find_attribute("stopwords")) stop = words->strings;
  const auto compared = [&](const std::string& text) {
    return case_sensitive ? text : in_case(text, false, locale.get());
  };
  for (std::string& word : stop) word = compared(word);
  std::vector<std::string> left;
  for (const std::string& text : x->strings) {
    if (std::find(stop.begin(), stop.end(), compared(text)) != stop.end()) continue;
    left.push_back(change == "NONE" ? text : in_case(text, change == "UPPER", locale.get()));
  }
  if (left.empty()) left.emplace_back();
  Sizes result = sizes;
  result.back() = static_cast<int64_t>(left.size());
  return result_strings(node, 0, std::move(left), result);
}

Status regex_full_match(NodeWriter& node) {
  STRIA_ASSIGN(const ValuePtr x, strings_of(node, 0));
  STRIA_ASSIGN(const std::string pattern, node.string_attribute("pattern", ""));
  if (pattern.size() > kLongestPattern)
    return node.not_supported(fmt::format("a pattern of more than {} bytes", kLongestPattern));
  std::vector<double> matches;
  try {
    // In time that grows with the text only, as RE2 promises: no text makes it try all ways.
    const std::wregex regex(wide_text(pattern),
                            std::regex::ECMAScript | std::regex_constants::__polynomial);
    for (const std::string& text : x->strings)
      matches.push_back(std::regex_match(wide_text(text), regex) ? 1 : 0);
  } catch (const std::regex_error& failure) {
    return node.not_supported(fmt::format("the pattern '{}': {}", pattern, failure.what()));
  }
  STRIA_ASSIGN(HostTensor out, number_table(DataType::boolean, matches, x->type.sizes));
  return node.result_known(0, std::move(out));
}

}  // namespace stria::onnx::operators
