// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "report/simulation_report.h"

namespace stria::sim {
namespace {

constexpr size_t kMostKernels = 12, kMostGlobalOperands = 8;

// "12,345,678"
std::string grouped(uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string energy_text(double pj) {
  const char* units[] = {"pJ", "nJ", "uJ", "mJ", "J"};
  size_t u = 0;
  while (pj >= 1000 && u + 1 < std::size(units)) {
    pj /= 1000;
    ++u;
  }
  return fmt::format("{:.4g} {}", pj, units[u]);
}

std::string time_text(double seconds) {
  if (seconds <= 0) return "no clock";
  if (seconds < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.4g} ms", seconds * 1e3) : fmt::format("{:.4g} s", seconds);
}

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string short_name(std::string name) {
  constexpr size_t kWidest = 32;
  return name.size() <= kWidest ? name : name.substr(0, kWidest - 2) + "..";
}

void kernels(const ReportedPart& part, std::string& out) {
  std::vector<KernelReport> all = kernels_of(part);
  const uint64_t ticks = part.run.ticks();
  std::stable_sort(all.begin(), all.end(), [](const KernelReport& a, const KernelReport& b) {
    return a.end - a.start > b.end - b.start;
  });
  out += fmt::format("  {:<32} {:<6} {:>14} {:>7} {:>12}\n", "kernel", "unit", "cycles", "of all",
                     "energy");
  for (size_t k = 0; k < std::min(all.size(), kMostKernels); ++k)
    out += fmt::format("  {:<32} {:<6} {:>14} {:>6.1f}% {:>12}\n", short_name(all[k].name),
                       all[k].unit, grouped(part.run.machine.cycles(all[k].end - all[k].start)),
                       percent(all[k].end - all[k].start, ticks), energy_text(all[k].pj));
  if (all.size() > kMostKernels)
    out += fmt::format("  and {} more, see kernels.csv\n", all.size() - kMostKernels);
}

void units(const ReportedPart& part, std::string& out) {
  const PartSimulation& run = part.run;
  const uint64_t ticks = run.ticks();
  out += fmt::format("  {:<18} {:>6}  {}\n", "unit", "busy", "the rest of the time");
  // Instances with the same numbers share a line.
  const Group* of = nullptr;
  uint32_t first = 0, last = 0;
  std::string line;
  const auto finish_row = [&] {
    if (!of) return;
    const std::string numbers =
        first == last ? std::to_string(first) : fmt::format("{}..{}", first, last);
    out += fmt::format("  {:<18} {}\n", fmt::format("{}[{}]", of->name, numbers), line);
  };
  const auto row = [&](const Group& group, uint32_t instance, std::string text) {
    if (of != &group || line != text) {
      finish_row();
      of = &group;
      first = instance;
      line = std::move(text);
    }
    last = instance;
  };
  InstanceTimes waits;  // of all that had work
  uint64_t whole = 0;
  for (const Group& group : run.machine.groups())
    for (uint32_t i = 0; i < group.count; ++i) {
      const InstanceTimes& times = run.times[group.first + i];
      std::vector<std::pair<uint64_t, size_t>> reasons;
      for (size_t s = 0; s < kSpentKinds; ++s) {
        if (times.ticks[s] > 0 && !is_busy(static_cast<Spent>(s)))
          reasons.emplace_back(times.ticks[s], s);
        if (times.tasks > 0) waits.ticks[s] += times.ticks[s];
      }
      if (times.tasks > 0) whole += ticks;
      std::sort(reasons.rbegin(), reasons.rend());
      std::string text;
      for (const auto& [spent, s] : reasons)
        text += fmt::format("{}{} {:.1f}%", text.empty() ? "" : ", ",
                            name_of(static_cast<Spent>(s)), percent(spent, ticks));
      row(group, i, fmt::format("{:>5.1f}%  {}", percent(times.busy(), ticks), text));
    }
  finish_row();
  std::vector<std::pair<uint64_t, size_t>> top;
  for (size_t s = 0; s < kSpentKinds; ++s) {
    const auto spent = static_cast<Spent>(s);
    const bool useful = spent == Spent::compute || spent == Spent::moving;
    if (!useful && waits.ticks[s] > 0) top.emplace_back(waits.ticks[s], s);
  }
  std::sort(top.rbegin(), top.rend());
  std::string text;
  for (size_t n = 0; n < std::min<size_t>(3, top.size()); ++n)
    text += fmt::format("{}{} {:.1f}%", n ? ", " : "", name_of(static_cast<Spent>(top[n].second)),
                        percent(top[n].first, whole));
  out += fmt::format("  lost most to: {}\n", text.empty() ? "nothing" : text);
}

// The operands in global memory for which most bytes move, access by access, and how many more
// there are.
void global_operands(const PartSimulation& run, std::string& out) {
  struct Operand {
    size_t statement;
    const std::string* name;
    double bytes;
  };
  std::vector<Operand> all;
  for (size_t n = 0; n < run.lowered.global_operands.size(); ++n)
    for (const auto& [name, bytes] : run.lowered.global_operands[n])
      all.push_back({n, &name, bytes});
  std::stable_sort(all.begin(), all.end(),
                   [](const Operand& a, const Operand& b) { return a.bytes > b.bytes; });
  const size_t shown = std::min(all.size(), kMostGlobalOperands);
  for (size_t n = 0; n < shown; ++n)
    out += fmt::format("  {} works on {} from afar: {:.0f} bytes, each access for itself\n",
                       run.lowered.statements[all[n].statement], *all[n].name, all[n].bytes);
  if (shown < all.size())
    out += fmt::format("  and on {} more operands from afar (report.json has all)\n",
                       all.size() - shown);
}

// "100.0%": the part of the time that a bound is.
std::string bound_line(const char* of, double cycles, uint64_t time, const std::string& why) {
  return fmt::format("  {:<18} {:>14} cycles, {:>5.1f}% of the time{}{}\n", of,
                     grouped(static_cast<uint64_t>(cycles)),
                     time == 0 ? 0 : 100 * cycles / static_cast<double>(time),
                     why.empty() ? "" : ": ", why);
}

// What the searches for tiles proved. Of a quick one that is little.
std::string searches_line(const std::vector<TileSearch>& searches) {
  if (searches.empty()) return "";
  const auto worst = std::max_element(
      searches.begin(), searches.end(),
      [](const TileSearch& a, const TileSearch& b) { return a.above() < b.above(); });
  int64_t looked_at = 0;
  for (const TileSearch& one : searches) looked_at += one.looked_at;
  const std::string begin = fmt::format(
      "  tiles: {} looked at ({})", grouped(static_cast<uint64_t>(looked_at)), searches[0].search);
  if (searches[0].search != "exhaustive") return begin + "\n";
  if (worst->above() < 5e-4) return begin + ", each kernel's is the cheapest by its cost\n";
  return fmt::format("{}, proven to cost at most {:.1f}% more than the cheapest ('{}')\n", begin,
                     100 * worst->above(), worst->kernel);
}

}  // namespace

std::string summary(const SimulationReport& report) {
  std::string out;
  for (const ReportedPart& part : report.parts) {
    const PartSimulation& run = part.run;
    const Machine& machine = run.machine;
    const uint64_t least = least_ticks(machine, run.lowered);
    const double seconds = machine.seconds(run.ticks());
    const uint64_t cycles = machine.cycles(run.ticks());
    out += fmt::format("{}: {} cycles, {} on {} ({})\n", part.name, grouped(cycles),
                       time_text(seconds), machine.model().name, report.fidelity);
    const bool is_main = &part == &report.parts.back();
    if (is_main && !report.machine_bounds.empty())
      out += bound_line("any mapping needs", std::ceil(report.machine_bounds[0].cycles), cycles,
                        report.machine_bounds[0].what);
    out += bound_line("this one needs", static_cast<double>(machine.cycles(least)), cycles,
                      "its tasks in any order");
    if (is_main) out += searches_line(report.searches);
    if (!run.times.empty()) {
      kernels(part, out);
      units(part, out);
    }
    global_operands(run, out);
    const Energy energy = energy_of(part);
    out += fmt::format("  energy {}: operations {}, memories {}, moving {}, leakage {}",
                       energy_text(energy.total()), energy_text(energy.operations),
                       energy_text(energy.memories), energy_text(energy.moving),
                       energy_text(energy.leakage));
    if (seconds > 0) out += fmt::format("; {:.4g} mW on average", energy.total() / seconds / 1e9);
    if (const double peak = peak_milliwatts(part); peak > 0)
      out += fmt::format(", {:.4g} mW at most over a microsecond", peak);
    out += "\n";
    for (const auto& [name, count] : run.lowered.unpriced)
      out += fmt::format("  the model has no energy of {}: {:.0f} operations are not counted\n",
                         name, count);
  }
  return out;
}

}  // namespace stria::sim
