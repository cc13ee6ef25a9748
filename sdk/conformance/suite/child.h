// SPDX-License-Identifier: Apache-2.0
// A child process whose end is certain: it dies with its parent, and what it has started is found
// and ended, wherever that has gone to.
//
// Between this process and a worker stands a keeper:
//
//   this process ─> keeper ─> worker ─> what the plugin starts
//
// A process whose parent has ended goes to the nearest ancestor that adopts. That is the keeper for
// as long as it lives, which is as long as the worker, and this process afterwards. So a child of
// this process that is no keeper was left behind by a worker that has ended, and never belongs to
// one that is still at work. Nothing that a plugin does to its process changes that: sessions,
// process groups, variables and descriptors are its own to change, and a program that it starts may
// bring others; by a second fork it chooses who its parent is not, but not who adopts it. Nor does
// the plugin see a difference: in its own process nothing is adopted.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "stria/base/status.h"

namespace stria::conformance {

struct Child {
  pid_t pid = 0;      // the keeper; it ends right after the worker, and as that did
  int messages = -1;  // the read ends of the worker's pipes
  int output = -1;    // stdout and stderr together
};

// Forks; in the worker `work` gets the pipe for its messages, and does not return. No other thread
// may run in this process.
Result<Child> start_child(const std::function<void(int pipe)>& work);

// Ends the keeper, if it has not ended; the wait status, which is the worker's if that came first.
// Closes the pipes. A worker that lives on is a stray then.
int end_child(Child& child);

// "crashed: Aborted", "ended the process with exit code 7".
std::string words_for(int wait_status);

// From now on what children leave behind becomes a child of this process. end_strays() kills those.
void adopt_strays();

// Kills all children of this process but `known` ones, with the process groups that they are in,
// and waits until they are gone. False if some are left: after `limit`, or once `stop` is true
// (which may be null). One that starts processes for ever can be faster, and one that hangs in a
// driver is not killed at all.
bool end_strays(const std::function<bool(pid_t)>& known, std::chrono::milliseconds limit,
                const std::atomic<bool>* stop);

}  // namespace stria::conformance
