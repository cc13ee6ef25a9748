// SPDX-License-Identifier: Apache-2.0
// Times of blocks on a device, for passes that let one decide among candidates, and how they are
// kept between processes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria {

// Filled by who runs a pipeline for a device.
struct Measure {
  using Programs = std::vector<stripe::Program>;
  using OneTime = std::function<Result<double>(const stripe::Program& program)>;
  // Nanoseconds of one run of each program, in their order: candidates for one kernel, each with
  // its tensors, as the pass would leave it. Those that are to be compared come together, so that
  // they can be built at once and timed in turns.
  std::function<std::vector<Result<double>>(const Programs& programs)> times;
  std::string device;            // what times depend on besides the model: its name and version
  std::string rest;              // what else is done with the program before it runs
  std::filesystem::path folder;  // where times are kept; "" = nowhere. Made if need be
};

// `times` of what times one program by itself.
std::function<std::vector<Result<double>>(const Measure::Programs&)> one_by_one(
    Measure::OneTime time);

// For each program the time kept for this device, model, program and rest, or else measured and
// kept. An entry that is missing, damaged or of something else counts as none; one that cannot be
// written is not kept, and the time is used all the same.
struct MeasuredTime {
  double ns = 0;
  bool kept = false;  // by an earlier measurement
};
std::vector<Result<MeasuredTime>> measured_times(const Measure& measure, const HardwareModel& model,
                                                 const Measure::Programs& programs);

}  // namespace stria
