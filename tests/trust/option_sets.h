// SPDX-License-Identifier: Apache-2.0
// Options to try a pass with, made from its field table: a new pass is tested without a word about
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/pass/pipeline.h"

namespace stria::trust {

// `count` option objects as JSON, each different: the first is what the generated programs' tags
// make of the defaults; in the others every field that is not fixed by name is chosen by `seed`.
std::vector<std::string> option_sets(const PassInfo& pass, const HardwareModel& machine,
                                     size_t count, uint64_t seed);

// A step that runs before the pass, which works on what that makes; "" for most.
std::string step_before(const std::string& pass);

}  // namespace stria::trust
