// SPDX-License-Identifier: Apache-2.0
// Looks at one plugin in a process of its own. The plugin may hang, crash or end that process; we
// still learn how far it came.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "stria/hal/plugin_set.h"

namespace stria::command {

struct ExaminedStep {
  std::string name;     // a hal::Step's, "self-test" or "shutdown"
  std::string failure;  // one line; empty: passed
};

struct ExaminedDevice {
  std::string selector, name;
  std::string reason;                      // why it is not available, or kNoReason; empty: it is
  bool ran = false;                        // the self-test came to its end on it, well or not
  std::vector<std::string> warnings = {};  // numbers of its hardware model that no machine has
};
inline constexpr const char* kNoReason = "no reason given";

struct ExaminedNeed {
  hal::Requirement need;
  std::string path;  // of the library; empty: not installed
};

struct Examination {
  hal::FoundPlugin found;
  hal::Manifest manifest;           // as far as it could be read
  std::vector<ExaminedStep> steps;  // those that were reached, in order
  std::vector<ExaminedDevice> devices;
  std::vector<ExaminedNeed> needs;
};

// Loads the plugin, lists its devices, compiles and runs a tiny program on each available one,
// compares the result with the interpreter's, and shuts the plugin down. No thread may be running
// in this process. `isolated`: the plugin has a process of its own beside that.
Examination examine(const hal::FoundPlugin& found, std::chrono::milliseconds step_limit,
                    bool isolated = false);

}  // namespace stria::command
