// SPDX-License-Identifier: Apache-2.0
// Opens the device that --device names, with the right exit code for what may go wrong.
#pragma once

#include <string>

#include "failure.h"
#include "stria/runtime/runtime.h"

namespace stria::command {

// Options as every verb wants them: plugins' warnings and errors go to stderr.
RuntimeOptions runtime_options();

// Usage for a malformed selector, device for all else. Loads only the plugin asked for, unless it
// is not there.
Outcome open_device(const std::string& selector, Device& device);

}  // namespace stria::command
