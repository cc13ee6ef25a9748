// SPDX-License-Identifier: Apache-2.0
// Fits numbers of a hardware model to measured times of kernels.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stria/calibrate/measured_kernels.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::calibrate {

// A number of the model that may change.
struct FittedNumber {
  std::string pointer;  // in the model's JSON: "/exec_units/CORE/calibration/loop_cycles"
  double lowest = 0, highest = 0;
  bool whole = false;  // an integer
  std::function<double&(HardwareModel&)> in;
};

// What can be fitted by times of kernels on the unit that runs most of them: facts of whole kernels
// of the unit's calibration; launch_us; and rates, if the model's own are estimates or `rates` asks
// for all.
std::vector<FittedNumber> numbers_to_fit(const HardwareModel& model,
                                         const std::vector<MeasuredKernel>& kernels, bool rates);

// What can be fitted by the choice among tiles, of the same unit: facts of its calibration that its
// tile cost reads. None for units that run groups.
std::vector<FittedNumber> tile_numbers(const HardwareModel& model,
                                       const std::vector<MeasuredKernel>& kernels);

struct FitError {
  double median_factor = 1;  // by which predictions are too high or too low, in the middle
  double within = 0;         // part of the kernels that are predicted within 1.3
  double spread = 1;         // nine of ten are within this factor
};
FitError error_of(const HardwareModel& model, const std::vector<MeasuredKernel>& kernels);

// Changes the numbers of `model` so that `error`, which reads the model, and a little for each
// number that leaves where it was, become less. It goes along one number at a time, in steps that
// get smaller, so that it ends at the same place each time; after `rounds` over all numbers at the
// latest. Numbers to which nothing answers stay as they are.
void descend(HardwareModel& model, const std::vector<FittedNumber>& numbers, int rounds,
             const std::function<double()>& error);

// Descends so that predicted times come near measured ones: the sum over kernels of
// |log(predicted / measured)|, squared where it is below log 1.3, less for those below 20 us.
void fit(HardwareModel& model, const std::vector<FittedNumber>& numbers,
         const std::vector<MeasuredKernel>& kernels);

}  // namespace stria::calibrate
