// SPDX-License-Identifier: Apache-2.0
// Refuses results that no memory could hold, before anything is built or allocated for them.
#pragma once

#include "failure.h"
#include "stria/runtime/device.h"
#include "stria/runtime/program.h"
#include "stria/tile/bind/bound.h"

namespace stria::command {

// ExitCode::program, with the place of the statement, if an output is larger than the memory of the
// device, or of the host, to which it is copied back.
Outcome check_result_memory(const Program& program, const tile::BoundProgram& bound,
                            const Device& device);

}  // namespace stria::command
