// SPDX-License-Identifier: Apache-2.0
// When each task ran, and where. What repeats itself is written once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace stria::sim {

// What the time of an instance goes to.
enum class Spent : uint8_t {
  compute,     // operations
  overhead,    // fill and drain of operations
  memory,      // beyond that, until the operands' bytes had moved
  latency,     // of transfers
  moving,      // bytes of transfers, as long as they take alone
  contention,  // beyond that: others had the channels
  data,        // waited for a transfer
  dependency,  // waited for an operation
  slot,        // waited for a point of the pipeline to make room
  no_work,     // nothing was left to do, or asked for
};
inline constexpr size_t kSpentKinds = 10;
std::string_view name_of(Spent spent);
// Those during which it worked.
inline bool is_busy(Spent spent) { return spent <= Spent::contention; }

// What ended at a tick, of the things that a task waits for. Together they say what an instance
// waited for that was idle until then: room before data before other dependencies.
enum Ended : uint8_t { kEndedOperation = 1, kEndedTransfer = 2, kEndedSlot = 4 };
Spent waited_for(uint8_t ended);

struct TaskRecord {
  uint64_t number = 0;          // in the graph
  uint64_t start = 0, end = 0;  // ticks
  uint32_t kind = 0;
  uint32_t instance = 0;          // among all groups' instances
  Spent waited = Spent::no_work;  // before it, if the instance did nothing
  bool operator==(const TaskRecord&) const = default;
};

// Records [first, last) come `times` times more, each time `shift` ticks later; what follows them
// comes after that. A repeat inside the range is repeated with it.
struct Repeat {
  size_t first = 0, last = 0;
  uint64_t times = 0;
  uint64_t shift = 0;
  std::vector<uint64_t> steps;  // by which the number of each record grows each time
};

struct Timeline {
  std::vector<TaskRecord> tasks;  // of one instance in the order of time
  std::vector<Repeat> repeats;    // by `last`, inner ones first; none overlap in part
  uint64_t ticks = 0;             // the last end
  uint64_t events = 0;            // starts and ends of what takes time

  // How many tasks each record stands for.
  std::vector<uint64_t> times() const;
  // Calls `task` for each record in the order of `tasks`, and `repeat` where one of the repeats
  // comes, after its range.
  void visit(const std::function<void(const TaskRecord&)>& task,
             const std::function<void(const Repeat&)>& repeat) const;
  // All tasks by number, each on its own.
  std::vector<TaskRecord> all() const;
};

}  // namespace stria::sim
