// SPDX-License-Identifier: Apache-2.0
#include "engine/unit_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stria::sim {
namespace {

// Rounds as the networks do.
uint64_t ticks_of(uint64_t bytes, double width) {
  return static_cast<uint64_t>(std::ceil(static_cast<double>(bytes) / width - 1e-5));
}

double width_of(const Machine& machine, const std::vector<uint32_t>& channels) {
  double width = machine.channels()[channels[0]].bytes_per_tick;
  for (uint32_t channel : channels)
    width = std::min(width, machine.channels()[channel].bytes_per_tick);
  return width;
}

uint64_t ticks_of_flows(const Machine& machine, const TaskKind& kind) {
  uint64_t out = 0;
  for (const Flowing& flow : kind.flows)
    if (flow.bytes > 0) out = std::max(out, ticks_of(flow.bytes, width_of(machine, flow.channels)));
  return out;
}

const Route::Way& way_of(const Machine& machine, const TaskKind& kind, uint32_t instance) {
  return kind.route.ways[instance - machine.groups()[kind.group].first];
}

uint64_t ticks_of_bytes(const Machine& machine, const TaskKind& kind, uint32_t instance) {
  return kind.bytes == 0
             ? 0
             : std::max(ticks_of(kind.bytes,
                                 width_of(machine, way_of(machine, kind, instance).channels)),
                        ticks_of_flows(machine, kind));
}

}  // namespace

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

UnitTimes::UnitTimes(const Machine& machine, const TaskGraph& graph)
    : machine_(machine), graph_(graph), out_(machine.instances()), last_(machine.instances()) {}

void UnitTimes::add(const Timeline& piece) {
  const std::vector<uint64_t> all_times = piece.times();
  size_t record = 0;
  KindTimes* sum = nullptr;
  piece.visit(
      [&](const TaskRecord& task) {
        const TaskKind& kind = graph_.kinds[task.kind];
        InstanceTimes& times = out_[task.instance];
        const uint64_t count = all_times[record++];
        const auto add = [&](Spent spent, uint64_t ticks) {
          times.ticks[static_cast<size_t>(spent)] += count * ticks;
        };
        times.tasks += count;
        add(task.waited, task.start - last_[task.instance]);
        const uint64_t length = task.end - task.start;
        if (!sum || sum->kind != task.kind || sum->instance != task.instance) {
          sum = &sums_[{task.kind, task.instance}];
          sum->kind = task.kind;
          sum->instance = task.instance;
        }
        sum->tasks += count;
        sum->ticks += count * length;
        if (kind.work == TaskKind::Work::transfer) {
          const uint64_t latency = way_of(machine_, kind, task.instance).latency_ticks;
          const uint64_t moving =
              std::min(length - latency, ticks_of_bytes(machine_, kind, task.instance));
          add(Spent::latency, latency);
          add(Spent::moving, moving);
          add(Spent::contention, length - latency - moving);
        } else {
          add(Spent::overhead, kind.overhead_ticks);
          add(Spent::compute, kind.compute_ticks);
          add(Spent::memory, length - kind.overhead_ticks - kind.compute_ticks);
        }
        last_[task.instance] = task.end;
      },
      [&](const Repeat& repeat) {
        std::vector<bool> seen(last_.size());
        for (size_t r = repeat.first; r < repeat.last; ++r) {
          const uint32_t instance = piece.tasks[r].instance;
          if (!seen[instance]) last_[instance] += repeat.times * repeat.shift;
          seen[instance] = true;
        }
      });
}

void UnitTimes::finish(uint64_t ticks) {
  for (size_t i = 0; i < out_.size(); ++i)
    out_[i].ticks[static_cast<size_t>(Spent::no_work)] += ticks - last_[i];
}

std::vector<KindTimes> UnitTimes::kinds() const {
  std::vector<KindTimes> out;
  for (const auto& [key, sum] : sums_) out.push_back(sum);
  return out;
}

std::vector<InstanceTimes> unit_times(const Machine& machine, const TaskGraph& graph,
                                      const Timeline& timeline) {
  UnitTimes times(machine, graph);
  times.add(timeline);
  times.finish(timeline.ticks);
  return times.instances();
}

}  // namespace stria::sim
