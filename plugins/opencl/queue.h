// SPDX-License-Identifier: Apache-2.0
// A queue of the driver, and the thread that waits for what is in it: it ends the events of the
// commands, in the order in which they were handed on. Callbacks of the driver would be simpler,
// but some drivers call them many milliseconds late.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "command.h"
#include "context.h"

namespace stria::opencl {

class Queue {
 public:
  // Takes over `handle`, unless it throws std::system_error: no thread can be made.
  Queue(Context& context, cl_command_queue handle, bool in_order)
      : context_(context), handle_(handle), in_order_(in_order), waiter_([this] { run(); }) {}
  // All that was pushed has ended.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Context& context() const { return context_; }
  cl_command_queue handle() const { return handle_; }
  // Whether it runs one command after another, so that none needs to name an earlier one.
  bool in_order() const { return in_order_; }

  // Held from before a batch's first command is given to the driver until the batch is pushed.
  std::mutex& giving() { return giving_; }

  // Ends the batch when the driver says so, and at its turn. Commands that the driver has not got
  // fail with what they wait for, or with the driver's refusal. Calls `pushed` once the batch has
  // its turn, before it can end.
  template <typename Pushed>
  void push(std::unique_ptr<Batch> batch, Pushed pushed) {
    std::lock_guard<std::mutex> lock(mutex_);
    batches_.push_back(std::move(batch));
    pushed();
    changed_.notify_one();
  }
  void push(std::unique_ptr<Batch> batch) {
    push(std::move(batch), [] {});
  }

 private:
  void run();
  void end(Batch& batch);
  // Gives a batch that ends with `failure` to the driver once more, and on a queue in order what
  // comes after it with it. False, and nothing is done, if that is not right: see start().
  bool give_again(Batch& batch, const sdk::Outcome& failure);
  // Whether the driver has had the batch and has run none of it because of what it comes after.
  bool has_not_run(const Batch& batch) const;
  // Of a batch whose commands have no events of their own.
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
  std::mutex giving_;  // before mutex_
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Batch>> batches_;  // guarded by mutex_
  bool stop_ = false;                           // guarded by mutex_
  std::thread waiter_;
};

}  // namespace stria::opencl
