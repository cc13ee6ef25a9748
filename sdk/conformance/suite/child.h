// SPDX-License-Identifier: Apache-2.0
// A child process whose end is certain: it has a group of its own, dies with its parent, and takes
// with it what it has started.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "stria/base/status.h"

namespace stria::conformance {

struct Child {
  pid_t pid = 0;
  int messages = -1;  // the read ends of its pipes
  int output = -1;    // stdout and stderr together
};

// Forks; `work` gets the pipe for its messages, and does not return. No other thread may run in
// this process.
Result<Child> start_child(const std::function<void(int pipe)>& work);

// Kills the child and its group, and waits for the child; its wait status. Closes the pipes.
int end_child(Child& child);

// "crashed: Aborted", "ended the process with exit code 7".
std::string words_for(int wait_status);

// From now on what children leave behind becomes a child of this process. end_strays() kills those.
void adopt_strays();
// All children of this process but `known` are killed and waited for; how many those were.
int end_strays(const std::function<bool(pid_t)>& known);

}  // namespace stria::conformance
