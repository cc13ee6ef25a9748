// SPDX-License-Identifier: Apache-2.0
// Makes the tasks of a machine out of a part of a device program, #main or #prologue
// (docs/semantics.md, "Time"):
//
// * A block on a transfer unit is one transfer of its box, from the memory that it reads to those
//   that it writes.
// * A block that holds transfers, or blocks of other units, is a loop. Its points go one after
//   another; those of `#pipeline=N` at most N at once.
// * Any other block is one operation of its unit. An index in its location makes one task for each
//   value.
//
// If an operation reads or writes a global memory, which its unit is not beside, each access
// crosses the bus between that memory and the first transfer unit that reaches it (C8).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/task_graph.h"
#include "program/kind_counts.h"
#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::sim {

struct LoweredPart {
  TaskGraph graph;
  std::vector<KindCounts> counts;          // by kind: what one task does
  std::vector<double> tasks;               // by kind: how many there are
  std::vector<std::string> statements;     // names
  std::vector<bool> is_transfer;           // of each statement
  std::map<std::string, double> unpriced;  // operations without an energy, per run of the part
  // By statement: its operands in global memory, as "K in DRAM[0]", and the bytes that move for
  // them in a run.
  std::vector<std::map<std::string, double>> global_operands;
};

// Adds to the machine the groups that its transfers need. Points of a loop that are alike become
// one body, however many they are. not_found, unsupported, invalid_argument, out_of_range: what the
// machine does not have, with the block's name.
Result<LoweredPart> lower_part(Machine& machine, const stripe::Block& part);

}  // namespace stria::sim
