// SPDX-License-Identifier: Apache-2.0
// `stria doctor`: what became of each plugin, step by step, and the command that would mend it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "failure.h"
#include "stria/hal/plugin.h"

namespace stria::command {

struct DoctorOptions {
  std::vector<std::string> plugins;  // ids; empty: all
  bool json = false;
  bool isolated = false;  // as a device is that `isolated:` names
  double step_limit_s = std::chrono::duration<double>(hal::kTimeLimit).count();  // of a plugin
};
// Fails with `device` if anything is not well.
Outcome doctor(const DoctorOptions& options);

}  // namespace stria::command
