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

// Options for the pass that are written by hand, since no table tells them; none for most.
std::vector<std::string> given_options(const std::string& pass);

// May the pass change the order in which sums are taken (M10), or does it work on what such a pass
// has made? Floats are compared within the interpreter's bound then. All others keep every bit.
bool regroups(const std::string& pass);

// By how much the pass may enlarge the errors of floats, as a multiple of the interpreter's bounds:
// what its page promises.
double error_growth(const std::string& pass);

// Steps that run before the pass with these options, which works on what they make; "" for most.
std::string step_before(const std::string& pass, const std::string& options);

}  // namespace stria::trust
