// SPDX-License-Identifier: Apache-2.0
// How passes choose among candidates by their times on a device.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/measure.h"
#include "stria/pass/pass_context.h"

namespace stria {

// A candidate for a block: its tile as text, and the block's kernel alone with it.
struct TimedCandidate {
  std::string tile;
  stripe::Program kernel;
};

// The number of the candidate that the device runs in the shortest time. Those of lower cost come
// first. A later one must be faster by 2%, and by the margin: by so much the times of two builds of
// one kernel may differ. One that cannot be built or run is left out; if none can, the first
// failure is returned. The context has a device that measures, and gets counts and notes.
Result<size_t> fastest_candidate(const std::string& block,
                                 const std::vector<TimedCandidate>& candidates, int64_t margin_ns,
                                 PassContext& context);

}  // namespace stria
