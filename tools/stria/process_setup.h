// SPDX-License-Identifier: Apache-2.0
// What the command sets up before anything else, whatever the shell has left it: a stack,
// descriptors 0 to 2, the ends of its children, and failures instead of signals.
#pragma once

#include <functional>

namespace stria::command {

// The stack that a verb runs on. Recursion is limited (nesting of expressions, blocks, JSON), and
// the limits need much less. The rest is for passes and drivers' compilers.
inline constexpr size_t kStackBytes = size_t{64} << 20;
// The stack of every other thread, unless the system's default is larger.
inline constexpr size_t kThreadStackBytes = size_t{8} << 20;

// Occupies those of the descriptors 0 to 2 that are closed, so that no file of ours gets their
// numbers; reading and writing them fails as before. A file that would grow beyond the limit of its
// size becomes an error of the write, not a signal.
void take_standard_descriptors();

// If the process that started the command ignores SIGCHLD, the command inherits that, and the
// system keeps no child's end for those who wait for it: the command, and drivers that start a
// linker. This restores the default.
void take_ends_of_children();

// Calls `work` on a thread with a stack of its own, where `ulimit -s` has no say, and sets the
// stacks of threads that are started later. Where the system starts no thread, `work` runs here
// if the stack is large enough; else a message on stderr and exit code 1. Gives what `work` gives.
int run_on_own_stack(const std::function<int()>& work);

}  // namespace stria::command
