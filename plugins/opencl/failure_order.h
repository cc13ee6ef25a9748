// SPDX-License-Identifier: Apache-2.0
// What a driver does behind a command that fails.
#pragma once

#include "loader.h"

namespace stria::opencl {

// Whether a queue in order of `device` runs what follows a failed command, asked of the driver with
// two commands on 8 bytes, of which the first fails. A driver that does not take them or does not
// say within a second what became of them counts as one that does; so does one that lets no event
// fail, with which both commands are run. Nothing is left behind, unless the driver refuses to end
// an event of the host in any way.
bool runs_on_after_failure(const OpenCl& cl, cl_context context, cl_device_id device);

}  // namespace stria::opencl
