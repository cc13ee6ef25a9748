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
  // Nanoseconds of one run of `block`, a candidate of the pass for a statement of the program.
  std::function<Result<double>(const stripe::Block& block)> time;
  std::string device;            // what times depend on besides the model: its name and version
  std::filesystem::path folder;  // where times are kept; "" = nowhere. Made if need be
};

// What a time is kept under.
struct MeasuredThing {
  std::string block;      // Stripe, before the pass
  std::string candidate;  // what the pass would do with it
};

// The time kept for this device, model, block and candidate, or else measured and kept. An entry
// that is missing, damaged or of something else counts as none; one that cannot be written is not
// kept, and the time is used all the same.
Result<double> measured_ns(const Measure& measure, const HardwareModel& model,
                           const MeasuredThing& thing, const stripe::Block& candidate);

}  // namespace stria
