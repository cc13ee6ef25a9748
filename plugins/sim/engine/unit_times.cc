// SPDX-License-Identifier: Apache-2.0
#include "engine/unit_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stria/base/text.h"

namespace stria::sim {
namespace {

// As the networks round.
uint64_t ticks_of(uint64_t bytes, double width) {
  return static_cast<uint64_t>(std::ceil(static_cast<double>(bytes) / width - 1e-5));
}

double width_of(const Machine& machine, const std::vector<uint32_t>& lanes) {
  double width = machine.lanes()[lanes[0]].bytes_per_tick;
  for (uint32_t lane : lanes) width = std::min(width, machine.lanes()[lane].bytes_per_tick);
  return width;
}

uint64_t ticks_of_flows(const Machine& machine, const TaskKind& kind) {
  uint64_t out = 0;
  for (const Flowing& flow : kind.flows)
    if (flow.bytes > 0) out = std::max(out, ticks_of(flow.bytes, width_of(machine, flow.lanes)));
  return out;
}

const Route::Way& way_of(const Machine& machine, const TaskKind& kind, uint32_t instance) {
  return kind.route.ways[instance - machine.groups()[kind.group].first];
}

uint64_t ticks_of_bytes(const Machine& machine, const TaskKind& kind, uint32_t instance) {
  return kind.bytes == 0
             ? 0
             : ticks_of(kind.bytes, width_of(machine, way_of(machine, kind, instance).lanes));
}

// Tasks of each instance in the order of their starts.
std::vector<std::vector<uint32_t>> by_instance(const Machine& machine, const TaskGraph& graph,
                                               const Timeline& timeline) {
  std::vector<std::vector<uint32_t>> out(machine.instances());
  for (uint32_t t = 0; t < graph.size(); ++t)
    if (graph.kinds[graph.kind[t]].work != TaskKind::Work::join)
      out[timeline.instance[t]].push_back(t);
  for (auto& tasks : out)
    std::stable_sort(tasks.begin(), tasks.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(timeline.start[a], timeline.end[a]) <
             std::pair(timeline.start[b], timeline.end[b]);
    });
  return out;
}

}  // namespace

std::string_view name_of(Spent spent) {
  constexpr std::string_view names[] = {"compute", "overhead",   "memory", "latency",
                                        "moving",  "contention", "data",   "dependency",
                                        "slot",    "no_work"};
  return names[static_cast<size_t>(spent)];
}

uint64_t InstanceTimes::busy() const {
  uint64_t out = 0;
  for (size_t s = 0; s < kSpentKinds; ++s)
    if (is_busy(static_cast<Spent>(s))) out += ticks[s];
  return out;
}
uint64_t InstanceTimes::total() const {
  return std::accumulate(ticks.begin(), ticks.end(), uint64_t{0});
}

uint64_t ticks_alone(const Machine& machine, const TaskKind& kind, uint32_t instance) {
  if (kind.work == TaskKind::Work::join) return 0;
  if (kind.work == TaskKind::Work::transfer)
    return way_of(machine, kind, instance).latency_ticks + ticks_of_bytes(machine, kind, instance);
  return std::max(kind.overhead_ticks + kind.compute_ticks, ticks_of_flows(machine, kind));
}

uint64_t least_ticks_alone(const Machine& machine, const TaskKind& kind) {
  if (kind.work == TaskKind::Work::join) return kind.compute_ticks;
  const Group& group = machine.groups()[kind.group];
  if (kind.work == TaskKind::Work::operation) return ticks_alone(machine, kind, group.first);
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < group.count; ++i)
    if (kind.instance < 0 || static_cast<uint32_t>(kind.instance) == i)
      least = std::min(least, ticks_alone(machine, kind, group.first + i));
  return least;
}

