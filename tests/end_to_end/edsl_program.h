// SPDX-License-Identifier: Apache-2.0
// Programs of programs/ written in C++ (core/edsl): each must print as its file does, without the
// file's comments, and give a device the same work.
#pragma once

#include <vector>

#include "stria/base/result.h"
#include "stria/runtime/program.h"

namespace stria::end_to_end {

struct EdslProgram {
  const char* program;  // programs/<program>.tile
  Result<Program> (*make)();
};

// One list per file.
std::vector<EdslProgram> edsl_contractions();
std::vector<EdslProgram> edsl_networks();
std::vector<EdslProgram> edsl_language();

}  // namespace stria::end_to_end
