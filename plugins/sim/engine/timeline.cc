// SPDX-License-Identifier: Apache-2.0
#include "engine/timeline.h"

#include <algorithm>

namespace stria::sim {

std::string_view name_of(Spent spent) {
  constexpr std::string_view names[] = {"compute", "overhead",   "memory", "latency",
                                        "moving",  "contention", "data",   "dependency",
                                        "slot",    "no_work"};
  return names[static_cast<size_t>(spent)];
}

Spent waited_for(uint8_t ended) {
  if (ended & kEndedSlot) return Spent::slot;
  if (ended & kEndedTransfer) return Spent::data;
  return ended & kEndedOperation ? Spent::dependency : Spent::no_work;
}

std::vector<uint64_t> Timeline::times() const {
  std::vector<uint64_t> out(tasks.size(), 1);
  for (const Repeat& repeat : repeats)
    for (size_t r = repeat.first; r < repeat.last; ++r) out[r] *= repeat.times + 1;
  return out;
}

void Timeline::visit(const std::function<void(const TaskRecord&)>& task,
                     const std::function<void(const Repeat&)>& repeat) const {
  auto next = repeats.begin();
  for (size_t r = 0; r < tasks.size(); ++r) {
    task(tasks[r]);
    for (; next != repeats.end() && next->last == r + 1; ++next) repeat(*next);
  }
}

std::vector<TaskRecord> Timeline::all() const {
  // The record that each entry of the list so far came from, so that outer repeats find its step.
  struct Made {
    TaskRecord record;
    size_t from;
  };
  std::vector<Made> made;
  std::vector<size_t> begins(tasks.size() + 1);  // of each record in `made`
  auto next = repeats.begin();
  for (size_t r = 0; r < tasks.size(); ++r) {
    begins[r] = made.size();
    made.push_back({tasks[r], r});
    for (; next != repeats.end() && next->last == r + 1; ++next) {
      const size_t first = begins[next->first], last = made.size();
      for (uint64_t n = 1; n <= next->times; ++n)
        for (size_t m = first; m < last; ++m) {
          Made again = made[m];
          again.record.number += n * next->steps[again.from - next->first];
          again.record.start += n * next->shift;
          again.record.end += n * next->shift;
          made.push_back(again);
        }
    }
  }
  std::vector<TaskRecord> out;
  out.reserve(made.size());
  for (const Made& one : made) out.push_back(one.record);
  std::sort(out.begin(), out.end(),
            [](const TaskRecord& a, const TaskRecord& b) { return a.number < b.number; });
  return out;
}

}  // namespace stria::sim
