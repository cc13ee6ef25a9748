// SPDX-License-Identifier: Apache-2.0
// `stria show`: says what is in a program before it runs.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "inputs/program_inputs.h"

namespace stria::command {

struct ShowOptions {
  std::string program;
  InputTexts in;
  std::vector<std::string> devices;  // selectors; empty: every device, "none": none
  bool json = false;
};
Outcome show(const ShowOptions& options);

}  // namespace stria::command
