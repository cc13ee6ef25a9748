// SPDX-License-Identifier: Apache-2.0
// For who comes after work but does not share its fate.
#pragma once

#include "stria/base/status.h"
#include "stria/hal/device.h"
#include "stria/hal/event.h"

namespace stria::exec {

// An event of `device` that is done when `event` is and never fails; none if `event` is done.
inline Result<hal::Event> end_of(const hal::Event& event, const hal::Device& device) {
  if (event.is_done()) return hal::Event();
  STRIA_ASSIGN(hal::Event end, device.create_event());
  // Signalling fails only if it was done before, which nobody else does.
  STRIA_RETURN_IF_ERROR(event.on_done([end](const Status&) { (void)end.signal(); }));
  return end;
}

}  // namespace stria::exec
