// SPDX-License-Identifier: Apache-2.0
#include "timed_runs.h"

#include <algorithm>
#include <chrono>

namespace stria::command {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A profile repeats short runs up to this often, or until so much time has gone by.
constexpr int kMaxRuns = 20;
constexpr double kMaxSeconds = 1;

}  // namespace

Outcome run_executable(const Executable& executable, const std::vector<Tensor>& inputs,
                       const std::vector<Tensor>& outputs, Profile* profile) {
  std::vector<double> walls;
  std::vector<std::vector<KernelTime>> times;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point start = Clock::now();
    STRIA_OR_FAIL(Event run, ExitCode::device, executable.run(inputs, outputs));
    STRIA_FAIL_IF_ERROR(ExitCode::device, run.wait());
    walls.push_back(seconds_since(start));
    if (profile == nullptr) return Outcome();
    STRIA_OR_FAIL(std::vector<KernelTime> kernels, ExitCode::device, run.kernel_times());
    times.push_back(std::move(kernels));
  } while (static_cast<int>(walls.size()) <= kMaxRuns && seconds_since(begin) < kMaxSeconds);
  if (walls.size() > 1) {  // the first run touches memory for the first time
    walls.erase(walls.begin());
    times.erase(times.begin());
  }
  auto median = [](auto values) {
    auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  };
  profile->runs = static_cast<int>(walls.size());
  profile->wall_seconds = median(walls);
  profile->kernels = times[0];
  for (size_t k = 0; k < profile->kernels.size(); ++k) {
    std::vector<uint64_t> values;
    for (const auto& run : times) values.push_back(run[k].nanoseconds);
    // What one run does not know is not known of all.
    const bool known = std::find(values.begin(), values.end(), 0u) == values.end();
    profile->kernels[k].nanoseconds = known ? median(values) : 0;
  }
  return Outcome();
}

}  // namespace stria::command
