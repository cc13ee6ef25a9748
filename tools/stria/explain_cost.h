// SPDX-License-Identifier: Apache-2.0
// Predicted times of a program's kernels beside measured ones.
#pragma once

#include <string>

#include "failure.h"
#include "stria/runtime/device.h"
#include "stria/runtime/executable.h"

namespace stria::command {

// Runs the program on random inputs, and makes a table: for each kernel the predicted time with its
// interval, the measured one, their ratio, and the terms of the prediction. "-" where the model
// lacks rates, or the device does not know times. The executable watches its kernels.
Outcome explain_cost(const Device& device, const Executable& executable, std::string& table);

}  // namespace stria::command
