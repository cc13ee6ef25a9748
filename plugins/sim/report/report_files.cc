// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/simulation_report.h"
#include "stria/base/json_object.h"

namespace stria::sim {
namespace {

using nlohmann::ordered_json;

ordered_json units_json(const PartSimulation& run) {
  ordered_json out = ordered_json::array();
  if (run.times.empty()) return out;
  for (const Group& group : run.machine.groups())
    for (uint32_t i = 0; i < group.count; ++i) {
      const InstanceTimes& times = run.times[group.first + i];
      ordered_json unit = {
          {"name", fmt::format("{}[{}]", group.name, i)},
          {"unit", group.unit},
          {"tasks", times.tasks},
          {"utilisation", run.ticks() == 0 ? 0.0
                                           : static_cast<double>(times.busy()) /
                                                 static_cast<double>(run.ticks())}};
      ordered_json& ticks = unit["ticks"];
      for (size_t s = 0; s < kSpentKinds; ++s)
        ticks[std::string(name_of(static_cast<Spent>(s)))] = times.ticks[s];
      out.push_back(std::move(unit));
    }
  return out;
}

constexpr std::array<const char*, 3> kKinds = {"bus", "port", "rows"};  // by Channel::Kind

ordered_json channels_json(const ReportedPart& part) {
  ordered_json out = ordered_json::array();
  const PartSimulation& run = part.run;
  const std::vector<double> bytes = bytes_of_channels(part);
  const auto ticks = static_cast<double>(std::max<uint64_t>(1, run.ticks()));
  const auto cycle = static_cast<double>(run.machine.ticks_per_cycle());
  for (size_t l = 0; l < bytes.size(); ++l) {
    const Channel& channel = run.machine.channels()[l];
    if (channel.name.empty()) continue;  // the end of a mesh
    out.push_back({{"name", channel.name},
                   {"kind", kKinds[static_cast<size_t>(channel.kind)]},
                   {"bytes", bytes[l]},
                   {"bytes_per_cycle", bytes[l] / ticks * cycle},
                   {"peak_bytes_per_cycle", channel.bytes_per_tick * cycle},
                   {"utilisation",
                    channel.bytes_per_tick > 0 ? bytes[l] / ticks / channel.bytes_per_tick : 0.0},
                   {"energy_pJ", bytes[l] * channel.pj_per_byte}});
  }
  return out;
}

ordered_json memories_json(const PartSimulation& run) {
  std::map<std::string, KindCounts::Memory> sums;
  const std::vector<double>& times = run.lowered.tasks;
  for (size_t k = 0; k < times.size(); ++k)
    for (const auto& [name, memory] : run.lowered.counts[k].memories) {
      KindCounts::Memory& sum = sums[name];
      sum.read_bytes += times[k] * memory.read_bytes;
      sum.written_bytes += times[k] * memory.written_bytes;
      sum.reads += times[k] * memory.reads;
      sum.writes += times[k] * memory.writes;
    }
  ordered_json out = ordered_json::array();
  for (auto& [name, sum] : sums) {
    // The means of tasks that do not do the same add up to whole numbers, but for rounding.
    for (double* count : {&sum.read_bytes, &sum.written_bytes, &sum.reads, &sum.writes})
      *count = std::round(*count);
    const MemoryUnit& memory = *run.machine.model().find_memory(name.substr(0, name.find('[')));
    out.push_back({{"name", name},
                   {"read_bytes", sum.read_bytes},
                   {"written_bytes", sum.written_bytes},
                   {"reads", sum.reads},
                   {"writes", sum.writes},
                   {"energy_pJ", sum.read_bytes * memory.read_pj_per_byte +
                                     sum.written_bytes * memory.write_pj_per_byte}});
  }
  return out;
}

ordered_json energy_json(const Energy& energy) {
  return {{"total", energy.total()},
          {"operations", energy.operations},
          {"memories", energy.memories},
          {"moving", energy.moving},
          {"leakage", energy.leakage}};
}

uint64_t tasks_of(const PartSimulation& run) {
  double out = 0;
  for (size_t k = 0; k < run.lowered.tasks.size(); ++k)
    if (run.lowered.graph.kinds[k].work != TaskKind::Work::join) out += run.lowered.tasks[k];
  return static_cast<uint64_t>(out);
}

ordered_json part_json(const ReportedPart& part) {
  const PartSimulation& run = part.run;
  const Machine& machine = run.machine;
  const double seconds = machine.seconds(run.ticks());
  const Energy energy = energy_of(part);
  ordered_json out = {{"name", part.name},
                      {"cycles", machine.cycles(run.ticks())},
                      {"ticks", run.ticks()},
                      {"latency_us", seconds * 1e6},
                      {"at_least_cycles", machine.cycles(least_ticks(machine, run.lowered))},
                      {"tasks", tasks_of(run)},
                      {"events", run.timeline.events},
                      {"energy_pJ", energy_json(energy)},
                      {"average_mW", seconds > 0 ? energy.total() / seconds / 1e9 : 0.0},
                      {"peak_mW", peak_milliwatts(part)}};
  for (const KernelReport& kernel : kernels_of(part)) {
    ordered_json operations = ordered_json::object();
    for (const auto& [name, count] : kernel.operations) operations[name] = count;
    array_at(out, "kernels")
        .push_back({{"name", kernel.name},
                    {"unit", kernel.unit},
                    {"start_tick", kernel.start},
                    {"end_tick", kernel.end},
                    {"busy_ticks", kernel.busy},
                    {"tasks", kernel.tasks},
                    {"bytes_moved", kernel.bytes_moved},
                    {"operations", std::move(operations)},
                    {"energy_pJ", kernel.pj}});
  }
  out["units"] = units_json(run);
  out["channels"] = channels_json(part);
  out["memories"] = memories_json(run);
  out["global_operands"] = ordered_json::array();
  for (size_t n = 0; n < run.lowered.global_operands.size(); ++n)
    for (const auto& [operand, bytes] : run.lowered.global_operands[n])
      out["global_operands"].push_back(
          {{"kernel", run.lowered.statements[n]}, {"operand", operand}, {"bytes", bytes}});
  out["operations_without_energy"] = ordered_json::object();
  for (const auto& [name, count] : run.lowered.unpriced)
    out["operations_without_energy"][name] = count;
  return out;
}

// What an instance does while a repeat comes again, all times summed up.
struct RepeatedTrack {
  uint32_t instance = 0, kind = 0;  // kind: of one of its tasks
  uint64_t start = 0, end = 0;
  uint64_t tasks = 0, busy = 0;
};

std::vector<RepeatedTrack> tracks_of(const Timeline& timeline, const Repeat& repeat) {
  // Repeats inside are part of what comes again.
  std::vector<uint64_t> times(repeat.last - repeat.first, 1), later(times.size());
  for (const Repeat& inner : timeline.repeats) {
    if (&inner == &repeat) break;
    for (size_t r = std::max(inner.first, repeat.first); r < std::min(inner.last, repeat.last);
         ++r) {
      times[r - repeat.first] *= inner.times + 1;
      later[r - repeat.first] += inner.times * inner.shift;
    }
  }
  std::map<uint32_t, RepeatedTrack> out;
  for (size_t r = repeat.first; r < repeat.last; ++r) {
    const TaskRecord& task = timeline.tasks[r];
    RepeatedTrack& track = out[task.instance];
    const uint64_t count = times[r - repeat.first] * repeat.times;
    if (track.tasks == 0) {
      track.instance = task.instance;
      track.kind = task.kind;
      track.start = task.start + repeat.shift;
    }
    track.end =
        std::max(track.end, task.end + later[r - repeat.first] + repeat.times * repeat.shift);
    track.tasks += count;
    track.busy += count * (task.end - task.start);
  }
  std::vector<RepeatedTrack> tracks;
  for (const auto& [instance, track] : out) tracks.push_back(track);
  return tracks;
}

// Of what the timeline has, repeats with it.
uint64_t last_end_of(const Timeline& timeline) {
  uint64_t out = 0;
  for (const TaskRecord& task : timeline.tasks) out = std::max(out, task.end);
  for (const Repeat& repeat : timeline.repeats)
    for (const RepeatedTrack& track : tracks_of(timeline, repeat)) out = std::max(out, track.end);
  return out;
}

// A name as a field of a CSV file.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string report_json(const SimulationReport& report) {
  ordered_json out = {{"schema", 1},
                      {"program", report.program},
                      {"fidelity", report.fidelity},
                      {"buses", report.buses}};
  out["inputs"] = ordered_json::object();
  for (const auto& [name, hash] : report.hashes) out["inputs"][name] = hash;
  out["settings"] = ordered_json::object();
  for (const auto& [name, value] : report.settings) out["settings"][name] = value;
  if (!report.parts.empty()) {
    const Machine& machine = report.parts[0].run.machine;
    out["model"] = machine.model().name;
    out["clock_mhz"] = machine.model().clock_mhz;
    out["ticks_per_cycle"] = machine.ticks_per_cycle();
    out["area_mm2"] = area_of(machine.model());
  }
  out["parts"] = ordered_json::array();
  for (const ReportedPart& part : report.parts) out["parts"].push_back(part_json(part));
  out["machine_needs"] = ordered_json::array();
  for (const cost::MachineBound& bound : report.machine_bounds)
    out["machine_needs"].push_back({{"what", bound.what}, {"cycles", bound.cycles}});
  out["tile_searches"] = ordered_json::array();
  for (const TileSearch& one : report.searches)
    out["tile_searches"].push_back({{"kernel", one.kernel},
                                    {"search", one.search},
                                    {"looked_at", one.looked_at},
                                    {"cost", one.cost},
                                    {"no_tile_costs_less_than", one.least}});
  return out.dump(1) + "\n";
}

std::string kernels_csv(const SimulationReport& report) {
  std::string out =
      "part,kernel,unit,start_cycle,end_cycle,cycles,busy_cycles,tasks,bytes_moved,operations,"
      "energy_pJ\n";
  for (const ReportedPart& part : report.parts) {
    const Machine& machine = part.run.machine;
    for (const KernelReport& kernel : kernels_of(part)) {
      double operations = 0;
      for (const auto& [name, count] : kernel.operations) operations += count;
      out += fmt::format("{},{},{},{},{},{},{},{},{:.0f},{:.0f},{:.6g}\n", part.name,
                         quoted(kernel.name), kernel.unit, machine.cycles(kernel.start),
                         machine.cycles(kernel.end), machine.cycles(kernel.end - kernel.start),
                         machine.cycles(kernel.busy), kernel.tasks, kernel.bytes_moved, operations,
                         kernel.pj);
    }
  }
  return out;
}

std::string trace_json(const SimulationReport& report) {
  std::string out =
      "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"unit\":\"a microsecond is a tick\"},"
      "\"traceEvents\":[\n";
  const auto text = [](const std::string& name) { return nlohmann::json(name).dump(); };
  bool first = true;
  const auto add = [&](const std::string& event) {
    out += first ? "" : ",\n";
    out += event;
    first = false;
  };
  if (!report.parts.empty()) {
    // All parts have the same groups, except for groups that only some parts use: names tell them
    // apart. Viewers find threads by their number alone. So, as on a real machine, each thread's
    // number is unique among all processes, and the first thread's number is that of the process.
    std::map<std::string, uint64_t> processes;
    uint64_t next = 1;
    for (const ReportedPart& part : report.parts)
      for (const Group& group : part.run.machine.groups())
        if (processes.emplace(group.name, next).second) {
          const auto name = [&](const char* what, uint64_t tid, const std::string& is) {
            add(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})",
                            what, processes.at(group.name), tid, text(is)));
          };
          name("process_name", next, group.name);
          for (uint32_t i = 0; i < group.count; ++i)
            name("thread_name", next++, fmt::format("{}[{}]", group.name, i));
        }
    uint64_t begin = 0;
    for (const ReportedPart& part : report.parts) {
      const PartSimulation& run = part.run;
      const auto slice = [&](const std::string& name, uint32_t kind, uint32_t instance,
                             uint64_t start, uint64_t end, const std::string& more) {
        const Group& group = run.machine.groups()[run.lowered.graph.kinds[kind].group];
        add(fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{}{}}})",
                        text(name), text(part.name), processes.at(group.name),
                        processes.at(group.name) + instance - group.first, begin + start,
                        end - start, more));
      };
      // The slice of the outer repeat stands for a repeat inside it.
      run.timeline.visit(
          [&](const TaskRecord& task) {
            slice(run.lowered.graph.kinds[task.kind].name, task.kind, task.instance, task.start,
                  task.end, "");
          },
          [&](const Repeat& repeat) {
            for (const RepeatedTrack& track : tracks_of(run.timeline, repeat))
              slice(fmt::format("{} tasks, the {} before again {} times", track.tasks,
                                track.tasks / repeat.times, repeat.times),
                    track.kind, track.instance, track.start, track.end,
                    fmt::format(R"(,"args":{{"tasks":{},"busy_ticks":{},"repeats":{}}})",
                                track.tasks, track.busy, repeat.times));
          });
      begin += run.ticks();
      if (run.left_out > 0)
        add(fmt::format(
            R"({{"ph":"i","name":{},"cat":{},"pid":1,"tid":1,"ts":{},"s":"g","args":{{"tasks":{}}}}})",
            text(fmt::format("{} more tasks are left out", run.left_out)), text(part.name),
            begin - run.ticks() + last_end_of(run.timeline), run.left_out));
    }
  }
  return out + "\n]}\n";
}

}  // namespace stria::sim
