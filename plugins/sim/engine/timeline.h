// SPDX-License-Identifier: Apache-2.0
// When each task ran, and where. What repeats itself is written once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace stria::sim {

// What an instance spends its time on.
enum class Spent : uint8_t {
  compute,     // operations
  overhead,    // fill and drain of operations
  memory,      // more than that, until the operands' bytes have moved
  latency,     // of transfers
  moving,      // bytes of transfers, as long as they take alone
  contention,  // more than that, because others use the channels
  data,        // waits for a transfer
  dependency,  // waits for an operation
  slot,        // waits for a point of the pipeline to make room
  no_work,     // nothing is left to do, or asked for
};
inline constexpr size_t kSpentKinds = 10;
std::string_view name_of(Spent spent);
// Whether the instance works meanwhile.
inline bool is_busy(Spent spent) { return spent <= Spent::contention; }

// What kinds of things ended at a tick, among those that a task waits for. They say what an idle
// instance waited for until then: for room rather than for data, for data rather than for other
// dependencies.
enum Ended : uint8_t { kEndedOperation = 1, kEndedTransfer = 2, kEndedSlot = 4 };
Spent waited_for(uint8_t ended);

struct TaskRecord {
  uint64_t number = 0;          // in the graph
  uint64_t start = 0, end = 0;  // ticks
  uint32_t kind = 0;
  uint32_t instance = 0;          // among all groups' instances
  Spent waited = Spent::no_work;  // for what the instance waited before it, if it was idle
  bool operator==(const TaskRecord&) const = default;
};

// Records [first, last) come `times` times more, each time `shift` ticks later. What follows them
// comes after that. A repeat inside the range is repeated with it.
struct Repeat {
  size_t first = 0, last = 0;
  uint64_t times = 0;
  uint64_t shift = 0;
  std::vector<uint64_t> steps;  // by record: how much its number grows each time
};

struct Timeline {
  std::vector<TaskRecord> tasks;  // those of one instance are in the order of time
  std::vector<Repeat> repeats;    // by `last`, inner ones first; none overlap in part
  uint64_t ticks = 0;             // the last end
  uint64_t events = 0;            // starts and ends of tasks that take time

  // How many tasks each record stands for.
  std::vector<uint64_t> times() const;
  // Calls `task` for each record in the order of `tasks`, and `repeat` for each repeat right after
  // its range.
  void visit(const std::function<void(const TaskRecord&)>& task,
             const std::function<void(const Repeat&)>& repeat) const;
  // All tasks by number, repeats written out.
  std::vector<TaskRecord> all() const;
};

}  // namespace stria::sim
