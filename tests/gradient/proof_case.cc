// SPDX-License-Identifier: Apache-2.0
#include "proof_case.h"

#include <regex>
#include <set>

#include "stria/base/status.h"
#include "stria/base/text.h"

namespace stria::gradient_proof {
namespace {

// Whole numbers in `text`, whatever stands between them.
template <typename Number>
std::vector<Number> numbers_in(const std::string& text) {
  static const std::regex digits("[0-9]+");
  std::vector<Number> out;
  for (std::sregex_iterator it(text.begin(), text.end(), digits), end; it != end; ++it)
    out.push_back(static_cast<Number>(std::stol(it->str())));
  return out;
}

Result<std::vector<Input>> parse_inputs(const std::string& text) {
  static const std::regex input(
      R"(\[([0-9]{1,9}(?:, [0-9]{1,9})*)?\](?: = ([0-9]{1,9}(?: [0-9]{1,9})*))?(?:, (?=.)|$))");
  std::vector<Input> inputs;
  auto at = text.begin();
  std::smatch match;
  while (at != text.end()) {
    if (!std::regex_search(at, text.end(), match, input, std::regex_constants::match_continuous))
      return invalid_argument("'{}' is not '[size, …]' or '[size, …] = number …'",
                              std::string(at, text.end()));
    inputs.push_back({numbers_in<int64_t>(match[1])});
    if (match[2].matched) {
      inputs.back().kind = Input::chosen;
      inputs.back().integers = numbers_in<double>(match[2]);
      const int64_t count = element_count({DataType::i32, inputs.back().sizes});
      if (static_cast<int64_t>(inputs.back().integers.size()) != count)
        return invalid_argument("the sizes [{}] need {} numbers, and there are {}", match[1].str(),
                                count, inputs.back().integers.size());
    }
    at = match[0].second;
  }
  return inputs;
}

}  // namespace

Numbers Input::numbers(uint64_t seed) const {
  if (kind == chosen) return {{DataType::i32, sizes}, integers};
  Numbers out = distinct_numbers(sizes, seed);
  if (kind == positive)
    for (double& value : out.values) value = 0.25 + (value + 2) / 2;
  return out;
}

Result<std::vector<ProofCase>> parse_proof_cases(const std::filesystem::path& path,
                                                 std::string_view text) {
  static const std::regex head(R"((\w+): (.+))");
  std::vector<ProofCase> cases;
  std::set<std::string> names;
  int number = 0, head_number = 0;
  auto wrong = [&](int line, const std::string& what) {
    return invalid_argument("{}:{}: {}", path.string(), line, what);
  };
  auto lacks_program = [&] { return !cases.empty() && cases.back().text.empty(); };
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (trim(line).empty() || line.starts_with("//")) continue;
    if (line.starts_with("  ")) {
      if (cases.empty()) return wrong(number, "a line 'name: inputs' must be above a program");
      cases.back().text += line.substr(2) + "\n";
      continue;
    }
    std::smatch match;
    if (!std::regex_match(line, match, head))
      return wrong(number, "'" + line + "' is neither 'name: inputs' nor indented by two spaces");
    if (lacks_program()) return wrong(head_number, "the case has no program below it");
    if (!names.insert(match[1]).second)
      return wrong(number, "there are two cases '" + match[1].str() + "'");
    Result<std::vector<Input>> inputs = parse_inputs(match[2]);
    if (!inputs.ok()) return wrong(number, inputs.status().message());
    cases.push_back({match[1], *inputs});
    head_number = number;
  }
  if (lacks_program()) return wrong(head_number, "the case has no program below it");
  return cases;
}

}  // namespace stria::gradient_proof
