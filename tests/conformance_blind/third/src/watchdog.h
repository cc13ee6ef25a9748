// SPDX-License-Identifier: Apache-2.0
// Threads that nobody ends.
#pragma once

#include "stria/plugin.h"

namespace third_chip {

// Says every now and then that the device is well, through the host's log.
void start_talking_watchdog(const stria_host_services& services);
// Only looks.
void start_silent_watchdog();

}  // namespace third_chip
