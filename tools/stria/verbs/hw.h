// SPDX-License-Identifier: Apache-2.0
// `stria hw`: prints a hardware model as passes, cost model and simulator see it, and where each of
// its fields is from.
#pragma once

#include <string>
#include <vector>

#include "failure.h"

namespace stria::command {

// As spelled on the command line; empty texts mean "not given". A model, a device, or both.
struct HwOptions {
  std::string model;
  std::string device;
  std::vector<std::string> settings;  // NAME=VALUE
  bool json = false;
  bool calibration = false;
  bool require_sources = false;
};
Outcome hw(const HwOptions& options);

}  // namespace stria::command
