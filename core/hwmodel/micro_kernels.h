// SPDX-License-Identifier: Apache-2.0
// The functions of a plugin that a model's instructions name: micro-kernels.
#pragma once

#include <string_view>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria {

// Does any instruction of the model name a function?
bool has_micro_kernels(const HardwareModel& model);

// incompatible, with file, line, JSON pointer, function and what to edit, if an instruction names a
// function that `plugin` does not report (HardwareModel::micro_kernels). A simulated machine calls
// none: its blocks are computed as they are.
Status check_micro_kernels(const HardwareModel& model, std::string_view plugin);

}  // namespace stria
