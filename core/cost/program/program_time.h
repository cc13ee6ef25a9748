// SPDX-License-Identifier: Apache-2.0
// How long one run of a program takes on a machine, before anything of it runs there: of its device
// Stripe, kernel by kernel; or of its generic form, by what the machine needs at least.
//
// The time of device Stripe is the sum of its kernels' (kernel_time.h) and what a run takes beside
// them (run_us of the model): kernels of one program run one after the other, or share the units
// where they overlap. Times of kernels are wrong for common reasons (a clock, a rate) and for their
// own ones; so the interval of a sum is narrower than the sum of the intervals, and wider than that
// of independent errors:
//
//   deviation^2 = c * (sum of deviations)^2 + (1 - c) * sum of (deviations^2)    c = kCommonPart
//
// in logarithms, where an interval of nine in ten is 1.645 deviations to each side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stria/base/time_range.h"
#include "stria/cost/kernel/kernel_time.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::cost {

struct ProgramTime {
  struct Kernel {
    std::string name;
    bool prologue = false;              // runs once for each binding, not in every run
    std::optional<PredictedTime> time;  // nullopt: the model lacks rates of its unit
  };
  std::vector<Kernel> kernels;  // of prologue, then of main, in order
  // Of the kernels that have a time; launches are part of it.
  TimeRange prologue, main;
  size_t unknown = 0;  // kernels of main without a time
};

// Pure.
ProgramTime program_time(const stripe::Program& device, const HardwareModel& model);

// One run of main by bounds, in milliseconds for a whole network: no pass has run. `seconds` is
// kBoundSlack times the bound, `most` as much again; `least` is the bound. Terms of each group of
// kernels that passes usually make one of: its operations over the peak of the model's units, or
// the bytes of its tensors that others do not keep, over the nearest memory that the program's
// tensors fit into, whichever takes longer; the start of all cores, or one core alone; and one
// launch. nullopt: the model has no rate of an operation, or of no memory. Pure.
std::optional<TimeRange> program_bound(const stripe::Program& generic, const HardwareModel& model);

}  // namespace stria::cost
