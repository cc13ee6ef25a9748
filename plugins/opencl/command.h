// SPDX-License-Identifier: Apache-2.0
// One command in a queue of the driver, and the event that stands for it.
//
// A command whose waits are all commands of this device that the driver already has goes to the
// driver at once, with their events as its wait list: chains run without the host. Other waits
// (host events, commands that wait for such) are waited for by the host first.
#pragma once

#include <functional>
#include <vector>

#include "context.h"
#include "stria/sdk/event.h"

namespace stria::opencl {

// Gives the command to the driver: clEnqueue… with this wait list, NULL if `count` is 0.
using Enqueue = std::function<cl_int(cl_uint count, const cl_event* waits, cl_event* event)>;

struct Command {
  const char* what;  // "clEnqueueReadBuffer", for messages
  Enqueue enqueue;   // holds everything that the command needs until it is done
  cl_command_queue queue;
};

// Starts the command when `waits` are over; counted in `tracker` until the event is done. A driver
// that refuses the command makes its event fail.
sdk::Ref<sdk::Event> start(Context& context, const sdk::Ref<sdk::Tracker>& tracker, Command command,
                           sdk::Waits waits);

}  // namespace stria::opencl
