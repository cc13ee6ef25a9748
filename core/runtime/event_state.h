// SPDX-License-Identifier: Apache-2.0
// What an Event holds: the device's event and, if it is that of a run, the run, which knows its
// kernels.
#pragma once

#include <optional>

#include "stria/exec/loaded_program.h"
#include "stria/hal/event.h"
#include "stria/runtime/event.h"

namespace stria {

struct Event::State {
  hal::Event event;
  std::optional<exec::Run> run;
};

}  // namespace stria
