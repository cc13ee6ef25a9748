// SPDX-License-Identifier: Apache-2.0
// Runs a kernel tree on host memory as a GPU may run it, and finds what goes wrong only there: two
// lanes of a group, or two groups, that touch one element with nothing to order them. Lanes take
// their turns in an order that a seed shuffles, each up to the next barrier; but a race is found
// whatever the order.
#pragma once

#include <cstdint>
#include <vector>

#include "memory.h"
#include "stria/base/status.h"
#include "stria/semtree/tree/tree.h"

namespace stria::lanes {

// Where element 0 of a parameter lies. Parameters may share memory.
struct Argument {
  Memory* memory = nullptr;
  int64_t first = 0;
};

// What a run met, so that a test can tell that it tested something.
struct RunCounts {
  int64_t groups = 0;
  int64_t groups_of_lanes = 0;  // of more than one
  int64_t barriers = 0;         // times that a group met at one
  int64_t accesses = 0;         // elements of tensors and of shared arrays that were touched
  int64_t stores = 0;           // elements of tensors that were stored
  int64_t products = 0;         // of matrices
  int64_t refused = 0;          // programs that were not run (machine.h)
  RunCounts& operator+=(const RunCounts& other);
};

// Runs all groups; one argument for each parameter, in order. invalid_argument, naming the kernel,
// the lane and the statement, for
//   * two lanes of a group that touch an element of a shared array or of a parameter between two
//     barriers, one of them writing, and two groups that do so in one run;
//   * a barrier that not all lanes of the group meet: loops and conditions around it are the same
//   for all;
//   * an element of a parameter that is stored, and stored again with nothing that reads it in
//     between: tiles that overlap;
//   * an operation on matrices that not all lanes of a subgroup come to, or with the same place;
//   * an access outside of an array or parameter, or a write to what is not writable;
//   * poison where a place, a bound, a condition or a mask hangs on it;
//   * whatever else breaks a promise of core/semtree/tree/tree.h that the run comes upon.
// Poison that is merely stored stays poison there. unsupported: an operation of hardware
// (Instruction). Subgroups of `subgroup_lanes` lanes hold matrices together (matrix_values.h); 0:
// none do.
Status run_kernel(const semtree::Function& function, const std::vector<Argument>& arguments,
                  uint64_t seed, RunCounts& counts, int64_t subgroup_lanes = 0);

}  // namespace stria::lanes
