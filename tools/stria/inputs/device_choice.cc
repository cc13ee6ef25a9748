// SPDX-License-Identifier: Apache-2.0
#include "inputs/device_choice.h"

#include <fmt/format.h>

#include "inputs/template_settings.h"
#include "stria/runtime/pick/device_selector.h"

namespace stria::command {

Outcome take_selector(std::string& text, bool left_out) {
  std::string source = left_out ? "STRIA_DEVICE" : "";
  if (left_out) text = default_device_selector();
  if (text.starts_with('@')) {
    source += (left_out ? ": " : "") + text.substr(1);
    STRIA_OR_FAIL(const SourceText file, ExitCode::program,
                  read_source(text.substr(1), kMaxSelectorBytes));
    text = file.text;
  }
  if (source.empty()) return Outcome();  // the verb says what is wrong with its own option
  return Outcome(ExitCode::usage, parse_device_selector(text).status().with_context(source));
}

Outcome check_selector(const std::string& text) {
  STRIA_OR_FAIL(const DeviceSelector selector, ExitCode::usage, parse_device_selector(text));
  STRIA_FAIL_IF_ERROR(ExitCode::usage, check_can_be_kept(selector));
  return Outcome();
}

}  // namespace stria::command
