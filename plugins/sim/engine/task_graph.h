// SPDX-License-Identifier: Apache-2.0
// What a machine has to do: unit operations and transfers with what each waits for. Tasks are
// numbered in program order, and each waits only for earlier ones, so that nothing can block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/machine.h"

namespace stria::sim {

inline constexpr uint32_t kNoTask = UINT32_MAX;

struct Flowing {
  std::vector<uint32_t> lanes;  // each once
  uint64_t bytes = 0;
};

// What all tasks of one kind have in common: those of a loop are one kind.
struct TaskKind {
  enum class Work : uint8_t { operation, transfer, join } work = Work::join;  // join: needs no unit
  std::string name;        // "kernel_0", "swap_in I"
  uint32_t statement = 0;  // of the part, that it belongs to
  uint32_t group = 0;
  int32_t instance = -1;        // -1: any
  uint64_t overhead_ticks = 0;  // operation: fill and drain, before compute_ticks
  uint64_t compute_ticks = 0;
  std::vector<Flowing> flows;  // operation: beside it, from its start on
  Route route;                 // transfer
  uint64_t bytes = 0;          // transfer
  double pj = 0;               // of one such task
};

struct TaskGraph {
  std::vector<TaskKind> kinds;
  std::vector<uint32_t> kind;        // of each task
  std::vector<uint32_t> first_wait;  // of each task, into waits; one more at the end
  std::vector<uint32_t> waits;       // tasks
  // What makes room for the task's point in a pipeline, kNoTask if there was room.
  std::vector<uint32_t> slot;
  // Of a graph that has one point of each loop: how many tasks each stands for, else empty. Then
  // a join's compute_ticks are what the chain of the points that are left out takes; such a graph
  // has bounds, and no schedule.
  std::vector<double> times;
  double times_of(size_t task) const { return times.empty() ? 1 : times[task]; }

  TaskGraph() : first_wait{0} {}
  size_t size() const { return kind.size(); }
  uint32_t add(uint32_t task_kind, const std::vector<uint32_t>& after, uint32_t slot_of = kNoTask) {
    kind.push_back(task_kind);
    waits.insert(waits.end(), after.begin(), after.end());
    first_wait.push_back(static_cast<uint32_t>(waits.size()));
    slot.push_back(slot_of);
    return static_cast<uint32_t>(kind.size()) - 1;
  }
};

}  // namespace stria::sim
