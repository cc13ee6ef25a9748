// SPDX-License-Identifier: Apache-2.0
#include "wrong_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "printed_json.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"

namespace stria::command {

std::string unknown_option(const CLI::App& app, int count, const char* const* arguments) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (int n = 1; n < count; ++n) {
    std::string word = arguments[n];
    if (word == "--") break;
    if (word.rfind("--", 0) != 0) continue;
    word = word.substr(0, word.find('='));
    if (std::find(names.begin(), names.end(), word) == names.end())
      return fmt::format("there is no option '{}'{}", shown_name(word), did_you_mean(word, names));
  }
  return "";
}

std::string unexpected_word(const CLI::App& app, int count, const char* const* arguments) {
  const std::vector<std::string> left = app.remaining();
  if (left.empty()) return "";
  for (int n = 1; n + 1 < count; ++n) {
    const std::string word = arguments[n], next = arguments[n + 1];
    if (word.rfind("--", 0) != 0 || word == "--" || next.empty() || next[0] == '-') continue;
    const CLI::Option* flag = app.get_option_no_throw(word);
    if (flag == nullptr || flag->get_items_expected_max() > 0) continue;
    if (word == "--json" && (next == left[0] || next.ends_with(".json")))
      return print_to_file_hint(next);
    if (next == left[0])
      return fmt::format("{} takes no value: what is '{}'?", word, shown_name(next));
  }
  std::vector<std::string> takes;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional()) takes.push_back(option->get_name(true));
  return fmt::format("'{}' is one word too many: {} takes {}", shown_name(left[0]), app.get_name(),
                     takes.empty() ? "options alone" : join(takes, " "));
}

std::string option_without_file(const CLI::App& app) {
  for (const char* name :
       {"--hw", "--pipeline", "--report", "--dump-dir", "--repro-dir", "--scalesim-topology",
        "--run-repro", "--output", "--input-dir", "--labels", "--check-kernels"}) {
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) continue;
    const std::vector<std::string> given = option->results();
    if (std::find(given.begin(), given.end(), "") != given.end()) return name;
  }
  return "";
}

}  // namespace stria::command
