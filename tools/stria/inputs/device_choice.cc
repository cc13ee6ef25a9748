// SPDX-License-Identifier: Apache-2.0
#include "inputs/device_choice.h"

#include <fmt/format.h>

#include "inputs/template_settings.h"
#include "stria/runtime/pick/device_selector.h"

namespace stria::command {

Outcome take_selector(std::string& text, bool left_out) {
  if (left_out) text = default_device_selector();
  const std::string variable = left_out ? "STRIA_DEVICE" : "";
  const auto named = [](const Status& status, const std::string& source) {
    return source.empty() ? status : status.with_context(source);
  };
  std::string file;
  if (text.starts_with('@')) {
    file = text.substr(1);
    Result<SourceText> read = read_source(file, kMaxSelectorBytes);
    if (!read.ok()) return Outcome(ExitCode::program, named(read.status(), variable));
    text = read->text;
  }
  if (file.empty() && !left_out) return Outcome();  // the verb says what is wrong with its option
  return Outcome(ExitCode::usage,
                 named(named(parse_device_selector(text).status(), file), variable));
}

Outcome check_selector(const std::string& text, bool has_program) {
  STRIA_OR_FAIL(const DeviceSelector selector, ExitCode::usage, parse_device_selector(text));
  STRIA_FAIL_IF_ERROR(ExitCode::usage, check_can_be_kept(selector, has_program));
  return Outcome();
}

}  // namespace stria::command
