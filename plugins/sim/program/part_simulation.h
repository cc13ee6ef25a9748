// SPDX-License-Identifier: Apache-2.0
// A part of a device program on a machine: its tasks, when they run, and the checks that every run
// has to pass.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/simulate.h"
#include "engine/unit_times.h"
#include "program/lower_part.h"
#include "program/part_checks.h"

namespace stria::sim {

enum class Fidelity {
  roofline,  // bounds alone: no event is simulated
  event,     // discrete events
  cycle,     // tick by tick; slow
};

struct PartOptions {
  Fidelity fidelity = Fidelity::event;
  SimulateOptions events;
  // Tasks that are kept for a trace, of which each is a line of a hundred bytes; a loop that
  // repeats itself counts once. Pieces of a timeline are kept whole or not at all.
  uint64_t kept_records = 2'000'000;
};

struct PartSimulation {
  Machine machine;
  LoweredPart lowered;
  // Its first tasks, as many as are kept; `ticks` and `events` are of all. Roofline: `ticks` alone.
  Timeline timeline;
  uint64_t left_out = 0;             // tasks after those, of repeats all
  std::vector<StatementSpan> spans;  // of each statement; roofline: none
  std::vector<InstanceTimes> times;  // roofline: none
  std::vector<KindTimes> kinds;      // roofline: none
  double most_pj = 0;                // within peak_window(machine) ticks; roofline: none
  uint64_t ticks() const { return timeline.ticks; }

  // Statements in an order in which they may run one by one: that of their starts.
  std::vector<size_t> order() const;
};

// Ticks of a microsecond, over which the highest power is told; 0: the model has no clock.
uint64_t peak_window(const Machine& machine);

// The least time that the busiest channel or unit, and the longest chain of dependencies, allow.
uint64_t least_ticks(const Machine& machine, const LoweredPart& lowered);

// That bound alone, for sweeps: nothing is checked or kept.
Result<uint64_t> estimate_part(Machine& machine, const stripe::Block& part);

// Errors as of lower_part, check_model, check_capacity and check_order; internal: a check of the
// timeline failed.
Result<PartSimulation> simulate_part(const stripe::Program& program, const stripe::Block& part,
                                     const HardwareModel& model, const PartOptions& options = {});

}  // namespace stria::sim
