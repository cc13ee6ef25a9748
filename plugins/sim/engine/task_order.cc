// SPDX-License-Identifier: Apache-2.0
#include "engine/task_order.h"

#include <algorithm>

namespace stria::sim {

TaskOrder::TaskOrder(Timeline timeline, uint32_t instances)
    : timeline_(std::move(timeline)), lines_(instances) {
  // Where the tasks of each instance stood when a record came, for the starts of repeats.
  std::vector<size_t> position(timeline_.tasks.size());
  for (size_t r = 0; r < timeline_.tasks.size(); ++r) {
    Line& line = lines_[timeline_.tasks[r].instance];
    position[r] = line.tasks.size();
    line.tasks.push_back(static_cast<uint32_t>(r));
    line.inside.push_back(-1);
  }
  // Inner repeats come first: what has a span already lies in one of those.
  for (size_t n = 0; n < timeline_.repeats.size(); ++n) {
    const Repeat& repeat = timeline_.repeats[n];
    std::vector<int32_t> span_of(instances, -1);
    for (size_t r = repeat.first; r < repeat.last; ++r) {
      const uint32_t instance = timeline_.tasks[r].instance;
      Line& line = lines_[instance];
      int32_t& own = span_of[instance];
      if (own < 0) {
        own = static_cast<int32_t>(line.spans.size());
        line.spans.push_back({position[r], position[r], n, -1, 0});
      }
      line.spans[static_cast<size_t>(own)].last = position[r] + 1;
      int32_t* outermost = &line.inside[position[r]];
      while (*outermost >= 0 && *outermost != own)
        outermost = &line.spans[static_cast<size_t>(*outermost)].around;
      *outermost = own;
    }
  }
}

TaskOrder::Next TaskOrder::next(uint32_t instance) const {
  const Line& line = lines_[instance];
  if (line.at == line.tasks.size()) return {};
  const size_t record = line.tasks[line.at];
  Next out{timeline_.tasks[record].number, timeline_.tasks[record].start,
           timeline_.tasks[record].waited};
  for (int32_t s = line.inside[line.at]; s >= 0; s = line.spans[static_cast<size_t>(s)].around) {
    const Span& span = line.spans[static_cast<size_t>(s)];
    const Repeat& repeat = timeline_.repeats[span.repeat];
    out.number += span.done * repeat.steps[record - repeat.first];
    out.start += span.done * repeat.shift;
  }
  return out;
}

void TaskOrder::take(uint32_t instance) {
  Line& line = lines_[instance];
  int32_t s = line.inside[line.at++];
  while (s >= 0) {
    Span& span = line.spans[static_cast<size_t>(s)];
    if (span.last != line.at) return;
    if (span.done < timeline_.repeats[span.repeat].times) {
      ++span.done;
      line.at = span.first;
      return;
    }
    span.done = 0;
    s = span.around;
  }
}

void TaskOrder::write_state(Moment& moment) const {
  for (uint32_t instance = 0; instance < lines_.size(); ++instance) {
    const Line& line = lines_[instance];
    moment.form.push_back(line.at);
    const uint64_t start = next(instance).start;
    moment.starts.push_back(start == kNone || start <= moment.now ? 0 : start);
    if (line.at == line.tasks.size()) continue;
    for (int32_t s = line.inside[line.at]; s >= 0; s = line.spans[static_cast<size_t>(s)].around) {
      const Span& span = line.spans[static_cast<size_t>(s)];
      const Repeat& repeat = timeline_.repeats[span.repeat];
      moment.turns.push_back({span.repeat, span.done, repeat.times, repeat.shift});
    }
  }
}

void TaskOrder::skip(const Moment& before, const Moment& now, uint64_t times) {
  size_t turn = 0;
  for (Line& line : lines_) {
    if (line.at == line.tasks.size()) continue;
    for (int32_t s = line.inside[line.at]; s >= 0; s = line.spans[static_cast<size_t>(s)].around) {
      line.spans[static_cast<size_t>(s)].done +=
          times * (now.turns[turn].done - before.turns[turn].done);
      ++turn;
    }
  }
}

}  // namespace stria::sim
