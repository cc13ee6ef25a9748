// SPDX-License-Identifier: Apache-2.0
#include "wrong_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

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
