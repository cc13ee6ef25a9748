// SPDX-License-Identifier: Apache-2.0
// What a byte of main memory costs in operations.
#pragma once

#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

// Operations that all instances of the fastest unit do in the time in which the largest memory
// moves one byte; 0 if the model does not give both rates. A multiply-add is two operations.
double operations_per_byte(const HardwareModel& model);

}  // namespace stria::cost
