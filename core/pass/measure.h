// SPDX-License-Identifier: Apache-2.0
// Times of blocks on a device, for passes that let one decide among candidates, and how they are
// kept between processes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria {

// Filled by who runs a pipeline for a device.
struct Measure {
  // Nanoseconds of one run of `program`: one kernel and its tensors, as the pass would leave it.
  std::function<Result<double>(const stripe::Program& program)> time;
  std::string device;            // what times depend on besides the model: its name and version
  std::string rest;              // what else is done with the program before it runs
  std::filesystem::path folder;  // where times are kept; "" = nowhere. Made if need be
};

// The time kept for this device, model, program and rest, or else measured and kept. An entry
// that is missing, damaged or of something else counts as none; one that cannot be written is not
// kept, and the time is used all the same.
struct MeasuredTime {
  double ns = 0;
  bool kept = false;  // by an earlier measurement
};
Result<MeasuredTime> measured_time(const Measure& measure, const HardwareModel& model,
                                   const stripe::Program& program);

}  // namespace stria
