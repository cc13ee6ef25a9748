// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/device_picker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "stria/base/text.h"
#include "stria/cost/program/program_time.h"
#include "stria/exec/plan.h"
#include "stria/hal/experimental.h"
#include "stria/runtime/candidate_timer.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/host/host_functions.h"
#include "stria/runtime/inside.h"

namespace stria {
namespace {

// "operations 10.1, L2 from DRAM 3.2, launch 0.1", in microseconds; terms that round to 0 are left
// out.
std::string terms_of(const cost::PredictedTime& time) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& name, double seconds) {
    if (seconds * 1e6 >= 0.05) out.push_back(fmt::format("{} {:.1f}", name, seconds * 1e6));
  };
  for (const cost::PredictedTime::Term& term : time.terms) add(term.name, term.seconds);
  add("launch", time.launch_seconds);
  return join(out, ", ");
}

std::vector<Prediction::Kernel> kernels_of(const cost::ProgramTime& times) {
  std::vector<Prediction::Kernel> out;
  for (const cost::ProgramTime::Kernel& from : times.kernels) {
    Prediction::Kernel& to = out.emplace_back();
    to.name = from.name;
    to.prologue = from.prologue;
    if (!from.time) continue;
    to.time = {from.time->seconds, from.time->least_seconds, from.time->most_seconds};
    to.terms = terms_of(*from.time);
  }
  return out;
}

// Device memory that a run has at once: tensors of the caller, what the prologue made, temporaries.
// 0 if the program has no plan.
uint64_t peak_bytes_of(const Compilation& compilation) {
  const auto kernels = interpret_for_plugin(compilation.device_text);
  if (!kernels.ok()) return 0;
  const Result<exec::Plan> plan = exec::make_plan(compilation.device, (*kernels)->kernels());
  if (!plan.ok()) return 0;
  uint64_t bytes = plan->derived_bytes + plan->main.arena_bytes;
  for (const exec::PlannedTensor& tensor : plan->tensors)
    if (tensor.role == exec::TensorRole::input || tensor.role == exec::TensorRole::output)
      bytes += tensor.bytes;
  return bytes;
}

std::optional<Prediction> by_plugin(const Device& device, const Compilation& compilation) {
  const Result<hal::Estimate> said =
      hal::estimate(Inside::hal_device(device), compilation.device_text);
  if (!said.ok() || said->time_ns == 0) return std::nullopt;
  const auto seconds = [](uint64_t ns) { return static_cast<double>(ns) * 1e-9; };
  Prediction out;
  out.by = PredictedBy::plugin;
  out.run = {seconds(said->time_ns), seconds(said->low_time_ns), seconds(said->high_time_ns)};
  // 0 is "not known", and an interval holds what it is an interval of.
  if (said->low_time_ns == 0) out.run.least = out.run.seconds;
  out.run.least = std::min(out.run.least, out.run.seconds);
  out.run.most = std::max(out.run.most, out.run.seconds);
  const double prologue = seconds(said->prologue_ns);
  out.prologue = {prologue, prologue, prologue};
  out.build_s = seconds(said->build_ns);
  out.energy_j = static_cast<double>(said->energy_pj) * 1e-12;
  return out;
}

}  // namespace

std::optional<Prediction> DevicePicker::by_bounds(const Compilation& generic,
                                                  const HardwareModel& model) {
  const std::optional<TimeRange> run = cost::program_bound(generic.generic, model);
  if (!run) return std::nullopt;
  Prediction out;
  out.run = *run;
  return out;
}

Result<Prediction> DevicePicker::measured(const Device& device, const Compilation& generic,
                                          const CompileOptions& options, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kFewest = 3, kMost = 1000;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  STRIA_ASSIGN(const Compilation compilation, CompileDriver::specialize(device, generic, options));
  // Its pipeline has no steps left.
  const Pipeline none;
  CandidateTimer timer(device, none, options);
  STRIA_ASSIGN(const ReadyCandidate ready, timer.ready(compilation.device));
  STRIA_RETURN_IF_ERROR(ready.run(1).status());  // warms up
  std::vector<double> runs;
  const Clock::time_point begin = Clock::now();
  while (runs.size() < kFewest || (runs.size() < kMost && since(begin) < seconds)) {
    const Clock::time_point start = Clock::now();
    STRIA_RETURN_IF_ERROR(ready.run(1).status());
    runs.push_back(since(start));
  }
  std::sort(runs.begin(), runs.end());
  Prediction out;
  out.by = PredictedBy::measured;
  out.run = {runs[runs.size() / 2], runs[runs.size() / 20],
             runs[runs.size() - 1 - runs.size() / 20]};
  return out;
}

Result<std::vector<Prediction>> DevicePicker::of_device(const Device& device,
                                                        const Compilation& generic,
                                                        const CompileOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  STRIA_ASSIGN(const Compilation compilation, CompileDriver::specialize(device, generic, options));
  const std::chrono::duration<double> passes = std::chrono::steady_clock::now() - begin;
  const HardwareModel& model = Inside::model(device);
  const cost::ProgramTime times = cost::program_time(compilation.device, model);
  const uint64_t peak_bytes = peak_bytes_of(compilation);
  std::vector<Prediction> out;
  if (times.main.seconds > 0) {
    Prediction& prediction = out.emplace_back();
    prediction.by = PredictedBy::model;
    prediction.run = times.main;
    prediction.prologue = times.prologue;
    prediction.kernels = kernels_of(times);
    prediction.unknown_kernels = times.unknown;
  }
  if (std::optional<Prediction> said = by_plugin(device, compilation))
    out.push_back(*std::move(said));
  for (Prediction& prediction : out) {
    prediction.peak_bytes = peak_bytes;
    const double builds = model.build_ms * 1e-3 * static_cast<double>(times.kernels.size());
    if (prediction.build_s <= 0 && builds > 0) prediction.build_s = passes.count() + builds;
  }
  return out;
}

}  // namespace stria
