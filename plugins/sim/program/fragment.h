// SPDX-License-Identifier: Apache-2.0
// Pieces of task graphs while a part of a program becomes one.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/task_graph.h"

namespace stria::sim {

// A piece of a graph, whose nodes are counted from its own start.
struct Fragment {
  TaskGraph graph;              // without kinds
  std::vector<uint32_t> exits;  // nodes that end it
};

// Appends the fragment's tasks to `to`; those that wait for nothing wait for `before`. Returns
// its exits, or what it would have waited for if it is empty. `carried`: by node of the fragment,
// the nodes of `to` that it waits for besides.
std::vector<uint32_t> append(TaskGraph& to, const Fragment& from,
                             const std::vector<uint32_t>& before, uint32_t slot,
                             const std::vector<Loop::Carried>& carried = {});

// The most tasks of what stands one by one: loops whose points differ, and what agents do.
inline constexpr size_t kMostTasks = 2'000'000;

}  // namespace stria::sim
