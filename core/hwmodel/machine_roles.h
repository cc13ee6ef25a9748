// SPDX-License-Identifier: Apache-2.0
// Which unit of a machine does what, told by what its hardware model says of it, not by names. So
// one pipeline serves every machine that has a main memory, a scratchpad, and units that copy and
// compute.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stria/hwmodel/hardware_model.h"

namespace stria {

// Names of units; "" if the model has none that could do it.
struct MachineRoles {
  std::string main;        // where tensors lie: the largest memory that is no cache
  std::string scratchpad;  // the memory nearest to the units that a transfer unit fills from `main`
  std::string transfer;    // that unit; of several, the one that moves the most bytes in a cycle
  std::string products;    // the execution unit that multiplies and adds most
  std::string rest;        // that does most of all other operations, beside `products` if possible
};
MachineRoles roles_of(const HardwareModel& model);

// As pipelines see it, under `machine`: the names, a key each.
nlohmann::json roles_json(const MachineRoles& roles);

}  // namespace stria
