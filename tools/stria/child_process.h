// SPDX-License-Identifier: Apache-2.0
// Runs work in a process of its own: code of plugins, and of the drivers they open, may end the
// process that it runs in.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "stria/base/status.h"

namespace stria::command {

// The text for a wait status: "crashed: Aborted", "ended the process with exit code 0", "ran out of
// memory".
std::string failure_of(int wait_status);

// In a child: does the work, and ends the process with the exit code that it returns. What the work
// throws does not unwind into the frames that the child has of its parent.
[[noreturn]] void end_after(const std::function<int()>& work) noexcept;

enum class Prints { yes, no };

// How work in a child ended by itself. Nobody else's exit() is likely to use these numbers. A child
// that ends with 0 has not come to the end of its work.
enum class WorkEnd { well = 96, hangs = 97, unwritable = 98, without_result = 99 };

// Waits for the child, and returns its wait status. Fails if the system does not know it; the
// message continues after the child's name, as failure_of does.
Result<int> wait_for(pid_t child);

// Why there is no child, by errno: "no process can be started (Resource temporarily unavailable):
// see ulimit -u".
std::string no_child(int error);

struct ChildEnd {
  WorkEnd work = WorkEnd::well;
  std::string failure;  // failure_of a child that did not come to the end of its work; or empty
  bool started = true;  // else `failure` is why not
};

// Runs `work` in a child process, and waits for it. With Prints::no, what it writes to stdout and
// stderr is dropped. Otherwise it ends as `unwritable` if stdout does not take what it printed.
// Destructors of heap objects of `work` do not run. No other thread may be at work in this process.
ChildEnd run_in_child(const std::function<WorkEnd()>& work, Prints prints);

}  // namespace stria::command
