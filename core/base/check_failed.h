// SPDX-License-Identifier: Apache-2.0
// How the process ends when it has to: after a broken assumption (STRIA_CHECK), and for whoever
// wants to save something before.
#pragma once

namespace stria {

// What is called before the process ends; null: nothing. Any thread.
void set_check_failed_handler(void (*handler)());

// Ends the process at once with that exit code, past every exit handler and past whoever watches
// for those that end it (the C library's functions can be replaced).
[[noreturn]] void end_process(int code);

}  // namespace stria
