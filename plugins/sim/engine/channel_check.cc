// SPDX-License-Identifier: Apache-2.0
#include "engine/channel_check.h"

#include <algorithm>
#include <cmath>

namespace stria::sim {

ChannelCheck::ChannelCheck(const Machine& machine, const TaskGraph& graph)
    : machine_(machine), graph_(graph), uses_(machine.channels().size()) {}

void ChannelCheck::add_tasks(const Timeline& piece, size_t first, size_t last,
                             const std::vector<RepeatTree>& repeats) {
  const auto add = [&](const TaskRecord& task) {
    const TaskKind& kind = graph_.kinds[task.kind];
    uint64_t begin = task.start;
    if (kind.work == TaskKind::Work::transfer) {
      if (kind.bytes == 0) return;
      const Route::Way& way = kind.route.ways[task.instance - machine_.groups()[kind.group].first];
      begin += way.latency_ticks;
      for (uint32_t channel : way.channels) uses_[channel].push_back({begin, task.end, kind.bytes});
    }
    for (const Flowing& flow : kind.flows)
      for (uint32_t channel : flow.channels)
        if (flow.bytes > 0) uses_[channel].push_back({begin, task.end, flow.bytes});
  };
  for (const RepeatTree& tree : repeats) {
    for (; first < tree.repeat->first; ++first) add(piece.tasks[first]);
    std::vector<size_t> from;
    for (const std::vector<Use>& of : uses_) from.push_back(of.size());
    add_tasks(piece, first, tree.repeat->last, tree.inner);
    again(*tree.repeat, from);
    first = tree.repeat->last;
  }
  for (; first < last; ++first) add(piece.tasks[first]);
}

// The uses from `from` on are those of the first time of the repeat.
void ChannelCheck::again(const Repeat& repeat, const std::vector<size_t>& from) {
  for (size_t channel = 0; channel < uses_.size(); ++channel) {
    std::vector<Use>& of = uses_[channel];
    const size_t first = from[channel], last = of.size();
    if (first == last) continue;
    uint64_t longest = 0;
    Use all{UINT64_MAX, 0, 0};
    for (size_t u = first; u < last; ++u) {
      longest = std::max(longest, of[u].end - of[u].begin);
      all = {std::min(all.begin, of[u].begin), std::max(all.end, of[u].end),
             all.bytes + of[u].bytes};
    }
    const uint64_t seen = longest / repeat.shift + 2;
    for (uint64_t n = 1; n <= repeat.times; ++n) {
      if (n > seen && n + seen < repeat.times) {
        const uint64_t next = repeat.times - seen;
        of.push_back({all.begin + n * repeat.shift, all.end + (next - 1) * repeat.shift,
                      all.bytes * (next - n)});
        n = next;
      }
      for (size_t u = first; u < last; ++u) {
        const Use use = of[u];
        of.push_back({use.begin + n * repeat.shift, use.end + n * repeat.shift, use.bytes});
      }
    }
  }
}

Status ChannelCheck::add(const Timeline& piece, uint64_t horizon) {
  add_tasks(piece, 0, piece.tasks.size(), repeat_tree(piece));
  for (size_t channel = 0; channel < uses_.size(); ++channel) {
    std::vector<Use>& of = uses_[channel];
    std::sort(of.begin(), of.end(), [](const Use& a, const Use& b) { return a.begin < b.begin; });
    std::vector<Use> open;
    for (size_t u = 0; u < of.size();) {
      Use all{of[u].begin, of[u].begin, 0};
      for (; u < of.size() && (of[u].begin < all.end || all.end == all.begin); ++u) {
        all.end = std::max(all.end, of[u].end);
        all.bytes += of[u].bytes;
      }
      // Each end may be early by as much as the network takes for nothing.
      constexpr double kRounding = 1e-4;
      const double least =
          static_cast<double>(all.bytes) / machine_.channels()[channel].bytes_per_tick;
      if (static_cast<double>(all.end - all.begin) < least * (1 - 1e-9) - kRounding)
        return internal_error("the channel '{}' moves {} bytes from {} to {}, which takes {} ticks",
                              machine_.channels()[channel].name, all.bytes, all.begin, all.end,
                              std::ceil(least));
      if (all.end > horizon) open.push_back(all);
    }
    of = std::move(open);
  }
  return {};
}

}  // namespace stria::sim
