// SPDX-License-Identifier: Apache-2.0
// The programs by which a device is calibrated: a fixed set, whose sizes follow from the memories
// of its model. No bench has them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/type/tensor_type.h"

namespace stria::calibrate {

struct CalibrationProgram {
  std::string name, text;  // Tile
  std::map<std::string, TensorType> inputs;
};

// `device_bytes`: memory of the device; 0: not known. What a program takes stays below an eighth.
std::vector<CalibrationProgram> calibration_set(const HardwareModel& model, uint64_t device_bytes);

}  // namespace stria::calibrate
