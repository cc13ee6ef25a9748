// SPDX-License-Identifier: Apache-2.0
// What a kernel that works in a scratchpad asks of a machine: the rates and latencies of the unit
// that works, of the unit that copies, and of the ways between the memories.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/cost/block/dram_time.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

// Who takes part: units of the model by name.
struct StagedUnits {
  std::string unit;        // execution unit
  std::string scratchpad;  // memory that tiles lie in
  std::string global;      // memory that tensors come from
  std::string transfer;    // transfer unit between the two
  bool spread = false;  // parts of a tile run on all instances of `unit`, else a tile runs on one
  int64_t banks = 1;    // instances of `scratchpad` that tensors are spread over
  int64_t bank_bytes = 0;  // of each; 0 = what an instance has
};

// Of one instance of a scratchpad: bytes in a cycle, of the model's clock, of each port that has a
// limit, and by PortUse which of them serves it; -1: no limit.
struct ScratchpadPorts {
  std::vector<double> ports;
  std::array<int, kPortUses> port_of{-1, -1, -1, -1, -1, -1};
  double port_rate(PortUse use) const {
    const int port = port_of[static_cast<size_t>(use)];
    return port < 0 ? 0 : ports[static_cast<size_t>(port)];
  }
};
ScratchpadPorts scratchpad_ports(const HardwareModel& model, const MemoryUnit& scratchpad);

// In cycles of the model's clock.
struct StagedRates : ScratchpadPorts {
  const ExecutionUnit* unit = nullptr;  // borrowed from the model
  double unit_cycle = 1;                // a cycle of the unit
  double instances = 1;                 // of it
  // Tiles that all instances have under way; 2 each if the model does not say. Of one, if they
  // share each tile.
  int64_t depth = 1;
  int64_t instance_depth = 1;  // of one instance
  bool spread = false;         // they share each tile: even parts of what it writes
  struct Way {
    double latency = 0;   // of one transfer; the mean over the instances, if their ways differ
    double bytes = 0;     // of one transfer in a cycle, likewise; 0 = no limit
    double together = 0;  // of all instances' transfers at once
    double pj = 0;        // of a byte: read at one end, moved, written at the other
  };
  Way in, out;
  double movers = 1;       // instances of the transfer unit that have a way
  bool in_turns = false;   // one instance, or one bus, moves in one direction at a time
  int64_t line_bytes = 0;  // global memory moves whole lines of so many; 0 = bytes
  // Rows of global memory; null: it is flat.
  const DramRows* dram = nullptr;  // borrowed from the model
  double cycles_per_ns = 0;
  // For which a walk keeps the rows busy; 0: memory is flat.
  double row_cycles(const Walk& walk) const;
  bool one_port = false;                        // for all uses
  int64_t port_banks = 0, port_bank_bytes = 0;  // of an instance
  int64_t banks = 1, bank_bytes = 0;
  // Picojoules of a byte that the unit reads or writes in the scratchpad. If the model gives no
  // energies at all, a byte that is transferred counts 1.
  double read_pj = 0, write_pj = 0;
};
// not_found: a unit, or a bus between two of them; the message names it. out_of_range: a bus that
// carries nothing.
Result<StagedRates> staged_rates(const HardwareModel& model, const StagedUnits& units);

// The smaller of two rates; 0 means no limit.
double narrower_rate(double a, double b);

}  // namespace stria::cost
