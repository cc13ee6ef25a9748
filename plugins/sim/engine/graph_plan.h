// SPDX-License-Identifier: Apache-2.0
// A task graph made ready to be run: who waits for each node, for how many nodes each one waits,
// and where its numbers begin.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/task_graph.h"

namespace stria::sim {

struct GraphPlan {
  // `graph` must outlive it.
  explicit GraphPlan(const TaskGraph& graph);

  struct LoopPlan {
    const Loop* loop = nullptr;
    std::unique_ptr<GraphPlan> body;
    // By node of the point before: the nodes that wait for it, as one list.
    std::vector<uint32_t> first_carried, carried;
  };

  const TaskGraph* graph;
  std::vector<uint32_t> first, after;  // who waits for each node, as one list
  std::vector<uint32_t> entries;       // nodes that wait for nothing
  std::vector<uint64_t> number;  // of each node, counted within the graph; one more at the end
  std::vector<LoopPlan> loops;   // in the order of the graph's loops

  uint32_t waits_of(size_t node) const {
    return graph->first_wait[node + 1] - graph->first_wait[node];
  }
  const LoopPlan& loop(size_t node) const { return loops[graph->kind[node] & ~TaskGraph::kLoop]; }
};

}  // namespace stria::sim
