// SPDX-License-Identifier: Apache-2.0
// A queue of the driver. Its events tell how commands have ended: callbacks of the driver would be
// simpler, but some drivers call them many milliseconds late.
#pragma once

#include <chrono>

#include "command.h"
#include "context.h"

namespace stria::opencl {

class Queue final : public sdk::SubmissionQueue {
 public:
  // Takes over `handle`, unless it throws std::system_error: no thread can be started.
  Queue(Context& context, cl_command_queue handle, bool in_order)
      : SubmissionQueue(context.host(), context),
        context_(context),
        handle_(handle),
        in_order_(in_order) {}
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Context& context() const { return context_; }
  cl_command_queue handle() const { return handle_; }
  // Does it run one command after another, so that none needs to name an earlier one?
  bool in_order() const { return in_order_; }
  // "queue 'transfer'", for messages.
  const char* name() const;

  void end(Batch& batch);

 private:
  // Gives a batch that ends with `failure` to the driver once more, and on a queue in order what
  // comes after it with it. Returns false and does nothing if that is not right: see start().
  bool give_again(Batch& batch, const sdk::Outcome& failure);
  // Did the driver get the batch, and run none of it because of what it comes after?
  bool has_not_run(const Batch& batch) const;
  // Ends a batch whose commands have no events of their own.
  void end_as_one(Batch& batch);
  // Waits for commands that the driver has, of which the last one's end is `event`; they begin with
  // `first`.
  sdk::Outcome wait_for(Command* commands, size_t count, cl_event first, cl_event event,
                        sdk::Times& times);
  // The execution status of the last of `count` commands, CL_COMPLETE or an error; any other if
  // nobody will say, or not within limit_of(count).
  cl_int status_after_wait(cl_event event, size_t count);
  // How long so many commands may take once what was pushed before them has ended.
  std::chrono::milliseconds limit_of(size_t count) const {
    return context_.hang_limit() * static_cast<int64_t>(count);
  }

  Context& context_;
  const cl_command_queue handle_;
  const bool in_order_;
};

}  // namespace stria::opencl
