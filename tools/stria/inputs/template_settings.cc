// SPDX-License-Identifier: Apache-2.0
#include "inputs/template_settings.h"

#include <set>

#include "stria/base/text.h"
#include "stria/runtime/compile_driver.h"

namespace stria::command {

Result<SourceText> read_source(const std::string& path, size_t max_bytes) {
  STRIA_ASSIGN(std::string text, read_file(path, max_bytes));
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
    STRIA_OR_FAIL(std::set<std::string> more, ExitCode::program, settable_parameters(file));
    known.merge(more);
    names.push_back(fmt::format("'{}'", file.name));
  }
  if (names.empty() && !settings.empty())
    return Outcome(ExitCode::usage,
                   invalid_argument("--set {}=… needs {}", settings.begin()->first, needed));
  STRIA_FAIL_IF_ERROR(
      ExitCode::usage,
      stria::check_settings(settings, known, join(names, " or ")).with_context("--set"));
  return Outcome();
}

Outcome check_parameters(const Device& device, const CompileOptions& options) {
  const Status status = CompileDriver::check_parameters(device, options);
  if (status.ok()) return Outcome();
  CompileOptions plain = options;
  plain.parameters.clear();
  STRIA_FAIL_IF_ERROR(ExitCode::program, CompileDriver::check_parameters(device, plain));
  if (status.code() == StatusCode::not_found)  // a name
    return Outcome(ExitCode::usage, status.with_context("--set"));
  std::string given = "with";
  for (const auto& [name, value] : options.parameters)
    given += fmt::format(" --set {}={}", name, value);
  return Outcome(ExitCode::usage, status.with_context(given));
}

}  // namespace stria::command
