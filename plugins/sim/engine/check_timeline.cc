// SPDX-License-Identifier: Apache-2.0
#include "engine/check_timeline.h"

namespace stria::sim {

TimelineCheck::TimelineCheck(const Machine& machine, const TaskGraph& graph)
    : machine_(machine),
      graph_(graph),
      waits_(graph),
      channels_(machine, graph),
      times_(machine, graph),
      last_(machine.instances()) {}

// Nothing runs twice at once on an instance, and neither does what repeats itself.
Status TimelineCheck::check_instances(const Timeline& piece) {
  Status status;
  const auto fails = [&](uint32_t instance, uint64_t start) {
    if (status.ok() && start < last_[instance])
      status = internal_error("instance {} starts a task at {} before it ends one at {}", instance,
                              start, last_[instance]);
  };
  piece.visit(
      [&](const TaskRecord& task) {
        const TaskKind& kind = graph_.kinds[task.kind];
        if (status.ok() && task.end < task.start)
          status = internal_error("'{}' (task {}) ends at {}, before its start at {}", kind.name,
                                  task.number, task.end, task.start);
        const uint64_t alone = ticks_alone(machine_, kind, task.instance);
        if (status.ok() && task.end - task.start < alone)
          status = internal_error("'{}' (task {}) takes {} ticks, {} is the least", kind.name,
                                  task.number, task.end - task.start, alone);
        fails(task.instance, task.start);
        last_[task.instance] = task.end;
      },
      [&](const Repeat& repeat) {
        std::vector<bool> seen(last_.size());
        for (size_t r = repeat.first; r < repeat.last; ++r) {
          const TaskRecord& task = piece.tasks[r];
          if (seen[task.instance]) continue;
          seen[task.instance] = true;
          fails(task.instance, task.start + repeat.shift);
          last_[task.instance] += repeat.times * repeat.shift;
        }
      });
  return status;
}

Status TimelineCheck::add(const Timeline& piece, uint64_t horizon) {
  STRIA_RETURN_IF_ERROR(check_instances(piece));
  times_.add(piece);
  STRIA_RETURN_IF_ERROR(channels_.add(piece, horizon));
  return waits_.add(piece);
}

Status TimelineCheck::finish(uint64_t ticks) {
  times_.finish(ticks);
  std::vector<double> bytes(machine_.channels().size());
  std::vector<uint64_t> tasks(graph_.kinds.size());
  double serial = 0, count = 0;
  for (const KindTimes& times : times_.kinds()) {
    const TaskKind& kind = graph_.kinds[times.kind];
    tasks[times.kind] += times.tasks;
    const auto number = static_cast<double>(times.tasks);
    count += number;
    serial += number * static_cast<double>(ticks_alone(machine_, kind, times.instance));
    if (kind.work == TaskKind::Work::transfer)
      for (uint32_t channel :
           kind.route.ways[times.instance - machine_.groups()[kind.group].first].channels)
        bytes[channel] += number * static_cast<double>(kind.bytes);
    for (const Flowing& flow : kind.flows)
      for (uint32_t channel : flow.channels)
        bytes[channel] += number * static_cast<double>(flow.bytes);
  }
  const std::vector<uint64_t> asked = tasks_of_kinds(graph_);
  for (size_t k = 0; k < tasks.size(); ++k)
    if (graph_.kinds[k].work != TaskKind::Work::join && tasks[k] != asked[k])
      return internal_error("'{}' is there {} times and runs {} times", graph_.kinds[k].name,
                            asked[k], tasks[k]);
  STRIA_RETURN_IF_ERROR(waits_.finish());
  for (size_t channel = 0; channel < bytes.size(); ++channel) {
    if (bytes[channel] <= 0) continue;
    const double least = bytes[channel] / machine_.channels()[channel].bytes_per_tick;
    if (static_cast<double>(ticks) < least * (1 - 1e-9) - 1)
      return internal_error("the channel '{}' needs {:.0f} ticks for its {:.0f} bytes, all took {}",
                            machine_.channels()[channel].name, least, bytes[channel], ticks);
  }
  if (const double chain = longest_chain(machine_, graph_); static_cast<double>(ticks) < chain)
    return internal_error("all took {} ticks, the longest chain takes {:.0f}", ticks, chain);
  // Something is always under way. The end of each flow is rounded up, and a channel that others
  // share never carries less than its width.
  if (static_cast<double>(ticks) > serial + count)
    return internal_error("all took {} ticks, one after another it is {:.0f}", ticks, serial);
  const std::vector<InstanceTimes>& times = times_.instances();
  for (size_t i = 0; i < times.size(); ++i)
    if (times[i].total() != ticks || times[i].busy() > ticks)
      return internal_error("instance {} has {} ticks of reasons in {} ticks", i, times[i].total(),
                            ticks);
  return {};
}

Status check_timeline(const Machine& machine, const TaskGraph& graph, const Timeline& timeline) {
  TimelineCheck check(machine, graph);
  STRIA_RETURN_IF_ERROR(check.add(timeline, timeline.ticks));
  return check.finish(timeline.ticks);
}

}  // namespace stria::sim
