// SPDX-License-Identifier: Apache-2.0
#include "template_settings.h"

#include <set>

#include "stria/base/file.h"
#include "stria/base/text.h"

namespace stria::command {

Result<SourceText> read_source(const std::string& path) {
  STRIA_ASSIGN(std::string text, read_file(path));
  return SourceText{path, std::move(text)};
}

Outcome parse_settings(const std::vector<std::string>& texts, TemplateSettings& settings) {
  for (const std::string& text : texts)
    STRIA_FAIL_IF_ERROR(ExitCode::usage, add_setting(text, settings));
  return Outcome();
}

Outcome check_settings(const TemplateSettings& settings, const std::vector<SourceText>& files,
                       const std::string& needed) {
  std::set<std::string> known;
  std::vector<std::string> names;
  for (const SourceText& file : files) {
    if (file.name.empty()) continue;
    STRIA_OR_FAIL(std::set<std::string> more, ExitCode::program, template_parameters(file));
    known.merge(more);
    names.push_back(fmt::format("'{}'", file.name));
  }
  for (const char* given : {"hw", "device"}) known.erase(given);  // what a model or a device sets
  for (const auto& [name, value] : settings) {
    if (known.count(name)) continue;
    if (names.empty())
      return Outcome(ExitCode::usage, invalid_argument("--set {}=… needs {}", name, needed));
    return Outcome(ExitCode::usage,
                   not_found("--set: no parameter '{}' in {}{}", name, join(names, " or "),
                             did_you_mean(name, {known.begin(), known.end()})));
  }
  return Outcome();
}

}  // namespace stria::command
