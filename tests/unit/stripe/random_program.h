// SPDX-License-Identifier: Apache-2.0
// Random Stripe programs that use every construct of the text. They are well formed as text (names
// are identifiers, tags stand once), not as programs: nothing is bound, nothing runs.
#pragma once

#include <cstdint>

#include "stria/stripe/block.h"

namespace stria::stripe {

// The same program for the same seed, on every machine.
Program random_program(uint64_t seed);

}  // namespace stria::stripe
