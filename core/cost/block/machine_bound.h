// SPDX-License-Identifier: Apache-2.0
// What a machine needs at least for what a program computes, whatever the mapping: the passes that
// a pipeline has, its tiles and its schedule do not matter. Terms, in cycles of the model's clock:
//
//   operations   of one kind ("mac.i8") over what all units together do of it in a cycle
//   all          operations of all kinds, each on the unit that is fastest for it, over all units
//   reads        bytes of inputs that are used, each once, over the buses out of main memory
//   writes       bytes of outputs over the buses into main memory
//   transfers    both over the buses at main memory, if they carry both
//   rows         both, from and into rows that are opened once, if main memory has rows
//
// The operations are those of generic Stripe, or of what split_prologue has left of it: a pass that
// computes the same with fewer (Winograd's algorithm) can be below such a bound, no other mapping
// can. Points count that the constraints let pass. Elements count that are certain to be used; what
// values choose is not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::cost {

struct MachineBound {
  std::string what;  // "134217728 mac.i8 on CONV", "2097152 bytes from DRAM"
  double cycles = 0;
};

// Of the `#main` of a generic program: every term that is above 0, the largest first. `main_memory`
// is where inputs and outputs lie; "" = no unit, and no term of transfers. A kind of operation for
// which no unit has a rate has no term. Thread-safe.
std::vector<MachineBound> machine_bounds(const stripe::Program& generic, const HardwareModel& model,
                                         const std::string& main_memory);

// The larger of the terms `operations` and `all` of one statement, in cycles of the model's clock.
// nullopt: no unit has a rate of any of its operations. Thread-safe.
std::optional<double> operation_cycles_at_least(const stripe::Block& statement,
                                                const HardwareModel& model);

}  // namespace stria::cost
