// SPDX-License-Identifier: Apache-2.0
// Reads the ports of a memory. An internal part of hardware_model.h.
#pragma once

#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/hwmodel/object_reader.h"

namespace stria {

// Sets `ports` from the memory's key of that name, if it is there. invalid_argument: a use that
// there is not, or that has two ports; rates beside ports.
Status read_ports(ObjectReader& memory, std::vector<MemoryPort>& ports);

}  // namespace stria
