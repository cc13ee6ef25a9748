// SPDX-License-Identifier: Apache-2.0
// What state a program must be in for a pass. The registry's entry says it once. `bind` makes the
// pass check it before each run, and the pass's page prints it.
#pragma once

#include <string>

#include "stria/base/refusal.h"
#include "stria/stripe/block.h"

namespace stria {

enum class PassNeeds {
  nothing,
  // The program must not be #placed. The pass makes buffers, moves them to another memory, or makes
  // them live longer; in a #placed program the result could share bytes.
  before_placement,
};

// The refusal if the program is not as the pass needs it.
Refusal missing_need(PassNeeds needs, const stripe::Program& program);

// One sentence for the pass's page; "" if the pass needs nothing.
std::string needs_as_text(PassNeeds needs);

}  // namespace stria
