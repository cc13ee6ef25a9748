// SPDX-License-Identifier: Apache-2.0
// The programs of the pick bench: products, convolutions, memory-bound programs and small networks,
// each in sizes from where a launch is all to where it does not matter.
#pragma once

#include <string>
#include <vector>

#include "stria/runtime/compile_options.h"

namespace stria::bench {

struct PickProgram {
  std::string name;
  std::string text;  // Tile
  InputTypes inputs;
};

std::vector<PickProgram> pick_programs();

}  // namespace stria::bench
