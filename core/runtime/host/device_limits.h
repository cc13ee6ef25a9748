// SPDX-License-Identifier: Apache-2.0
// What a program needs and a device does not have, found in generic Stripe before anything is
// built: types of elements that its kernels cannot have, and memory for inputs and outputs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/runtime/pick/program_needs.h"
#include "stria/stripe/block.h"

namespace stria {

// Plain value.
struct DeviceLack {
  std::string what;                    // "fp64 (shaderFloat64)"; "memory: …"
  std::vector<std::string> needed_by;  // kernels, each once, in the order of the program
};

// What the program needs of any device. `name_of` names a kernel for people.
ProgramNeeds program_needs(const stripe::Program& generic,
                           const std::function<std::string(const stripe::Block& kernel)>& name_of);

// What a device lacks of that. `memory_bytes` of the device, 0 if not known.
std::vector<DeviceLack> device_lacks(const ProgramNeeds& needs, const HardwareModel& model,
                                     uint64_t memory_bytes);
std::vector<DeviceLack> device_lacks(
    const stripe::Program& generic, const HardwareModel& model, uint64_t memory_bytes,
    const std::function<std::string(const stripe::Block& kernel)>& name_of);

// For messages: "fp64 (shaderFloat64), which is needed by:\n  …"; "" if nothing is lacking.
std::string text_of(const std::vector<DeviceLack>& lacks);

}  // namespace stria
