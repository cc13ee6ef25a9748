// SPDX-License-Identifier: Apache-2.0
// A device, with the number of the host's threads that its runs may use.
#pragma once

#include <string>

#include "../gpu/device_row.h"
#include "stria/runtime/runtime.h"

namespace stria::bench {

struct HostDevice {
  std::string name;  // as it was asked for
  Runtime runtime;
  Device device;
};

double now_seconds();  // of a steady clock

// "llvm_cpu@2": a selector, behind '@' the threads; all of the host's without it.
HostDevice open_host_device(const std::string& text);

// Seconds of one run from the host's call to its end: the quick ones of a round count, for what
// else a machine does makes times longer, never shorter.
double host_seconds(const DeviceRow& row);

}  // namespace stria::bench
