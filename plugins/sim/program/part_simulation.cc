// SPDX-License-Identifier: Apache-2.0
#include "program/part_simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/check_timeline.h"
#include "engine/cycle_oracle.h"
#include "engine/peak_energy.h"

namespace stria::sim {
namespace {

// The cycle model is for small cases: for so many ticks it has taken minutes.
constexpr uint64_t kMostOracleTicks = 10'000'000;

// When each statement begins and ends, as far as the piece knows.
void add_spans(const TaskGraph& graph, const Timeline& piece, std::vector<StatementSpan>& spans) {
  // A repeat ends with its last time.
  std::vector<uint64_t> later(piece.tasks.size());
  for (const Repeat& repeat : piece.repeats)
    for (size_t r = repeat.first; r < repeat.last; ++r) later[r] += repeat.times * repeat.shift;
  for (size_t r = 0; r < later.size(); ++r) {
    const TaskRecord& task = piece.tasks[r];
    StatementSpan& span = spans[graph.kinds[task.kind].statement];
    span.start = std::min(span.start, task.start);
    span.end = std::max(span.end, task.end + later[r]);
  }
}

void append(Timeline& to, Timeline&& piece) {
  if (to.tasks.empty()) {
    to.tasks = std::move(piece.tasks);
    to.repeats = std::move(piece.repeats);
    return;
  }
  for (Repeat& repeat : piece.repeats) {
    repeat.first += to.tasks.size();
    repeat.last += to.tasks.size();
    to.repeats.push_back(std::move(repeat));
  }
  to.tasks.insert(to.tasks.end(), piece.tasks.begin(), piece.tasks.end());
}

// The channels that a transfer passes on whatever instance: of several ways, those that all have.
std::vector<uint32_t> certain_channels(const TaskKind& kind) {
  const std::vector<Route::Way>& ways = kind.route.ways;
  if (kind.instance >= 0) return ways[static_cast<size_t>(kind.instance)].channels;
  std::vector<uint32_t> out = ways[0].channels;
  for (const Route::Way& way : ways)
    std::erase_if(out, [&](uint32_t channel) {
      return std::find(way.channels.begin(), way.channels.end(), channel) == way.channels.end();
    });
  return out;
}

}  // namespace

uint64_t peak_window(const Machine& machine) {
  const double million_ticks_seconds = machine.seconds(1'000'000);
  if (million_ticks_seconds <= 0) return 0;
  return static_cast<uint64_t>(std::max(1.0, std::round(1 / million_ticks_seconds)));
}

uint64_t least_ticks(const Machine& machine, const LoweredPart& lowered) {
  const TaskGraph& graph = lowered.graph;
  std::vector<double> bytes(machine.channels().size()), work(machine.groups().size());
  for (size_t k = 0; k < graph.kinds.size(); ++k) {
    const TaskKind& kind = graph.kinds[k];
    if (kind.work == TaskKind::Work::join) continue;
    const double times = lowered.tasks[k];
    work[kind.group] += times * static_cast<double>(least_ticks_alone(machine, kind));
    if (kind.work == TaskKind::Work::transfer)
      for (uint32_t channel : certain_channels(kind))
        bytes[channel] += times * static_cast<double>(kind.bytes);
    for (const Flowing& flow : kind.flows)
      for (uint32_t channel : flow.channels)
        bytes[channel] += times * static_cast<double>(flow.bytes);
  }
  double least = longest_chain(machine, graph);
  for (size_t channel = 0; channel < bytes.size(); ++channel)
    if (bytes[channel] > 0)
      least = std::max(
          least, std::ceil(bytes[channel] / machine.channels()[channel].bytes_per_tick - 1e-5));
  for (size_t g = 0; g < work.size(); ++g)
    least = std::max(least, std::ceil(work[g] / machine.groups()[g].count - 1e-5));
  return static_cast<uint64_t>(least);
}

Result<uint64_t> estimate_part(Machine& machine, const stripe::Block& part) {
  STRIA_ASSIGN(const LoweredPart lowered, lower_part(machine, part));
  return least_ticks(machine, lowered);
}

std::vector<size_t> PartSimulation::order() const {
  std::vector<size_t> out(spans.size());
  std::iota(out.begin(), out.end(), size_t{0});
  std::stable_sort(out.begin(), out.end(),
                   [&](size_t a, size_t b) { return spans[a].start < spans[b].start; });
  return out;
}

Result<PartSimulation> simulate_part(const stripe::Program& program, const stripe::Block& part,
                                     const HardwareModel& model, const PartOptions& options) {
  STRIA_RETURN_IF_ERROR(check_model(model));
  STRIA_RETURN_IF_ERROR(check_capacity(program, model));
  STRIA_ASSIGN(Machine machine, Machine::make(model));
  const bool bounds_only = options.fidelity == Fidelity::roofline;
  STRIA_ASSIGN(LoweredPart lowered, lower_part(machine, part));
  PartSimulation out{std::move(machine), std::move(lowered), {}, {}, {}, {}};
  const TaskGraph& graph = out.lowered.graph;
  if (bounds_only) {
    out.timeline.ticks = least_ticks(out.machine, out.lowered);
    return out;
  }
  TimelineCheck check(out.machine, graph);
  const uint64_t window = peak_window(out.machine);
  PeakEnergy energy(graph, std::max<uint64_t>(1, window));
  out.spans.assign(part.stmts.size(), {UINT64_MAX, 0});
  const TakePiece take = [&](Timeline&& piece, uint64_t horizon) -> Status {
    STRIA_RETURN_IF_ERROR(check.add(piece, horizon));
    if (window > 0) energy.add(piece, horizon);
    add_spans(graph, piece, out.spans);
    if (out.timeline.tasks.size() + piece.tasks.size() > options.kept_records || out.left_out > 0) {
      const std::vector<uint64_t> times = piece.times();
      out.left_out = std::accumulate(times.begin(), times.end(), out.left_out);
      return {};
    }
    append(out.timeline, std::move(piece));
    return {};
  };
  if (options.fidelity == Fidelity::cycle) {
    STRIA_ASSIGN(Timeline all, simulate_by_cycles(out.machine, graph, kMostOracleTicks));
    out.timeline.ticks = all.ticks;
    out.timeline.events = all.events;
    STRIA_RETURN_IF_ERROR(take(std::move(all), out.timeline.ticks));
  } else {
    STRIA_ASSIGN(const Timeline all, simulate(out.machine, graph, options.events, take));
    out.timeline.ticks = all.ticks;
    out.timeline.events = all.events;
  }
  STRIA_RETURN_IF_ERROR(check.finish(out.timeline.ticks));
  // A statement that takes no time ends when those before it have ended.
  for (size_t s = 0; s < out.spans.size(); ++s)
    if (out.spans[s].start == UINT64_MAX)
      out.spans[s].start = out.spans[s].end = s > 0 ? out.spans[s - 1].end : 0;
  STRIA_RETURN_IF_ERROR(check_order(program, part, out.spans));
  out.times = check.times().instances();
  out.kinds = check.times().kinds();
  out.most_pj = energy.most();
  return out;
}

}  // namespace stria::sim
