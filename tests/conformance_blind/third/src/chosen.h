// SPDX-License-Identifier: Apache-2.0
// The mistake that the file `mistake` beside the shared object names.
#pragma once

#include <cstdint>

namespace third_chip {

enum class Mistake : uint8_t {
  none,
#define STRIA_THIRD(name) name,
#include "mistakes.def"
#undef STRIA_THIRD
};

// none if there is no such file, or it names no mistake.
Mistake chosen_mistake();

inline bool makes(Mistake mistake) { return chosen_mistake() == mistake; }

}  // namespace third_chip
