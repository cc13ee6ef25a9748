// SPDX-License-Identifier: Apache-2.0
// Runs a program until the times of its kernels can be told.
#pragma once

#include <vector>

#include "failure.h"
#include "report.h"
#include "stria/runtime/device.h"
#include "stria/runtime/executable.h"
#include "stria/runtime/tensor.h"

namespace stria::command {

// Runs it once, and if `profile` is given until 20 runs or a second are over: then it holds
// medians, the first run left out. The executable watches its kernels.
Outcome run_executable(const Executable& executable, const std::vector<Tensor>& inputs,
                       const std::vector<Tensor>& outputs, Profile* profile);

}  // namespace stria::command
