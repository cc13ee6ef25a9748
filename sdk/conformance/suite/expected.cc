// SPDX-License-Identifier: Apache-2.0
#include "suite/expected.h"

#include <fnmatch.h>

#include <ctime>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/files/inside_file.h"

namespace stria::conformance {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

bool is_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (const size_t i : {0, 1, 2, 3, 5, 6, 8, 9})
    if (text[i] < '0' || text[i] > '9') return false;
  const int month = (text[5] - '0') * 10 + text[6] - '0';
  const int day = (text[8] - '0') * 10 + text[9] - '0';
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

// The first word of `rest`, which loses it.
std::string_view next_word(std::string_view& rest) {
  rest = trim(rest);
  const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest = trim(rest.substr(end));
  return word;
}

}  // namespace

Result<std::vector<ExpectedFailure>> parse_expected(std::string_view text, std::string_view name) {
  std::vector<ExpectedFailure> out;
  std::string mistakes;
  int line = 0;
  for (std::string_view left = text; !left.empty();) {
    const size_t end = std::min(left.find('\n'), left.size());
    std::string_view rest = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    ++line;
    rest = trim(rest.substr(0, std::min(rest.find('#'), rest.size())));
    if (rest.empty()) continue;
    const std::string_view cases = next_word(rest), until = next_word(rest);
    if (!is_day(until))
      mistakes += fmt::format("{}{}:{}: '{}' is no day (YYYY-MM-DD)", mistakes.empty() ? "" : "\n",
                              name, line, shown_name(until));
    else if (rest.empty())
      mistakes += fmt::format("{}{}:{}: {} has no reason behind the day",
                              mistakes.empty() ? "" : "\n", name, line, shown_name(cases));
    else
      out.push_back({std::string(cases), std::string(until), std::string(rest), line});
  }
  if (!mistakes.empty()) return Status(StatusCode::invalid_argument, mistakes);
  return out;
}

Result<std::vector<ExpectedFailure>> read_expected(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / kExpectedFile;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::vector<ExpectedFailure>();
  STRIA_ASSIGN(const std::string text,
               hal::read_inside(directory, std::filesystem::path(kExpectedFile), kMaxBytes,
                                "the list of expected failures"));
  return parse_expected(text, file.string());
}

void apply_expected(const std::vector<ExpectedFailure>& expected, std::string_view today,
                    const std::vector<Case>& all, std::vector<CaseResult>& results) {
  for (CaseResult& result : results) {
    if (result.ending == Ending::skip || result.ending == Ending::unsupported) continue;
    for (const ExpectedFailure& known : expected) {
      if (today > known.until ||
          ::fnmatch(known.cases.c_str(), all[result.index].name.c_str(), 0) != 0)
        continue;
      const std::string where =
          fmt::format("{}:{}: until {}: {}", kExpectedFile, known.line, known.until, known.reason);
      if (result.ending == Ending::pass) {
        result.ending = Ending::xpass;
        result.text = "passes, and is listed as one that fails (" + where + "): take it off";
      } else {
        result.ending = Ending::xfail;
        result.text += " (" + where + ")";
      }
      break;
    }
  }
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  ::gmtime_r(&now, &day);
  return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

}  // namespace stria::conformance
