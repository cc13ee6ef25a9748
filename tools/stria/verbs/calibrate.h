// SPDX-License-Identifier: Apache-2.0
// `stria calibrate`: measures a device, and writes the numbers of its hardware model that predict
// what it took.
#pragma once

#include <string>

#include "failure.h"

namespace stria::command {

// As spelled on the command line.
struct CalibrateCommand {
  std::string device;
  std::string output;   // empty: a file for this device in the user's folder; "-": stdout
  bool tiles = false;   // also what tiles are chosen by
  bool rates = false;   // also rates that were measured already
  int seconds = 90;     // of running
  bool anyway = false;  // also if times vary
  bool all_kernels = false;
};
Outcome calibrate(const CalibrateCommand& options);

}  // namespace stria::command
