// SPDX-License-Identifier: Apache-2.0
// `stria devices`: every device of every plugin, available or not and why. Always succeeds; with a
// selector, ExitCode::device if nothing is kept.
#pragma once

#include <chrono>
#include <string>

#include "failure.h"
#include "stria/hal/plugin.h"

namespace stria::command {

struct DevicesOptions {
  bool json = false;
  bool isolated = false;  // each plugin in a process of its own
  std::string select;     // a selector; empty: list them all
  // Names or patterns of devices whose quarantine ends before they are listed; empty: none does.
  std::string clear_quarantine;
  bool topology = false;  // rates of moves between those that are opened
  bool again = false;     // what was measured and kept is measured again
  double step_limit_s = std::chrono::duration<double>(hal::kTimeLimit).count();  // of a plugin
};
Outcome devices(const DevicesOptions& options);

}  // namespace stria::command
