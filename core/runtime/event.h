// SPDX-License-Identifier: Apache-2.0
// Something a device will have done or failed at, once: what every asynchronous function of the
// runtime returns. Wait for it, ask it, or let it call back (stria/hal/event.h says how).
#pragma once

#include "stria/hal/event.h"

namespace stria {

using Event = hal::Event;

}  // namespace stria
