// SPDX-License-Identifier: Apache-2.0
// Machines and task graphs of a few lines for the tests of the simulator's clock.
#pragma once

#include <string>

#include "engine/machine.h"
#include "engine/task_graph.h"

namespace stria::sim {

// DRAM[0], two SRAMs, CONV and DSP of two each, two DMA engines. In and out are buses of their own
// of `wide` bytes; all of the DMAs' ways to and from SRAM are one bus of `narrow` bytes. `more` is
// put into the model, with a comma at its end.
HardwareModel small_model(double wide = 64, double narrow = 32, const std::string& more = "");
Machine small_machine(double wide = 64, double narrow = 32, const std::string& more = "");

// Kinds of tasks, by the machine's names.
TaskKind operation(const Machine& machine, const std::string& unit, uint64_t ticks,
                   int32_t instance = -1);
TaskKind transfer(Machine& machine, const std::string& from, const std::string& to, uint64_t bytes,
                  int64_t instance = -1);

}  // namespace stria::sim
