// SPDX-License-Identifier: Apache-2.0
// What a machine has to do: unit operations and transfers with what each waits for, and loops of
// them. Nodes stand in program order, and each waits for earlier ones only, so that nothing can
// deadlock.
//
// A loop is one node, however many points it has. Its tasks are numbered as if all points stood one
// after another in its place. The number says who comes first, and which task of a graph is meant.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/machine.h"

namespace stria::sim {

inline constexpr uint32_t kNoTask = UINT32_MAX;

struct Flowing {
  std::vector<uint32_t> channels;  // each once
  uint64_t bytes = 0;
};

// What all tasks of one kind have in common. The tasks that one node of a loop's body stands for
// are of one kind.
struct TaskKind {
  enum class Work : uint8_t { operation, transfer, join } work = Work::join;  // join: needs no unit
  std::string name;        // "kernel_0", "swap_in I"
  uint32_t statement = 0;  // the statement of the part that it belongs to
  uint32_t group = 0;
  int32_t instance = -1;        // -1: any
  uint64_t overhead_ticks = 0;  // operation: fill and drain, before compute_ticks
  uint64_t compute_ticks = 0;
  // Bytes that move beside it: beside an operation from its start on, beside the bytes of a
  // transfer from when they begin to move.
  std::vector<Flowing> flows;
  Route route;         // transfer
  uint64_t bytes = 0;  // transfer
  double pj = 0;       // of one such task
};

struct TaskGraph;

// Points that are alike, in order. A point begins when the one before has begun and the `depth`-th
// one before has ended. Nodes of the body that wait for nothing begin with their point.
struct Loop {
  // In each point but the first, `node` waits for `before` of the point before.
  struct Carried {
    uint32_t node = 0, before = 0;
  };
  std::shared_ptr<const TaskGraph> body;  // at least one task; the kinds are those of the root
  uint64_t points = 1;
  uint64_t depth = 1;
  std::vector<Carried> carried;
};

struct TaskGraph {
  static constexpr uint32_t kLoop = 0x8000'0000;

  std::vector<TaskKind> kinds;       // of the root; empty in bodies of loops
  std::vector<uint32_t> kind;        // of each node; a loop: its position in `loops`, with kLoop
  std::vector<uint32_t> first_wait;  // of each node, into waits; one more at the end
  std::vector<uint32_t> waits;       // nodes
  // By node: what makes room for its point in a pipeline; kNoTask if there was room.
  std::vector<uint32_t> slot;
  std::vector<Loop> loops;

  TaskGraph() : first_wait{0} {}
  size_t size() const { return kind.size(); }  // nodes
  bool is_loop(size_t node) const { return (kind[node] & kLoop) != 0; }
  const Loop& loop(size_t node) const { return loops[kind[node] & ~kLoop]; }
  uint32_t add(uint32_t task_kind, const std::vector<uint32_t>& after, uint32_t slot_of = kNoTask) {
    kind.push_back(task_kind);
    waits.insert(waits.end(), after.begin(), after.end());
    first_wait.push_back(static_cast<uint32_t>(waits.size()));
    slot.push_back(slot_of);
    return static_cast<uint32_t>(kind.size()) - 1;
  }
  uint32_t add_loop(Loop loop, const std::vector<uint32_t>& after, uint32_t slot_of = kNoTask) {
    loops.push_back(std::move(loop));
    return add(kLoop | static_cast<uint32_t>(loops.size() - 1), after, slot_of);
  }
};

// How many numbers the tasks and joins of a graph take, with all points of loops. out_of_range:
// more than 2^53, as for ticks.
Result<uint64_t> numbers_of(const TaskGraph& graph);

// How many tasks of each kind there are, joins included.
std::vector<uint64_t> tasks_of_kinds(const TaskGraph& graph);

// The graph with all points of its loops one after another, joins at their ends.
struct Unrolled {
  TaskGraph graph;
  std::vector<uint64_t> number;  // of each node in the graph that has loops; joins': UINT64_MAX
};
// out_of_range: more than `most_tasks`.
Result<Unrolled> unroll(const TaskGraph& graph, uint64_t most_tasks);

}  // namespace stria::sim
