// SPDX-License-Identifier: Apache-2.0
// What the runtime lends to plugins through the boundary's service table: the interpreter, so that
// a plugin works before it has a compiler of its own, and a cache.
#pragma once

#include "stria/hal/host/host.h"

namespace stria {

// Reads device Stripe and readies its kernels on core/interp.
Result<std::unique_ptr<hal::InterpretedProgram>> interpret_for_plugin(std::string_view stripe_text);

// The interpreter, and a cache in the user's folder.
hal::HostFunctions functions_for_plugins();

}  // namespace stria
