// SPDX-License-Identifier: Apache-2.0
// Reads the rows of a memory. An internal part of hardware_model.h.
#pragma once

#include <optional>

#include "stria/hwmodel/hardware_model.h"
#include "stria/hwmodel/object_reader.h"

namespace stria {

// Sets `dram` from the memory's key of that name, if it is there. invalid_argument: a number that
// is missing, rows that are no whole bursts, a refresh that takes all the time.
Status read_dram(ObjectReader& memory, std::optional<DramRows>& dram);

}  // namespace stria
