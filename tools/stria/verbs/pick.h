// SPDX-License-Identifier: Apache-2.0
// `stria pick`: which device a program had better run on, and why.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "inputs/program_inputs.h"

namespace stria::command {

struct PickVerb {
  std::string program;
  InputTexts in;
  std::string device;  // a selector
  std::vector<std::string> constants;
  std::vector<std::string> models;  // FILE or FILE=KIND
  double measure_ms = 0;            // for so long, where devices are close
  bool bounds = false;              // open no device
  bool kernels = false;             // a line for each kernel of the best one
  std::string why_not;              // a name or pattern of devices; empty: none is asked about
  std::string lock;                 // a file that gets the choice as a selector; empty: none
  bool json = false;
};
// ExitCode::device if no device is left.
Outcome pick(const PickVerb& options);

}  // namespace stria::command
