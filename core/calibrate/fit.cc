// SPDX-License-Identifier: Apache-2.0
#include "stria/calibrate/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "stria/cost/kernel/kernel_time.h"
#include "stria/hwmodel/waited_memory.h"

namespace stria::calibrate {
namespace {

constexpr double kNear = 1.3;
constexpr double kUnknown = 4;  // as if a kernel without a prediction were off by e^4
constexpr double kStay = 0.01;  // of each number that leaves where it was, times its log
constexpr int kRounds = 30;
// Kernels of which most is their start say little, and there are many.
constexpr double kShort = 20e-6, kShortWeight = 0.3;
constexpr double kFirstStep = 2, kLastStep = 1.005;

double log_error(const HardwareModel& model, const MeasuredKernel& kernel) {
  const auto time = cost::kernel_time(kernel.nest, model);
  return time && time->seconds > 0 ? std::log(time->seconds / kernel.seconds) : kUnknown;
}

// The unit on which most of the kernels' time is spent.
std::string unit_of(const HardwareModel& model, const std::vector<MeasuredKernel>& kernels) {
  std::map<std::string, double> seconds;
  for (const MeasuredKernel& kernel : kernels)
    for (const cost::NestLoop& loop : kernel.nest.loops)
      if (model.find_executor(loop.unit) && loop.parallel) {
        seconds[loop.unit] += kernel.seconds;
        break;
      }
  const auto most = std::max_element(seconds.begin(), seconds.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  if (most != seconds.end()) return most->first;
  for (const ExecutionUnit& unit : model.executors)
    if (unit.ops_per_cycle > 0 || !unit.rates.empty()) return unit.name;
  return "";
}

size_t position_of(const HardwareModel& model, const std::string& unit) {
  size_t at = 0;
  while (at < model.executors.size() && model.executors[at].name != unit) ++at;
  return at;
}

bool is_estimate(const HardwareModel& model, const std::string& pointer) {
  const auto origin = model.origins().find(pointer);
  return origin == model.origins().end() || origin->second.defaulted ||
         origin->second.source.compare(0, 8, "estimate") == 0 ||
         origin->second.source.compare(0, 6, "fitted") == 0;
}

// Facts of the calibration of the unit at that position, whose JSON pointer is `at`.
void add_facts(const std::string& at, size_t unit, std::initializer_list<const char*> names,
               std::vector<FittedNumber>& out) {
  for (const CalibrationFact& fact : calibration_facts())
    for (const char* wanted : names)
      if (std::strcmp(fact.name, wanted) == 0)
        out.push_back({at + "/calibration/" + fact.name, fact.lowest, fact.highest, fact.whole,
                       [unit, in = fact.in](HardwareModel& of) -> double& {
                         return in(of.executors[unit].calibration);
                       }});
}

}  // namespace

std::vector<FittedNumber> tile_numbers(const HardwareModel& model,
                                       const std::vector<MeasuredKernel>& kernels) {
  std::vector<FittedNumber> out;
  const std::string name = unit_of(model, kernels);
  const size_t unit = position_of(model, name);
  if (unit == model.executors.size() || model.executors[unit].vector_registers == 0) return out;
  add_facts(
      "/exec_units/" + name, unit,
      {"load_factor", "multiply_factor", "latency_power", "run_lines", "tile_cycles", "load_cycles",
       "loop_cycles", "hidden_part", "edge_factor", "mask_factor", "filled_part", "lane_sum_cycles",
       "update_cycles", "panel_vector_cycles", "panel_traffic"},
      out);
  return out;
}

std::vector<FittedNumber> numbers_to_fit(const HardwareModel& model,
                                         const std::vector<MeasuredKernel>& kernels, bool rates) {
  std::vector<FittedNumber> out;
  const std::string name = unit_of(model, kernels);
  const size_t unit = position_of(model, name);
  if (unit == model.executors.size()) return out;
  const bool groups = model.executors[unit].vector_registers == 0;
  const std::string at = "/exec_units/" + name;
  const auto facts = [&](std::initializer_list<const char*> names) {
    add_facts(at, unit, names, out);
  };
  if (groups)
    facts(
        {"group_access_factor", "group_function_factor", "group_wait_factor", "group_shown_part"});
  else
    facts({"kernel_access_factor", "kernel_function_factor", "kernel_loop_cycles",
           "kernel_store_factor", "kernel_shown_part", "kernel_part_cycles", "kernel_core_cycles",
           "kernel_run_lines", "kernel_busy_factor", "next_memory_part"});
  out.push_back(
      {"/launch_us", 0.01, 1e5, false, [](HardwareModel& of) -> double& { return of.launch_us; }});
  const auto rate = [&](const std::string& pointer, std::function<double&(HardwareModel&)> in) {
    if (rates || is_estimate(model, pointer)) out.push_back({pointer, 1e-3, 1e9, false, in});
  };
  if (groups) {
    // What a unit computes at best is known of most machines, and tiles are chosen by it.
    if (rates)
      rate(at + "/ops_per_cycle",
           [unit](HardwareModel& of) -> double& { return of.executors[unit].ops_per_cycle; });
    // By the rate of the memory for which units wait tiles are chosen, too.
    const MemoryUnit* waited = waited_memory(model);
    for (size_t m = 0; m < model.memories.size(); ++m)
      if (model.memories[m].read_bytes_per_cycle > 0 && (rates || &model.memories[m] != waited))
        rate("/mem_units/" + model.memories[m].name + "/read_bytes_per_cycle",
             [m](HardwareModel& of) -> double& { return of.memories[m].read_bytes_per_cycle; });
    return out;
  }
  for (const auto& [type, of_type] : model.executors[unit].rates) {
    const std::string place = at + "/rates/" + std::string(name_of(type));
    rate(place + "/ops_per_cycle", [unit, type = type](HardwareModel& of) -> double& {
      return of.executors[unit].rates[type].ops_per_cycle;
    });
    for (const auto& [memory, bytes] : of_type.read_bytes_per_cycle)
      rate(place + "/read_bytes_per_cycle/" + memory,
           [unit, type = type, memory = memory](HardwareModel& of) -> double& {
             return of.executors[unit].rates[type].read_bytes_per_cycle[memory];
           });
  }
  return out;
}

FitError error_of(const HardwareModel& model, const std::vector<MeasuredKernel>& kernels) {
  FitError out;
  std::vector<double> errors;
  for (const MeasuredKernel& kernel : kernels) errors.push_back(std::abs(log_error(model, kernel)));
  if (errors.empty()) return out;
  std::sort(errors.begin(), errors.end());
  out.median_factor = std::exp(errors[errors.size() / 2]);
  out.spread = std::exp(errors[errors.size() * 9 / 10]);
  out.within = static_cast<double>(std::count_if(errors.begin(), errors.end(),
                                                 [](double e) { return e <= std::log(kNear); })) /
               static_cast<double>(errors.size());
  return out;
}

void fit(HardwareModel& model, const std::vector<FittedNumber>& numbers,
         const std::vector<MeasuredKernel>& kernels) {
  descend(model, numbers, kRounds, [&] {
    double out = 0;
    const double near = std::log(kNear);
    for (const MeasuredKernel& kernel : kernels) {
      const double error = std::abs(log_error(model, kernel));
      const double weight = kernel.seconds < kShort ? kShortWeight : 1;
      out += weight * (error < near ? error * error / near : 2 * error - near);
    }
    return out;
  });
}

void descend(HardwareModel& model, const std::vector<FittedNumber>& numbers, int rounds,
             const std::function<double()>& error) {
  std::vector<double> before;
  for (const FittedNumber& number : numbers) before.push_back(number.in(model));
  const auto loss = [&] {
    double out = error();
    for (size_t n = 0; n < numbers.size(); ++n) {
      const double now = numbers[n].in(model);
      if (now > 0 && before[n] > 0) out += kStay * std::abs(std::log(now / before[n]));
    }
    return out;
  };
  double best = loss();
  double step = kFirstStep;
  for (int round = 0; round < rounds && step > kLastStep; ++round) {
    bool better = false;
    for (const FittedNumber& number : numbers) {
      double& value = number.in(model);
      for (const double factor : {step, 1 / step}) {
        const double old = value;
        double next = std::clamp(old * factor, number.lowest, number.highest);
        if (number.whole) next = std::round(next);
        if (next == old) continue;
        value = next;
        const double now = loss();
        if (now < best) {
          best = now;
          better = true;
          break;
        }
        value = old;
      }
    }
    if (!better) step = std::sqrt(step);
  }
}

}  // namespace stria::calibrate
