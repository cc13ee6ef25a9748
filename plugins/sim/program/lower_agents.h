// SPDX-License-Identifier: Apache-2.0
// The tasks of a kernel in which several agents go on at once (docs/semantics.md, S16 to S19). Each
// agent follows its statements, and waits and arrivals become what tasks wait for: no unit takes
// time for them. Loops around them stand point by point.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "program/fragment.h"
#include "program/held_views.h"
#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::sim {

// What the tasks of other statements are, and where refinements lie; see lower_part.cc.
struct StatementLowering {
  std::function<Result<Fragment>(const stripe::Block& around, const stripe::Statement& stmt,
                                 const Memories& memories, const IndexValues& point,
                                 const std::string& unit)>
      lower;
  std::function<Memories(const stripe::Block& block, const IndexValues& point,
                         const Memories& around)>
      memories_of;
  std::function<uint32_t(TaskGraph& graph, const std::vector<uint32_t>& tasks)> join;
};

// `point` has the values of the block's indices that start at others. invalid_argument: a program
// in which nobody goes on any more; out_of_range: too many tasks.
Result<Fragment> lower_agents(const stripe::Block& block, const Memories& around,
                              const IndexValues& point, const std::string& unit,
                              const StatementLowering& how);

}  // namespace stria::sim
