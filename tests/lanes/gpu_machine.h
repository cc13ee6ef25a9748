// SPDX-License-Identifier: Apache-2.0
// GPUs as plugins/opencl sees them, without a driver.
#pragma once

#include <vector>

#include "dice.h"
#include "machine.h"

namespace stria::lanes {

// What hw/gpu.json says where the driver says nothing, a large one and a small one.
const std::vector<Machine>& gpus();

// One that nobody has built, whose tiles are others.
Machine made_up_gpu(trust::Dice& dice);

}  // namespace stria::lanes
