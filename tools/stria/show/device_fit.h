// SPDX-License-Identifier: Apache-2.0
// Which devices can run a program, and what the others lack.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/host/device_limits.h"

namespace stria::command {

struct DeviceFit {
  std::string selector;  // "vulkan:0"
  std::string name;      // of the device
  std::string trouble;   // why it could not be asked; "" if it was
  std::vector<DeviceLack> lacks;
};

// Opens each of these devices, or every device there is if none is named, and asks it. Nothing is
// built. ExitCode::usage and ExitCode::device for a selector that is malformed or matches nothing;
// a device that cannot be opened is told among the others.
Outcome fit_devices(const std::vector<std::string>& selectors, const Compilation& program,
                    std::vector<DeviceFit>& out);

}  // namespace stria::command
