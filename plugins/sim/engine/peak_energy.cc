// SPDX-License-Identifier: Apache-2.0
#include "engine/peak_energy.h"

#include <algorithm>
#include <cmath>

namespace stria::sim {
namespace {

// Rates are whole numbers of these parts of a picojoule per tick. So sums do not depend on their
// order, nor on how much has gone before.
constexpr double kParts = 1 << 20;

// The tasks of a timeline, repeats as often as a window can tell them apart: the first ones and the
// last ones. Between those there is less than in truth, never more.
class Edges {
 public:
  Edges(const Timeline& timeline, uint64_t window) : window_(window) {
    std::vector<size_t> begins;  // of each record in made_
    auto next = timeline.repeats.begin();
    for (size_t r = 0; r < timeline.tasks.size(); ++r) {
      begins.push_back(made_.size());
      made_.push_back(timeline.tasks[r]);
      for (; next != timeline.repeats.end() && next->last == r + 1; ++next)
        again(begins[next->first], *next);
    }
  }

  const std::vector<TaskRecord>& tasks() const { return made_; }

 private:
  void again(size_t first, const Repeat& repeat) {
    uint64_t longest = 0;
    const size_t last = made_.size();
    for (size_t m = first; m < last; ++m)
      longest = std::max(longest, made_[m].end - made_[m].start);
    const uint64_t seen = (window_ + longest) / repeat.shift + 2;
    for (uint64_t n = 1; n <= repeat.times; ++n) {
      if (n > seen && n + seen < repeat.times) n = repeat.times - seen;
      for (size_t m = first; m < last; ++m) {
        TaskRecord task = made_[m];
        task.start += n * repeat.shift;
        task.end += n * repeat.shift;
        made_.push_back(task);
      }
    }
  }

  const uint64_t window_;
  std::vector<TaskRecord> made_;
};

}  // namespace

PeakEnergy::PeakEnergy(const TaskGraph& graph, uint64_t window) : graph_(graph), window_(window) {}

void PeakEnergy::add(const Timeline& piece, uint64_t horizon) {
  const Edges edges(piece, window_);
  for (const TaskRecord& task : edges.tasks()) {
    const double pj = graph_.kinds[task.kind].pj;
    if (pj <= 0 || task.end <= task.start) continue;
    const auto rate = static_cast<int64_t>(
        std::llround(pj * kParts / static_cast<double>(task.end - task.start)));
    steps_.push_back({task.start, rate});
    steps_.push_back({task.end, -rate});
  }
  std::sort(steps_.begin() + static_cast<std::ptrdiff_t>(in_), steps_.end(),
            [](const Step& a, const Step& b) { return a.at < b.at; });
  look_until(horizon);
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(out_));
  in_ -= out_;
  out_ = 0;
}

// The energy of a window changes evenly between the ticks at which a step comes to one of the
// window's ends. So the most is at one of those ticks.
void PeakEnergy::look_until(uint64_t limit) {
  while (in_ < steps_.size() && steps_[in_].at < limit) {
    const uint64_t leaves = out_ < in_ ? steps_[out_].at + window_ : UINT64_MAX;
    const uint64_t to = std::min(steps_[in_].at, leaves);
    energy_ += (rate_in_ - rate_out_) * static_cast<int64_t>(to - end_);
    end_ = to;
    // Windows that begin before the beginning hold less than those that begin there.
    most_ = std::max(most_, energy_);
    for (; in_ < steps_.size() && steps_[in_].at == end_; ++in_) rate_in_ += steps_[in_].rate;
    for (; out_ < in_ && steps_[out_].at + window_ == end_; ++out_) rate_out_ += steps_[out_].rate;
  }
}

double PeakEnergy::most() {
  look_until(UINT64_MAX);
  return static_cast<double>(most_) / kParts;
}

double most_energy(const TaskGraph& graph, const Timeline& timeline, uint64_t window) {
  PeakEnergy peak(graph, window);
  peak.add(timeline, timeline.ticks);
  return peak.most();
}

}  // namespace stria::sim
