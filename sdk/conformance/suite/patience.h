// SPDX-License-Identifier: Apache-2.0
// How long a case waits for what must end: longer on a slow machine, and in a case of long work.
// The worker sets it before each case; other threads only read it.
#pragma once

#include <chrono>

namespace stria::conformance {

// Of the case that begins: its limit, and the user's `--patience`.
void set_patience(std::chrono::milliseconds limit, double factor);

// `milliseconds` times the user's patience: for what takes no time on any machine.
int patience_ms(int milliseconds);
// Far longer than the work of the running case takes: who has not ended then hangs.
int patience_ms();

}  // namespace stria::conformance
