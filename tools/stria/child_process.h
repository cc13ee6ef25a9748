// SPDX-License-Identifier: Apache-2.0
// Work in a process of its own: code of plugins, and of the drivers they open, may end the process
// it runs in.
#pragma once

#include <functional>
#include <string>

namespace stria::command {

// What to say of a wait status: "crashed: Aborted", "ended the process"; empty if it ended with 0.
std::string failure_of(int wait_status);

enum class Prints { yes, no };

// Runs `work` in a child process and waits for it; failure_of its end. With Prints::no nothing that
// it writes to stdout and stderr is seen. No thread may be running in this process.
std::string run_in_child(const std::function<void()>& work, Prints prints);

}  // namespace stria::command
