// SPDX-License-Identifier: Apache-2.0
// How many groups does a compute unit run at once? Told by the times of dispatches.
#pragma once

#include <cstdint>
#include <vector>

namespace stria::vulkan {

// times[n - 1] is what a dispatch of n groups for each unit took, in any unit of time; each group
// takes as long alone as beside others. As long as all run at once the time stays; one more, and it
// grows by that of a group. Gives the last n before that step; 0 if there is no step, or if the
// time has grown little by little before, so that a step would tell nothing.
int64_t groups_at_once(const std::vector<double>& times);

}  // namespace stria::vulkan
