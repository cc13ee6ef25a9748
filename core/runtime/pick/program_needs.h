// SPDX-License-Identifier: Apache-2.0
// What a program needs of any device that is to run it, as far as its generic form tells.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/type/data_type.h"

namespace stria {

// Plain value.
struct ProgramNeeds {
  // Types of elements, each with the kernels (or nodes of an ONNX model) that need it, each once,
  // in the order of the program.
  std::map<DataType, std::vector<std::string>> types;
  // Of inputs, weights and outputs. They are there at once, so no device runs the program in less.
  uint64_t bytes = 0;
};

}  // namespace stria
