// SPDX-License-Identifier: Apache-2.0
#include "stria/calibrate/measured_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "stria/cost/kernel/section_nests.h"
#include "stria/runtime/executable.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/program.h"
#include "stria/runtime/tensor.h"
#include "stria/type/host_tensor.h"
#include "stria/type/scalar.h"

namespace stria::calibrate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTurns = 2, kMostTurns = 4;
constexpr int kFewestRuns = 3, kMostRuns = 200;
constexpr double kShortestTold = 5e-6;  // shorter ones vary by the clock alone

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// That of the quickest of each ten runs: what else a machine does makes times longer only.
double quick(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 10);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// A program that is ready to run.
struct Loaded {
  std::string name;
  Executable executable;
  std::vector<Tensor> inputs, outputs;
  std::vector<size_t> kernels;  // in `Measurements`, by launch
};

// Small integers for integers, numbers around 1 for floats: no overflow, no subnormals.
Status fill(const Tensor& tensor, const TensorInfo& info, unsigned seed) {
  STRIA_ASSIGN(HostTensor values, HostTensor::create(info.type, info.sizes, info.name));
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> real(0.5, 1.5);
  std::uniform_int_distribution<int64_t> whole(0, 7);
  for (int64_t i = 0; i < values.element_count(); ++i)
    store_scalar(info.type, values.data(), i,
                 is_float(info.type) ? Scalar::of_float(info.type, real(random))
                                     : Scalar::of_int(info.type, whole(random)));
  return tensor.write(values.bytes());
}

class Meter {
 public:
  Meter(const Device& device, double seconds, const Progress& progress)
      : device_(device), seconds_(seconds), progress_(progress) {}

  Result<Measurements> run(const std::vector<CalibrationProgram>& programs, bool anyway) {
    // Programs are compiled one by one, but run in turns: so a device that warms up shows.
    for (size_t i = 0; i < programs.size(); ++i) {
      tell("compiling " + programs[i].name, 0.3 * share(i, programs.size()));
      const Status loaded = load(programs[i]);
      if (!loaded.ok()) out_.left_out.push_back(programs[i].name + ": " + loaded.message());
    }
    times_.resize(out_.kernels.size());
    const double each =
        seconds_ * 0.7 / kTurns / static_cast<double>(std::max<size_t>(1, loaded_.size()));
    for (int turn = 0; turn < kMostTurns; ++turn) {
      const bool all = turn < kTurns;
      for (size_t i = 0; i < loaded_.size(); ++i) {
        if (!all && steady(loaded_[i])) continue;
        tell("timing " + loaded_[i].name,
             0.3 + 0.7 * share(i + loaded_.size() * static_cast<size_t>(turn),
                               loaded_.size() * kMostTurns));
        STRIA_RETURN_IF_ERROR(time(loaded_[i], each));
      }
    }
    size_t unsteady = 0, told = 0;
    std::string worst;
    double widest = 1;
    for (size_t k = 0; k < out_.kernels.size(); ++k) {
      std::vector<double> sorted = times_[k];
      std::sort(sorted.begin(), sorted.end());
      out_.kernels[k].seconds = sorted.front();
      if (sorted.front() < kShortestTold) continue;
      ++told;
      const double apart = sorted[1] / sorted[0];
      unsteady += apart > kSameTime;
      if (apart > widest) {
        widest = apart;
        worst = out_.kernels[k].name;
      }
    }
    if (told > 0 && static_cast<double>(unsteady) > kMostUnsteady * static_cast<double>(told))
      out_.unsteady = fmt::format(
          "the device is busy, or its clock changes: {} of {} kernels took different times each "
          "time, '{}' {:.2f} times as long",
          unsteady, told, worst, widest);
    if (!out_.unsteady.empty() && !anyway)
      return make_error(StatusCode::unavailable, "{}; calibrate when nothing else runs",
                        out_.unsteady);
    return std::move(out_);
  }

 private:
  static double share(size_t done, size_t all) {
    return static_cast<double>(done) / static_cast<double>(std::max<size_t>(1, all));
  }
  void tell(const std::string& what, double part) const {
    if (progress_) progress_(what, part);
  }

