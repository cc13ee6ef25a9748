// SPDX-License-Identifier: Apache-2.0
// The rules of simulate.h tick by tick, written apart from it and slow on purpose: what fast paths
// are compared with. Every tick looks at every task; bytes move tick by tick, shared so that no
// flow could have more without another having less.
#pragma once

#include "engine/simulate.h"

namespace stria::sim {

// Loops are unrolled. out_of_range: not done after `most_ticks`, or too many tasks.
Result<Timeline> simulate_by_cycles(const Machine& machine, const TaskGraph& graph,
                                    uint64_t most_ticks = 100'000);

}  // namespace stria::sim
