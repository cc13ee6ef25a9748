// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/kernel/kernel_time.h"

#include <fmt/core.h>

#include <algorithm>

namespace stria::cost {
namespace {

bool runs_groups(const ExecutionUnit& unit) {
  return unit.max_threads > 0 && unit.vector_registers == 0 && unit.ops_per_cycle > 0;
}

// The unit that the kernel's outermost loops are on; else the model's first one that could run it.
// Where units run groups of lanes, a kernel of lanes alone runs in groups, too.
const ExecutionUnit* unit_of(const KernelNest& nest, const HardwareModel& model) {
  for (const ExecutionUnit& unit : model.executors)
    if (runs_groups(unit)) return &unit;
  for (const NestLoop& loop : nest.loops)
    if (const ExecutionUnit* unit = loop.unit.empty() ? nullptr : model.find_executor(loop.unit))
      return unit;
  for (const ExecutionUnit& unit : model.executors)
    if (unit.ops_per_cycle > 0 || !unit.rates.empty()) return &unit;
  return nullptr;
}

}  // namespace

std::optional<PredictedTime> kernel_time(const KernelNest& nest, const HardwareModel& model) {
  const ExecutionUnit* unit = unit_of(nest, model);
  if (!unit || model.clock_mhz <= 0) return std::nullopt;
  const bool groups = runs_groups(*unit);
  if (!groups && (unit->vector_registers <= 0 || unit->vector_bytes <= 0)) return std::nullopt;
  const KernelCycles of =
      groups ? group_cycles(nest, model, *unit) : core_cycles(nest, model, *unit);
  const double seconds_of_cycle = 1e-6 / model.clock_mhz;
  PredictedTime out;
  double longest = 0, all = 0;
  for (const KernelCycles::Term& term : of.terms) {
    longest = std::max(longest, term.cycles);
    all += term.cycles;
    out.terms.push_back({term.name, term.cycles * seconds_of_cycle});
  }
  const double cycles = longest + of.shown_part * (all - longest) + of.beside;
  out.launch_seconds = model.launch_us * 1e-6;
  out.seconds = cycles * seconds_of_cycle + out.launch_seconds;
  out.least_seconds = out.seconds / of.spread_factor;
  out.most_seconds = out.seconds * of.spread_factor;
  std::stable_sort(out.terms.begin(), out.terms.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return out;
}

std::string to_string(const PredictedTime& time) {
  const auto us = [](double seconds) { return seconds * 1e6; };
  std::string out = fmt::format("{:.1f} us ({:.1f} .. {:.1f}):", us(time.seconds),
                                us(time.least_seconds), us(time.most_seconds));
  for (const PredictedTime::Term& term : time.terms)
    if (us(term.seconds) >= 0.05) out += fmt::format(" {} {:.1f},", term.name, us(term.seconds));
  return out + fmt::format(" launch {:.1f}", us(time.launch_seconds));
}

}  // namespace stria::cost
