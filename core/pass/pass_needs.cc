// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/pass_needs.h"

#include "stria/stripe/allocation_lives.h"

namespace stria {

Refusal missing_need(PassNeeds needs, const stripe::Program& program) {
  if (needs == PassNeeds::before_placement && stripe::holds_placed(program.entry))
    return "runs before memory_placement: the program is #placed, and its buffers have their bytes";
  return Refusal::none();
}

std::string needs_as_text(PassNeeds needs) {
  if (needs == PassNeeds::before_placement)
    return "It runs before `memory_placement`, and before `schedule`, which places as well: a "
           "#placed program is left alone.";
  return "";
}

}  // namespace stria