  Status load(const CalibrationProgram& from) {
    STRIA_ASSIGN(const Program program, Program::from_tile({from.name, from.text}));
    CompileOptions options;
    options.watch_kernels = true;
    STRIA_ASSIGN(Executable executable, device_.compile(program, from.inputs, options));
    Loaded loaded{from.name, executable, {}, {}, {}};
    unsigned seed = 1;
    for (const TensorInfo& info : executable.inputs()) {
      STRIA_ASSIGN(Tensor tensor, device_.create_tensor(info));
      STRIA_RETURN_IF_ERROR(fill(tensor, info, seed++));
      loaded.inputs.push_back(std::move(tensor));
    }
    for (const TensorInfo& info : executable.outputs()) {
      STRIA_ASSIGN(Tensor tensor, device_.create_tensor(info));
      loaded.outputs.push_back(std::move(tensor));
    }
    // The first run says which kernels there are, and touches memory for the first time.
    STRIA_ASSIGN(const Event event, loaded.executable.run(loaded.inputs, loaded.outputs));
    STRIA_RETURN_IF_ERROR(event.wait());
    STRIA_ASSIGN(const std::vector<KernelTime> times, event.kernel_times());
    const std::vector<cost::SectionNest> nests = cost::section_nests(
        *Inside::compilation(executable).device.main(), Inside::model(device_), true);
    for (const KernelTime& time : times) {
      if (!time.interpreted.empty())
        return make_error(StatusCode::unsupported, "the plugin leaves {} to the interpreter",
                          time.name);
      size_t number = out_.kernels.size();
      for (const cost::SectionNest& each : nests)
        if (each.kernel->name == time.name) {
          out_.kernels.push_back({from.name + ": " + time.name, each.nest, 0});
          break;
        }
      loaded.kernels.push_back(number < out_.kernels.size() ? number : kNoKernel);
    }
    loaded_.push_back(std::move(loaded));
    return {};
  }

  Status time(const Loaded& loaded, double seconds) {
    std::vector<std::vector<double>> runs(loaded.kernels.size());
    const Clock::time_point begin = Clock::now();
    for (int run = 0; run < kMostRuns; ++run) {
      if (run >= kFewestRuns && seconds_since(begin) > seconds) break;
      STRIA_ASSIGN(const Event event, loaded.executable.run(loaded.inputs, loaded.outputs));
      STRIA_RETURN_IF_ERROR(event.wait());
      STRIA_ASSIGN(const std::vector<KernelTime> times, event.kernel_times());
      for (size_t k = 0; k < times.size() && k < runs.size(); ++k) {
        if (times[k].nanoseconds == 0)
          return make_error(StatusCode::failed_precondition,
                            "{} does not know how long its kernels take", device_.name());
        runs[k].push_back(static_cast<double>(times[k].nanoseconds) * 1e-9);
      }
    }
    for (size_t k = 0; k < runs.size(); ++k)
      if (loaded.kernels[k] != kNoKernel) times_[loaded.kernels[k]].push_back(quick(runs[k]));
    return {};
  }

  // Are two of the times of each of its kernels nearly the same?
  bool steady(const Loaded& loaded) const {
    return std::all_of(loaded.kernels.begin(), loaded.kernels.end(), [&](size_t k) {
      if (k == kNoKernel) return true;
      std::vector<double> sorted = times_[k];
      std::sort(sorted.begin(), sorted.end());
      return sorted[0] < kShortestTold || sorted[1] <= sorted[0] * kSameTime;
    });
  }

  static constexpr size_t kNoKernel = static_cast<size_t>(-1);
  const Device& device_;
  const double seconds_;
  const Progress& progress_;
  Measurements out_;
  std::vector<Loaded> loaded_;
  std::vector<std::vector<double>> times_;  // by kernel: the median of each turn
};

}  // namespace

Result<Measurements> measure_kernels(const Device& device,
                                     const std::vector<CalibrationProgram>& programs,
                                     double seconds, bool anyway, const Progress& progress) {
  return Meter(device, seconds, progress).run(programs, anyway);
}

}  // namespace stria::calibrate
