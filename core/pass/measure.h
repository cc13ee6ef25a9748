// SPDX-License-Identifier: Apache-2.0
// Times of blocks on a device, for passes that choose among candidates by measurement; and how
// times are kept between processes.
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

// Whoever runs a pipeline for a device fills it in.
struct Measure {
  using Programs = std::vector<stripe::Program>;
  using OneTime = std::function<Result<double>(const stripe::Program& program)>;
  // Nanoseconds of one run of each program, in their order. The programs are candidates for one
  // kernel, each with its tensors, as the pass would leave it. Candidates to be compared come in
  // one call, so that they can be built at once and timed in turns.
  std::function<std::vector<Result<double>>(const Programs& programs)> times;
  std::string device;            // name and version: times depend on it, besides the model
  std::string rest;              // what else happens to the program before it runs
  std::filesystem::path folder;  // where times are kept; "" = nowhere. Made if need be
  // If set: autotile tells it what all candidates cost by the model, in their order, before any is
  // timed; those whose time is kept, too.
  std::function<void(const std::vector<double>& costs)> costs;
};

// Makes `times` of a function that times one program at a time.
std::function<std::vector<Result<double>>(const Measure::Programs&)> one_by_one(
    Measure::OneTime time);

// For each program, the time that was kept for this device, model, program and rest; otherwise it
// is measured and kept. An entry that is missing, damaged or for something else counts as none. If
// an entry cannot be written, the time is used all the same.
struct MeasuredTime {
  double ns = 0;
  bool kept = false;  // by an earlier measurement
};
std::vector<Result<MeasuredTime>> measured_times(const Measure& measure, const HardwareModel& model,
                                                 const Measure::Programs& programs);

}  // namespace stria
