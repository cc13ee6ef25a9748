// SPDX-License-Identifier: Apache-2.0
// What a pass needs of the state that a program is in. A registry's entry says it once; whoever
// binds the pass checks it before each run, and the pass's page prints it.
#pragma once

#include <string>

#include "stria/base/refusal.h"
#include "stria/stripe/block.h"

namespace stria {

enum class PassNeeds {
  nothing,
  // The program is not #placed: the pass makes buffers, moves them to another memory, or makes them
  // live longer, and what it would leave could share bytes.
  before_placement,
};

// Why the program is not as the pass needs it.
Refusal missing_need(PassNeeds needs, const stripe::Program& program);

// What a page says of it; "" if the pass needs nothing. One sentence.
std::string needs_as_text(PassNeeds needs);

}  // namespace stria
