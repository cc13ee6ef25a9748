// SPDX-License-Identifier: Apache-2.0
// `stria devices --topology`: how fast bytes move between devices, and which way.
#pragma once

#include "failure.h"
#include "verbs/devices.h"

namespace stria::command {

// Opens the devices that the selector keeps, else all that are available and no simulation; one
// that cannot be opened is said on stderr. ExitCode::device if none can, or if one fails.
Outcome show_topology(const DevicesOptions& options);

}  // namespace stria::command