std::vector<InstanceTimes> unit_times(const Machine& machine, const TaskGraph& graph,
                                      const Timeline& timeline) {
  std::vector<InstanceTimes> out(machine.instances());
  const auto order = by_instance(machine, graph, timeline);
  // The task that ended last of those that one waits for, through joins.
  const auto last_of = [&](uint32_t task) {
    uint32_t last = kNoTask;
    for (;;) {
      uint32_t latest = kNoTask;
      for (uint32_t w = graph.first_wait[task]; w < graph.first_wait[task + 1]; ++w)
        if (latest == kNoTask || timeline.end[graph.waits[w]] > timeline.end[latest])
          latest = graph.waits[w];
      if (latest == kNoTask) return last;
      last = latest;
      if (graph.kinds[graph.kind[latest]].work != TaskKind::Work::join) return last;
      task = latest;
    }
  };
  for (size_t i = 0; i < out.size(); ++i) {
    InstanceTimes& times = out[i];
    const auto add = [&](Spent spent, uint64_t ticks) {
      times.ticks[static_cast<size_t>(spent)] += ticks;
    };
    uint64_t now = 0;
    for (uint32_t task : order[i]) {
      const TaskKind& kind = graph.kinds[graph.kind[task]];
      ++times.tasks;
      if (const uint64_t gap = timeline.start[task] - now; gap > 0) {
        const uint32_t last = last_of(task), slot = graph.slot[task];
        if (last == kNoTask)
          add(Spent::no_work, gap);
        else if (slot != kNoTask && timeline.end[slot] == timeline.start[task])
          add(Spent::slot, gap);
        else if (graph.kinds[graph.kind[last]].work == TaskKind::Work::transfer)
          add(Spent::data, gap);
        else
          add(Spent::dependency, gap);
      }
      const uint64_t length = timeline.end[task] - timeline.start[task];
      if (kind.work == TaskKind::Work::transfer) {
        const uint64_t latency = way_of(machine, kind, static_cast<uint32_t>(i)).latency_ticks;
        const uint64_t moving =
            std::min(length - latency, ticks_of_bytes(machine, kind, static_cast<uint32_t>(i)));
        add(Spent::latency, latency);
        add(Spent::moving, moving);
        add(Spent::contention, length - latency - moving);
      } else {
        add(Spent::overhead, kind.overhead_ticks);
        add(Spent::compute, kind.compute_ticks);
        add(Spent::memory, length - kind.overhead_ticks - kind.compute_ticks);
      }
      now = timeline.end[task];
    }
    add(Spent::no_work, timeline.ticks - now);
  }
  return out;
}

Status check_timeline(const Machine& machine, const TaskGraph& graph, const Timeline& timeline) {
  std::vector<double> bytes(machine.lanes().size());
  std::vector<uint64_t> chain(graph.size());
  uint64_t longest = 0, serial = 0;
  for (uint32_t t = 0; t < graph.size(); ++t) {
    const TaskKind& kind = graph.kinds[graph.kind[t]];
    if (timeline.end[t] < timeline.start[t])
      return internal_error("'{}' (task {}) ends at {}, before its start at {}", kind.name, t,
                            timeline.end[t], timeline.start[t]);
    const uint64_t alone = ticks_alone(machine, kind, timeline.instance[t]);
    if (timeline.end[t] - timeline.start[t] < alone)
      return internal_error("'{}' (task {}) takes {} ticks, {} is the least", kind.name, t,
                            timeline.end[t] - timeline.start[t], alone);
    for (uint32_t w = graph.first_wait[t]; w < graph.first_wait[t + 1]; ++w) {
      chain[t] = std::max(chain[t], chain[graph.waits[w]]);
      if (timeline.end[graph.waits[w]] > timeline.start[t])
        return internal_error("'{}' (task {}) starts at {}, task {} which it waits for ends at {}",
                              kind.name, t, timeline.start[t], graph.waits[w],
                              timeline.end[graph.waits[w]]);
    }
    chain[t] += alone;
    longest = std::max(longest, chain[t]);
    serial += alone;
    if (kind.work == TaskKind::Work::transfer)
      for (uint32_t lane : way_of(machine, kind, timeline.instance[t]).lanes)
        bytes[lane] += static_cast<double>(kind.bytes);
    for (const Flowing& flow : kind.flows)
      for (uint32_t lane : flow.lanes) bytes[lane] += static_cast<double>(flow.bytes);
  }
  const auto order = by_instance(machine, graph, timeline);
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t n = 1; n < order[i].size(); ++n)
      if (timeline.start[order[i][n]] < timeline.end[order[i][n - 1]])
        return internal_error("tasks {} and {} run at once on instance {}", order[i][n - 1],
                              order[i][n], i);
  for (size_t lane = 0; lane < bytes.size(); ++lane) {
    if (bytes[lane] <= 0) continue;
    const double least = bytes[lane] / machine.lanes()[lane].bytes_per_tick;
    if (static_cast<double>(timeline.ticks) < least * (1 - 1e-9) - 1)
      return internal_error("the lane '{}' needs {:.0f} ticks for its {:.0f} bytes, all took {}",
                            machine.lanes()[lane].name, least, bytes[lane], timeline.ticks);
  }
  if (timeline.ticks < longest)
    return internal_error("all took {} ticks, the longest chain takes {}", timeline.ticks, longest);
  // Something is always under way; each flow's end is rounded up, and a lane that others share
  // never carries less than its width.
  if (timeline.ticks > serial + graph.size())
    return internal_error("all took {} ticks, one after another it is {}", timeline.ticks, serial);
  const auto times = unit_times(machine, graph, timeline);
  for (size_t i = 0; i < times.size(); ++i)
    if (times[i].total() != timeline.ticks || times[i].busy() > timeline.ticks)
      return internal_error("instance {} has {} ticks of reasons in {} ticks", i, times[i].total(),
                            timeline.ticks);
  return {};
}

}  // namespace stria::sim
