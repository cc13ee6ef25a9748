// SPDX-License-Identifier: Apache-2.0
// What a driver does after a command that fails.
#pragma once

#include "loader.h"

namespace stria::opencl {

// Does a queue in order of `device` run what follows a failed command? It tries two commands on 8
// bytes, of which the first fails. A driver counts as one that goes on if it does not take the
// commands, if it does not say within a second what became of them, or if it lets no event fail, so
// that both commands run. Nothing is left behind, unless the driver refuses to end an event of the
// host in any way.
bool runs_on_after_failure(const OpenCl& cl, cl_context context, cl_device_id device);

}  // namespace stria::opencl
