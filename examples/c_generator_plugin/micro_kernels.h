// SPDX-License-Identifier: Apache-2.0
// The functions of the plugin that a program may call, by the names that the hardware model uses.
#pragma once

#include <string_view>
#include <vector>

#include "stria/reader.h"

namespace c_generator {

struct MicroKernel {
  std::string_view name;
  stria_micro_kernel function;
};

// All of them. The device reports their names, so that the host can tell when the device is opened
// that the hardware model names one which is not here.
const std::vector<MicroKernel>& micro_kernels();

// Throws sdk::Error if there is none of that name.
stria_micro_kernel find_micro_kernel(std::string_view name);

}  // namespace c_generator
