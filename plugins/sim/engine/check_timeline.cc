// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/unit_times.h"

namespace stria::sim {
namespace {

// The longest chain from `from` (kNoTask: any start) to each node.
std::vector<double> chains(const Machine& machine, const std::vector<TaskKind>& kinds,
                           const TaskGraph& graph, uint32_t from);

double longest(const std::vector<double>& chain) {
  double out = 0;
  for (double one : chain) out = std::max(out, one);
  return out;
}

double ticks_of_node(const Machine& machine, const std::vector<TaskKind>& kinds,
                     const TaskGraph& graph, size_t node) {
  if (!graph.is_loop(node))
    return static_cast<double>(least_ticks_alone(machine, kinds[graph.kind[node]]));
  const Loop& loop = graph.loop(node);
  const double once = longest(chains(machine, kinds, *loop.body, kNoTask));
  // Points that wait for the one that makes room, and what each hands on to the next.
  const auto points = static_cast<double>(loop.points);
  double out = static_cast<double>((loop.points - 1) / loop.depth + 1) * once;
  for (const Loop::Carried& carried : loop.carried) {
    const double step = chains(machine, kinds, *loop.body, carried.node)[carried.before];
    out = std::max(out, points * step);
  }
  return out;
}

std::vector<double> chains(const Machine& machine, const std::vector<TaskKind>& kinds,
                           const TaskGraph& graph, uint32_t from) {
  constexpr double kNone = -1;  // no chain leads there
  std::vector<double> out(graph.size(), kNone);
  for (size_t node = from == kNoTask ? 0 : from; node < graph.size(); ++node) {
    double before = from == kNoTask || node == from ? 0 : kNone;
    for (uint32_t w = graph.first_wait[node]; w < graph.first_wait[node + 1]; ++w)
      before = std::max(before, out[graph.waits[w]]);
    if (before >= 0) out[node] = before + ticks_of_node(machine, kinds, graph, node);
  }
  return out;
}

// Nothing runs twice at once on an instance, in what repeats itself neither.
Status check_instances(const Machine& machine, const TaskGraph& graph, const Timeline& timeline) {
  std::vector<uint64_t> last(machine.instances());
  Status status;
  const auto fails = [&](uint32_t instance, uint64_t start) {
    if (status.ok() && start < last[instance])
      status = internal_error("instance {} starts a task at {} before it ends one at {}", instance,
                              start, last[instance]);
  };
  timeline.visit(
      [&](const TaskRecord& task) {
        const TaskKind& kind = graph.kinds[task.kind];
        if (status.ok() && task.end < task.start)
          status = internal_error("'{}' (task {}) ends at {}, before its start at {}", kind.name,
                                  task.number, task.end, task.start);
        const uint64_t alone = ticks_alone(machine, kind, task.instance);
        if (status.ok() && task.end - task.start < alone)
          status = internal_error("'{}' (task {}) takes {} ticks, {} is the least", kind.name,
                                  task.number, task.end - task.start, alone);
        fails(task.instance, task.start);
        last[task.instance] = task.end;
      },
      [&](const Repeat& repeat) {
        std::vector<bool> seen(last.size());
        for (size_t r = repeat.first; r < repeat.last; ++r) {
          const TaskRecord& task = timeline.tasks[r];
          if (seen[task.instance]) continue;
          seen[task.instance] = true;
          fails(task.instance, task.start + repeat.shift);
          last[task.instance] += repeat.times * repeat.shift;
        }
      });
  return status;
}

// While a lane is in use without a break, it carries all that begins and ends in that time, and no
// more than it is wide.
Status check_lanes(const Machine& machine, const TaskGraph& graph,
                   const std::vector<TaskRecord>& all) {
  struct Use {
    uint64_t begin, end, bytes;
  };
  std::vector<std::vector<Use>> uses(machine.lanes().size());
  for (const TaskRecord& task : all) {
    const TaskKind& kind = graph.kinds[task.kind];
    if (kind.work == TaskKind::Work::transfer && kind.bytes > 0) {
      const Route::Way& way = kind.route.ways[task.instance - machine.groups()[kind.group].first];
      for (uint32_t lane : way.lanes)
        uses[lane].push_back({task.start + way.latency_ticks, task.end, kind.bytes});
    }
    for (const Flowing& flow : kind.flows)
      for (uint32_t lane : flow.lanes)
        if (flow.bytes > 0) uses[lane].push_back({task.start, task.end, flow.bytes});
  }
  for (size_t lane = 0; lane < uses.size(); ++lane) {
    std::vector<Use>& of = uses[lane];
    std::sort(of.begin(), of.end(), [](const Use& a, const Use& b) { return a.begin < b.begin; });
    for (size_t u = 0; u < of.size();) {
      const uint64_t begin = of[u].begin;
      uint64_t end = begin, bytes = 0;
      for (; u < of.size() && (of[u].begin < end || end == begin); ++u) {
        end = std::max(end, of[u].end);
        bytes += of[u].bytes;
      }
      // Each end may be as much early as networks take for nothing.
      constexpr double kRounding = 1e-4;
      const double least = static_cast<double>(bytes) / machine.lanes()[lane].bytes_per_tick;
      if (static_cast<double>(end - begin) < least * (1 - 1e-9) - kRounding)
        return internal_error("the lane '{}' moves {} bytes from {} to {}, which takes {} ticks",
                              machine.lanes()[lane].name, bytes, begin, end, std::ceil(least));
    }
  }
  return {};
}

// Task by task: all that it waits for has ended.
Status check_waits(const TaskGraph& graph, const std::vector<TaskRecord>& all) {
  STRIA_ASSIGN(const Unrolled unrolled, unroll(graph, kMostCheckedTasks));
  const TaskGraph& flat = unrolled.graph;
  std::vector<uint64_t> end(flat.size());
  for (size_t node = 0, at = 0; node < flat.size(); ++node) {
    uint64_t ready = 0;
    uint32_t last = kNoTask;
    for (uint32_t w = flat.first_wait[node]; w < flat.first_wait[node + 1]; ++w)
      if (end[flat.waits[w]] >= ready) {
        last = flat.waits[w];
        ready = end[last];
      }
    if (unrolled.number[node] == UINT64_MAX) {
      end[node] = ready;
      continue;
    }
    const std::string& name = flat.kinds[flat.kind[node]].name;
    if (at >= all.size() || all[at].number != unrolled.number[node] ||
        all[at].kind != flat.kind[node])
      return internal_error("'{}' (task {}) does not run, or runs twice", name,
                            unrolled.number[node]);
    if (all[at].start < ready)
      return internal_error("'{}' (task {}) starts at {}, '{}' which it waits for ends at {}", name,
                            unrolled.number[node], all[at].start, flat.kinds[flat.kind[last]].name,
                            ready);
    end[node] = all[at++].end;
  }
  return {};
}

}  // namespace

double longest_chain(const Machine& machine, const TaskGraph& graph) {
  return longest(chains(machine, graph.kinds, graph, kNoTask));
}

Status check_timeline(const Machine& machine, const TaskGraph& graph, const Timeline& timeline) {
  STRIA_RETURN_IF_ERROR(check_instances(machine, graph, timeline));
  std::vector<double> bytes(machine.lanes().size());
  std::vector<uint64_t> tasks(graph.kinds.size());
  double serial = 0, count = 0;
  for (const KindTimes& times : kind_times(timeline)) {
    const TaskKind& kind = graph.kinds[times.kind];
    tasks[times.kind] += times.tasks;
    const auto number = static_cast<double>(times.tasks);
    count += number;
    serial += number * static_cast<double>(ticks_alone(machine, kind, times.instance));
    if (kind.work == TaskKind::Work::transfer)
      for (uint32_t lane :
           kind.route.ways[times.instance - machine.groups()[kind.group].first].lanes)
        bytes[lane] += number * static_cast<double>(kind.bytes);
    for (const Flowing& flow : kind.flows)
      for (uint32_t lane : flow.lanes) bytes[lane] += number * static_cast<double>(flow.bytes);
  }
  const std::vector<uint64_t> asked = tasks_of_kinds(graph);
  for (size_t k = 0; k < tasks.size(); ++k)
    if (graph.kinds[k].work != TaskKind::Work::join && tasks[k] != asked[k])
      return internal_error("'{}' is there {} times and runs {} times", graph.kinds[k].name,
                            asked[k], tasks[k]);
  for (size_t lane = 0; lane < bytes.size(); ++lane) {
    if (bytes[lane] <= 0) continue;
    const double least = bytes[lane] / machine.lanes()[lane].bytes_per_tick;
    if (static_cast<double>(timeline.ticks) < least * (1 - 1e-9) - 1)
      return internal_error("the lane '{}' needs {:.0f} ticks for its {:.0f} bytes, all took {}",
                            machine.lanes()[lane].name, least, bytes[lane], timeline.ticks);
  }
  if (const double chain = longest_chain(machine, graph);
      static_cast<double>(timeline.ticks) < chain)
    return internal_error("all took {} ticks, the longest chain takes {:.0f}", timeline.ticks,
                          chain);
  // Something is always under way; each flow's end is rounded up, and a lane that others share
  // never carries less than its width.
  if (static_cast<double>(timeline.ticks) > serial + count)
    return internal_error("all took {} ticks, one after another it is {:.0f}", timeline.ticks,
                          serial);
  const auto times = unit_times(machine, graph, timeline);
  for (size_t i = 0; i < times.size(); ++i)
    if (times[i].total() != timeline.ticks || times[i].busy() > timeline.ticks)
      return internal_error("instance {} has {} ticks of reasons in {} ticks", i, times[i].total(),
                            timeline.ticks);
  STRIA_ASSIGN(const uint64_t numbers, numbers_of(graph));
  if (numbers > kMostCheckedTasks) return {};
  const std::vector<TaskRecord> all = timeline.all();
  STRIA_RETURN_IF_ERROR(check_lanes(machine, graph, all));
  return check_waits(graph, all);
}

}  // namespace stria::sim
