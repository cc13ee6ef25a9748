// SPDX-License-Identifier: Apache-2.0
// The rules of simulate.h, tick by tick. This code is written apart from the simulator and slow on
// purpose: fast paths are compared with it. Every tick looks at every task. Bytes move tick by
// tick, by max-min fair shares: no flow could have more unless one with as little had less.
#pragma once

#include "engine/simulate.h"

namespace stria::sim {

// Loops are unrolled. out_of_range: not done after `most_ticks`, or too many tasks.
Result<Timeline> simulate_by_cycles(const Machine& machine, const TaskGraph& graph,
                                    uint64_t most_ticks = 100'000);

}  // namespace stria::sim
