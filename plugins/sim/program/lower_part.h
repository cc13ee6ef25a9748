// SPDX-License-Identifier: Apache-2.0
// From a part of a device program (#main or #prologue) to the tasks of a machine
// (docs/semantics.md, "Time"):
//
// * a block on a transfer unit is one transfer of its box, from the memory that it reads to those
//   that it writes;
// * a block that holds transfers or blocks of other units is a loop: its points go one after
//   another, those of `#pipeline=N` at most N at once;
// * any other block is one operation of its unit; an index in its location is a task for each
// value.
//
// Where an operation reads or writes a memory that its unit is not beside, each access crosses the
// bus between that memory and the first transfer unit that reaches it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/task_graph.h"
#include "stria/base/status.h"
#include "stria/cost/block/block_work.h"
#include "stria/stripe/block.h"

namespace stria::sim {

// What a task of a kind does, for energy and reports.
struct KindCounts {
  std::map<std::string, double> operations;  // "mac.i8": how many
  struct Memory {
    double read_bytes = 0, written_bytes = 0;  // in whole accesses
    double reads = 0, writes = 0;              // accesses
  };
  std::map<std::string, Memory> memories;  // "SRAM[0]"
  std::map<std::string, double> unpriced;  // operations that the model has no energy of
  // Operands that a unit works on from afar, access by access, "K in DRAM[0]": bytes that move.
  std::map<std::string, double> far;
  double pj_operations = 0, pj_memories = 0, pj_moving = 0;
};

struct LoweredPart {
  TaskGraph graph;
  std::vector<KindCounts> counts;          // of a task of each kind
  std::vector<double> tasks;               // of each kind, how many
  std::vector<std::string> statements;     // names
  std::vector<bool> is_transfer;           // of each statement
  std::map<std::string, double> unpriced;  // operations without an energy, per run of the part
  // Of each statement its far operands, "K in DRAM[0]": bytes that move for them in a run.
  std::vector<std::map<std::string, double>> far;
};

// Adds to the machine the groups that its transfers need. not_found, unsupported, invalid_argument,
// out_of_range: what the machine has not, with the block's name.
// Points of a loop that are alike are one body, however many they are.
Result<LoweredPart> lower_part(Machine& machine, const stripe::Block& part);

}  // namespace stria::sim
