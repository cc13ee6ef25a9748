// SPDX-License-Identifier: Apache-2.0
// How long one kernel of a device's program takes, whatever passes made of it: seconds, with an
// interval and every term. Its input is the device Stripe alone, so copies, tiles and vectors are
// counted as they stand.
//
//   time = launch + max(terms) + shown * (sum of the other terms) + what parts cost
//
// Terms of a core with vector registers (core_kernel.cc) and of a unit that runs groups of lanes
// (group_kernel.cc): operations, accesses of the nearest memory, waits for sums, and bytes that
// come into each cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stria/cost/kernel/kernel_nest.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

struct PredictedTime {
  double seconds = 0;
  // Nine of ten kernels are measured between these, by the calibration's `spread_factor`.
  double least_seconds = 0, most_seconds = 0;
  double launch_seconds = 0;  // part of them
  struct Term {
    std::string name;  // "operations", "L2 from DRAM"
    double seconds = 0;
  };
  std::vector<Term> terms;  // the longest first
};

// `nest` is of kernel_nest.h, or, with what the rest of the program pushes out of caches, of
// section_nests.h. Data that fits into a cache is there already: it was computed a moment ago, or
// in the run before; on a core that holds for what the program has not pushed out since. nullopt:
// the model lacks rates of the unit that runs it. Pure.
std::optional<PredictedTime> kernel_time(const KernelNest& nest, const HardwareModel& model);

// "12.3 us (8.1 .. 18.5): operations 10.1, L2 from DRAM 3.2, launch 0.1"
std::string to_string(const PredictedTime& time);

// What the files of each kind of unit give, in cycles of the model's clock. All of it is the
// longest term, `shown_part` of the sum of the others, and what is `beside` them.
struct KernelCycles {
  struct Term {
    std::string name;
    double cycles = 0;
  };
  std::vector<Term> terms;
  double shown_part = 0, beside = 0;
  double spread_factor = 1;
};
KernelCycles core_cycles(const KernelNest& nest, const HardwareModel& model,
                         const ExecutionUnit& unit);
KernelCycles group_cycles(const KernelNest& nest, const HardwareModel& model,
                          const ExecutionUnit& unit);

}  // namespace stria::cost
