// SPDX-License-Identifier: Apache-2.0
#include "report/simulation_report.h"

#include <algorithm>
#include <cmath>

namespace stria::sim {
namespace {

bool is_join(const TaskKind& kind) { return kind.work == TaskKind::Work::join; }

// Of all instances of all units together.
template <typename Number>
double sum_of_units(const HardwareModel& model, const Number& of_one) {
  double out = 0;
  const auto add = [&](const auto& units) {
    for (const auto& unit : units) out += static_cast<double>(unit.count) * of_one(unit);
  };
  add(model.memories);
  add(model.executors);
  add(model.transfers);
  return out;
}

double leakage_milliwatts(const HardwareModel& model) {
  return sum_of_units(model, [](const auto& unit) { return unit.leakage_mw; });
}

constexpr double kPicojoulesPerMilliwattSecond = 1e9;

}  // namespace

std::vector<KernelReport> kernels_of(const ReportedPart& part) {
  const PartSimulation& run = part.run;
  const TaskGraph& graph = run.lowered.graph;
  std::vector<KernelReport> out(run.lowered.statements.size());
  for (size_t s = 0; s < out.size(); ++s) {
    out[s].name = run.lowered.statements[s];
    if (s < run.spans.size()) {
      out[s].start = run.spans[s].start;
      out[s].end = run.spans[s].end;
    }
  }
  std::vector<uint64_t> busy(graph.kinds.size());
  for (const KindTimes& kind : run.kinds) busy[kind.kind] += kind.ticks;
  const std::vector<double>& times = run.lowered.tasks;
  for (size_t k = 0; k < times.size(); ++k) {
    const TaskKind& kind = graph.kinds[k];
    if (is_join(kind)) continue;
    KernelReport& kernel = out[kind.statement];
    kernel.tasks += static_cast<uint64_t>(times[k]);
    kernel.pj += times[k] * kind.pj;
    kernel.busy += busy[k];
    if (kind.work == TaskKind::Work::transfer)
      kernel.bytes_moved += times[k] * static_cast<double>(kind.bytes);
  }
  std::vector<std::map<std::string, uint64_t>> by_unit(out.size());  // ticks of operations
  for (size_t k = 0; k < times.size(); ++k) {
    const TaskKind& kind = graph.kinds[k];
    if (times[k] == 0 || is_join(kind)) continue;
    KernelReport& kernel = out[kind.statement];
    for (const auto& [operation, count] : run.lowered.counts[k].operations)
      kernel.operations[operation] += count * times[k];
    const Group& group = run.machine.groups()[kind.group];
    if (kernel.unit.empty()) kernel.unit = group.unit;
    if (!group.transfers) by_unit[kind.statement][group.unit] += busy[k] + 1;
  }
  // The unit of a kernel that computes is the one that has most to do; that of a transfer is its
  // own.
  for (size_t s = 0; s < out.size(); ++s) {
    uint64_t most = 0;
    for (const auto& [unit, ticks] : by_unit[s])
      if (ticks > most) {
        most = ticks;
        out[s].unit = unit;
      }
  }
  return out;
}

Energy energy_of(const ReportedPart& part) {
  const std::vector<double>& times = part.run.lowered.tasks;
  Energy out;
  for (size_t k = 0; k < times.size(); ++k) {
    const KindCounts& counts = part.run.lowered.counts[k];
    out.operations += times[k] * counts.pj_operations;
    out.memories += times[k] * counts.pj_memories;
    out.moving += times[k] * counts.pj_moving;
  }
  out.leakage = leakage_milliwatts(part.run.machine.model()) *
                part.run.machine.seconds(part.run.ticks()) * kPicojoulesPerMilliwattSecond;
  return out;
}

double area_of(const HardwareModel& model) {
  return sum_of_units(model, [](const auto& unit) { return unit.area_mm2; });
}

double peak_milliwatts(const ReportedPart& part) {
  const PartSimulation& run = part.run;
  const uint64_t microsecond = peak_window(run.machine);
  if (run.spans.empty() || microsecond == 0 || run.ticks() == 0) return 0;
  // A run that is shorter is one window.
  const uint64_t window = std::min(microsecond, run.ticks());
  const double seconds = run.machine.seconds(1'000'000) / 1e6 * static_cast<double>(window);
  return run.most_pj / seconds / kPicojoulesPerMilliwattSecond +
         leakage_milliwatts(run.machine.model());
}

std::vector<double> bytes_of_channels(const ReportedPart& part) {
  const PartSimulation& run = part.run;
  std::vector<double> out(run.machine.channels().size());
  const auto add = [&](const TaskKind& kind, size_t way, double times) {
    if (kind.work == TaskKind::Work::transfer)
      for (uint32_t channel : kind.route.ways[way].channels)
        out[channel] += times * static_cast<double>(kind.bytes);
    for (const Flowing& flow : kind.flows)
      for (uint32_t channel : flow.channels)
        out[channel] += times * static_cast<double>(flow.bytes);
  };
  const TaskGraph& graph = run.lowered.graph;
  for (const KindTimes& times : run.kinds) {
    const TaskKind& kind = graph.kinds[times.kind];
    add(kind, times.instance - run.machine.groups()[kind.group].first,
        static_cast<double>(times.tasks));
  }
  if (run.spans.empty())
    for (size_t k = 0; k < graph.kinds.size(); ++k)
      add(graph.kinds[k], static_cast<size_t>(std::max(0, graph.kinds[k].instance)),
          run.lowered.tasks[k]);
  return out;
}

}  // namespace stria::sim
