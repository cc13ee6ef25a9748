// SPDX-License-Identifier: Apache-2.0
// The work partition: which parts of a kernel its cores take. There are few enough parts that a
// core finds in its caches what it reads again, and enough that all cores are busy to the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct WorkPartitionOptions {
  std::string unit = "CORE";   // execution unit of the model; its count is the number of cores
  int64_t parts_per_core = 8;  // at most
};

// The number of points of each cut index in one part; indices that stay whole are not listed. Empty
// if the kernel has no output index to cut.
//
// If the model has rates of the unit, the parts are chosen by the time of the busiest core: its
// share of the operations, and of what comes into each cache. A part leaves nothing in the caches
// for the next one. More parts are better in one respect, since cores are not equally fast. Without
// rates, the indices that are outermost in the output are cut first.
std::map<std::string, int64_t> work_partition(const stripe::Block& kernel,
                                              const HardwareModel& model,
                                              const WorkPartitionOptions& options);

}  // namespace stria::passes
