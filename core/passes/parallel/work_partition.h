// SPDX-License-Identifier: Apache-2.0
// Which parts of a kernel its cores take: few enough that each finds in its caches what it reads
// again, enough that all are busy to the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct WorkPartitionOptions {
  std::string unit = "CORE";   // execution unit of the model; its count, over 1, is that of cores
  int64_t parts_per_core = 8;  // at most
};

// Points of each index in one part; those that stay whole are not named. Empty if the kernel has no
// output index to cut. Where the model knows rates of the unit, by the time that the busiest core
// takes: its share of the operations, and of what comes into each cache, of which a part keeps
// nothing for the next one; besides, cores are not equally fast, so that more parts are better.
// Without rates: outermost in the output first.
std::map<std::string, int64_t> work_partition(const stripe::Block& kernel,
                                              const HardwareModel& model,
                                              const WorkPartitionOptions& options);

}  // namespace stria::passes
