// SPDX-License-Identifier: Apache-2.0
// Kernels of the calibration's programs, with the times that the device takes for them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/calibrate/calibration_set.h"
#include "stria/cost/kernel/kernel_nest.h"
#include "stria/runtime/device.h"

namespace stria::calibrate {

// Two times of one thing on a quiet machine differ by less than this factor; of all things so many
// may differ by more.
inline constexpr double kSameTime = 1.1, kMostUnsteady = 0.2;

struct MeasuredKernel {
  std::string name;  // "softmax: kernel_0"
  cost::KernelNest nest;
  double seconds = 0;  // of the quickest of each ten runs
};

struct Measurements {
  std::vector<MeasuredKernel> kernels;
  // Programs that the device cannot compile or run, each with the reason.
  std::vector<std::string> left_out;
  std::string unsteady;  // how much times vary; "": little enough
};

using Progress = std::function<void(std::string_view what, double part)>;

// Compiles and runs each program on random inputs, for about `seconds` together. Each is timed
// twice, with the others in between. Kernels whose two times differ by more than a tenth are timed
// again. If a fifth of them still differ, the device is busy, or its clock changes: unavailable,
// unless `anyway`.
// failed_precondition if the device knows no times of kernels.
Result<Measurements> measure_kernels(const Device& device,
                                     const std::vector<CalibrationProgram>& programs,
                                     double seconds, bool anyway, const Progress& progress);

}  // namespace stria::calibrate
