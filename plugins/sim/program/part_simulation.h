// SPDX-License-Identifier: Apache-2.0
// Simulates a part of a device program on a machine: its tasks, when they run, and the checks that
// every run has to pass.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/simulate.h"
#include "engine/unit_times.h"
#include "program/lower_part.h"
#include "program/part_checks.h"

namespace stria::sim {

enum class Fidelity {
  roofline,  // bounds alone: nothing is simulated
  event,     // discrete events
  cycle,     // tick by tick; slow
};

struct PartOptions {
  Fidelity fidelity = Fidelity::event;
  SimulateOptions events;
  // How many tasks are kept for a trace; each is a line of a hundred bytes there. A loop that
  // repeats itself counts once. A piece of a timeline is kept as a whole or not at all.
  uint64_t kept_records = 2'000'000;
};

struct PartSimulation {
  Machine machine;
  LoweredPart lowered;
  // The first tasks, as many as are kept; `ticks` and `events` are those of all tasks. Roofline:
  // `ticks` alone.
  Timeline timeline;
  uint64_t left_out = 0;             // tasks after those, repeats counted in full
  std::vector<StatementSpan> spans;  // of each statement; roofline: none
  std::vector<InstanceTimes> times;  // roofline: none
  std::vector<KindTimes> kinds;      // roofline: none
  double most_pj = 0;                // within peak_window(machine) ticks; roofline: none
  uint64_t ticks() const { return timeline.ticks; }

  // Statements in an order in which they may run one by one: that of their starts.
  std::vector<size_t> order() const;
};

// Ticks of a microsecond, the stretch over which the highest power is measured; 0: the model has no
// clock.
uint64_t peak_window(const Machine& machine);

// The least time that the busiest channel or unit, and the longest chain of dependencies, allow.
uint64_t least_ticks(const Machine& machine, const LoweredPart& lowered);

// That bound alone, for sweeps: nothing is checked or kept.
Result<uint64_t> estimate_part(Machine& machine, const stripe::Block& part);

// Fails as lower_part, check_model, check_capacity and check_order do. internal: a check of the
// timeline failed.
Result<PartSimulation> simulate_part(const stripe::Program& program, const stripe::Block& part,
                                     const HardwareModel& model, const PartOptions& options = {});

}  // namespace stria::sim
