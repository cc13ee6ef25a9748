// SPDX-License-Identifier: Apache-2.0
// --run-repro: tries again what a reproducer file holds.
#pragma once

#include <string>

#include "failure.h"

namespace stria::command {

// Ends as the command that wrote the file did. `may_open_device`: otherwise a file that needs one
// is wrong use of the command.
Outcome replay_file(const std::string& path, bool may_open_device);

}  // namespace stria::command
