// SPDX-License-Identifier: Apache-2.0
#include "report/peak_energy.h"

#include <algorithm>
#include <cmath>

namespace stria::sim {
namespace {

// Rates are whole numbers of these parts of a picojoule per tick, so that sums do not depend on
// their order, nor on how much has gone before.
constexpr double kParts = 1 << 20;

struct Step {
  uint64_t at;
  int64_t rate;  // by so much more from then on
};

// The tasks of a timeline, repeats as often as a window can tell them apart: the first ones and the
// last ones. Between those there is less than in truth, never more.
class Steps {
 public:
  Steps(const TaskGraph& graph, const Timeline& timeline, uint64_t window)
      : graph_(graph), window_(window) {
    std::vector<size_t> begins;  // of each record in made_
    auto next = timeline.repeats.begin();
    for (size_t r = 0; r < timeline.tasks.size(); ++r) {
      begins.push_back(made_.size());
      made_.push_back(timeline.tasks[r]);
      for (; next != timeline.repeats.end() && next->last == r + 1; ++next)
        again(begins[next->first], *next);
    }
  }

  std::vector<Step> take() {
    std::vector<Step> out;
    for (const TaskRecord& task : made_) {
      const double pj = graph_.kinds[task.kind].pj;
      if (pj <= 0 || task.end <= task.start) continue;
      const auto rate = static_cast<int64_t>(
          std::llround(pj * kParts / static_cast<double>(task.end - task.start)));
      out.push_back({task.start, rate});
      out.push_back({task.end, -rate});
    }
    std::sort(out.begin(), out.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
    return out;
  }

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

  const TaskGraph& graph_;
  const uint64_t window_;
  std::vector<TaskRecord> made_;
};

}  // namespace

double most_energy(const TaskGraph& graph, const Timeline& timeline, uint64_t window) {
  const std::vector<Step> steps = Steps(graph, timeline, window).take();
  // The energy of a window changes evenly between the ticks at which a step comes to one of its
  // ends, so that the most is at one of those.
  int64_t most = 0, energy = 0, rate_in = 0, rate_out = 0;
  size_t in = 0, out = 0;  // the next steps at the end and at the beginning of the window
  uint64_t end = 0;        // of the window; it begins `window` before
  while (in < steps.size()) {
    const uint64_t leaves = out < steps.size() ? steps[out].at + window : UINT64_MAX;
    const uint64_t to = std::min(steps[in].at, leaves);
    energy += (rate_in - rate_out) * static_cast<int64_t>(to - end);
    end = to;
    // From before the beginning on, windows hold less than those that begin there.
    most = std::max(most, energy);
    for (; in < steps.size() && steps[in].at == end; ++in) rate_in += steps[in].rate;
    for (; out < steps.size() && steps[out].at + window == end; ++out) rate_out += steps[out].rate;
  }
  return static_cast<double>(most) / kParts;
}

}  // namespace stria::sim
