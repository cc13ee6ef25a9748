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
};

struct PartSimulation {
  Machine machine;
  LoweredPart lowered;
  Timeline timeline;                 // roofline: only `ticks`
  std::vector<StatementSpan> spans;  // of each statement; roofline: none
  std::vector<InstanceTimes> times;  // roofline: none
  std::vector<KindTimes> kinds;      // roofline: none
  uint64_t ticks() const { return timeline.ticks; }

  // Statements in an order in which they may run one by one: that of their starts.
  std::vector<size_t> order() const;
};

// The least time that the busiest lane or unit, and the longest chain of dependencies, allow.
uint64_t least_ticks(const Machine& machine, const LoweredPart& lowered);

// That bound alone, for sweeps: nothing is checked or kept.
Result<uint64_t> estimate_part(Machine& machine, const stripe::Block& part);

// Errors as of lower_part, check_model, check_capacity and check_order; internal: a check of the timeline
// failed.
Result<PartSimulation> simulate_part(const stripe::Program& program, const stripe::Block& part,
                                     const HardwareModel& model, const PartOptions& options = {});

}  // namespace stria::sim
