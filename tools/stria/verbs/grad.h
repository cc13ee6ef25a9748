// SPDX-License-Identifier: Apache-2.0
// `stria grad`: writes the derivative of a Tile program.
#pragma once

#include <string>
#include <vector>

#include "failure.h"
#include "inputs/program_inputs.h"

namespace stria::command {

struct GradOptions {
  std::string file;
  InputTexts in;
  std::vector<std::string> wrt;
  std::string function;
  std::string of;
  std::string name;
  bool keep_results = false;
};
Outcome grad(const GradOptions& options);

}  // namespace stria::command
