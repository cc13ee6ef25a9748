// SPDX-License-Identifier: Apache-2.0
// What several devices share: convolutions of a batch, and products with many rows.
#pragma once

#include <string>
#include <vector>

#include "stria/runtime/compile_options.h"

namespace stria::bench {

struct SeveralProgram {
  std::string name;
  std::string text;  // Tile
  InputTypes inputs;
};

// Of sizes for accelerators; `small`: for processors.
std::vector<SeveralProgram> several_programs(bool small);

}  // namespace stria::bench
