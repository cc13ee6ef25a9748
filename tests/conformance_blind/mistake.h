// SPDX-License-Identifier: Apache-2.0
// Which mistake this plugin makes: the one that the file `mistake` beside the shared object names.
// Without the file it makes none.
#pragma once

#include <cstdint>

namespace stria::blind {

enum class Mistake : uint8_t {
  none,
  unknown,  // the file is there, and its name is not in the list
#define STRIA_BLIND_MISTAKE(name) name,
#include "mistakes.def"
#undef STRIA_BLIND_MISTAKE
};

// The same as long as the shared object is loaded. Never throws.
Mistake chosen_mistake() noexcept;

inline bool makes(Mistake mistake) noexcept { return chosen_mistake() == mistake; }

}  // namespace stria::blind
