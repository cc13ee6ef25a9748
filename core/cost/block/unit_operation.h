// SPDX-License-Identifier: Apache-2.0
// How long one operation of a unit takes, and how much energy.
#pragma once

#include <string>

#include "stria/base/status.h"
#include "stria/cost/block/block_work.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

// Cycles of a systolic array of R rows and C columns for a product, fill and drain included:
//   output stationary  ceil(M/R) ceil(N/C) (K + R + C - 2)
//   weight stationary  ceil(K/R) ceil(N/C) (M + 2R + C - 2)
//   input stationary   ceil(K/R) ceil(M/C) (N + 2R + C - 2)
double systolic_cycles(const SystolicArray& array, const Product& product);

// Cycles of the unit's clock, without its overhead_cycles. unsupported: no rate.
Result<double> operation_cycles(const ExecutionUnit& unit, const BlockWork& work);

// Picojoules of one operation, as "mac.i8", on the unit. A mac without an energy of its own is a
// multiplication and an addition of i32 (of fp32 for floats). Negative: the model does not say.
double operation_pj(const ExecutionUnit& unit, const std::string& operation);

}  // namespace stria::cost
