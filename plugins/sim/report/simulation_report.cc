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
  std::vector<double> times(graph.kinds.size());
  std::vector<uint64_t> busy(graph.kinds.size());
  for (size_t t = 0; t < graph.size(); ++t) {
    const TaskKind& kind = graph.kinds[graph.kind[t]];
    if (is_join(kind)) continue;
    const double count = graph.times_of(t);
    times[graph.kind[t]] += count;
    KernelReport& kernel = out[kind.statement];
    kernel.tasks += static_cast<uint64_t>(count);
    kernel.pj += count * kind.pj;
    if (kind.work == TaskKind::Work::transfer)
      kernel.bytes_moved += count * static_cast<double>(kind.bytes);
    if (run.spans.empty()) continue;
    const uint64_t ticks = run.timeline.end[t] - run.timeline.start[t];
    kernel.busy += ticks;
    busy[graph.kind[t]] += ticks;
  }
  std::vector<std::map<std::string, uint64_t>> by_unit(out.size());  // ticks of operations
  for (size_t k = 0; k < times.size(); ++k) {
    if (times[k] == 0) continue;
    const TaskKind& kind = graph.kinds[k];
    KernelReport& kernel = out[kind.statement];
    for (const auto& [operation, count] : run.lowered.counts[k].operations)
      kernel.operations[operation] += count * times[k];
    const Group& group = run.machine.groups()[kind.group];
    if (kernel.unit.empty()) kernel.unit = group.unit;
    if (!group.transfers) by_unit[kind.statement][group.unit] += busy[k] + 1;
  }
  // Of a kernel that computes the unit that has most to do; of a transfer its own.
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
  const TaskGraph& graph = part.run.lowered.graph;
  std::vector<double> times(graph.kinds.size());
  for (size_t t = 0; t < graph.size(); ++t) times[graph.kind[t]] += graph.times_of(t);
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
  const double seconds = run.machine.seconds(1'000'000);  // of a million ticks
  if (seconds <= 0 || run.spans.empty()) return 0;
  // A run that is shorter is one window.
  const double ticks_per_window =
      std::max(1.0, std::min(1e-6 / (seconds / 1e6), static_cast<double>(run.ticks())));
  const auto windows = static_cast<size_t>(static_cast<double>(run.ticks()) / ticks_per_window) + 1;
  std::vector<double> pj(windows);
  const TaskGraph& graph = run.lowered.graph;
  for (size_t t = 0; t < graph.size(); ++t) {
    const TaskKind& kind = graph.kinds[graph.kind[t]];
    const auto start = static_cast<double>(run.timeline.start[t]);
    const auto end = static_cast<double>(run.timeline.end[t]);
    if (kind.pj <= 0 || end <= start) continue;
    const double rate = kind.pj / (end - start);
    for (auto w = static_cast<size_t>(start / ticks_per_window); w < windows; ++w) {
      const double first = static_cast<double>(w) * ticks_per_window;
      if (first >= end) break;
      pj[w] += rate * (std::min(end, first + ticks_per_window) - std::max(start, first));
    }
  }
  // The last window may be cut short; a whole one stands for it.
  const double most = *std::max_element(pj.begin(), pj.end());
  const double window = ticks_per_window * seconds / 1e6;
  return most / window / kPicojoulesPerMilliwattSecond + leakage_milliwatts(run.machine.model());
}

std::vector<double> bytes_of_lanes(const ReportedPart& part) {
  const PartSimulation& run = part.run;
  std::vector<double> out(run.machine.lanes().size());
  const TaskGraph& graph = run.lowered.graph;
  for (size_t t = 0; t < graph.size(); ++t) {
    const TaskKind& kind = graph.kinds[graph.kind[t]];
    if (kind.work == TaskKind::Work::transfer) {
      const uint32_t first = run.machine.groups()[kind.group].first;
      const size_t way = run.spans.empty() ? static_cast<size_t>(std::max(0, kind.instance))
                                           : run.timeline.instance[t] - first;
      for (uint32_t lane : kind.route.ways[way].lanes)
        out[lane] += graph.times_of(t) * static_cast<double>(kind.bytes);
    }
    for (const Flowing& flow : kind.flows)
      for (uint32_t lane : flow.lanes)
        out[lane] += graph.times_of(t) * static_cast<double>(flow.bytes);
  }
  return out;
}

}  // namespace stria::sim
