// SPDX-License-Identifier: Apache-2.0
// `stria conform`: tries whether a plugin does all that the boundary asks of it, and says how far
// it comes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "failure.h"

namespace stria::command {

struct ConformOptions {
  std::string directory;  // the plugin's
  int64_t level = 2;
  std::string device;             // an id; empty: the first that is available
  std::vector<std::string> only;  // groups, cases, patterns; empty: all
  int64_t jobs = 0;               // processes at once; 0: as many as there are cores
  double patience = 1;            // times each case's limit
  int64_t hangs = 8;              // of a group, before the rest of it is skipped
  bool isolated = false;          // the plugin in a process of its own
  bool json = false, list = false, all_cases = false;
  bool record = true;              // keep the verdict for the choice of devices
  std::string junit, html, badge;  // files; empty: none
};
// Fails with `device` if the level that was asked for is not reached.
Outcome conform(const ConformOptions& options);

}  // namespace stria::command
