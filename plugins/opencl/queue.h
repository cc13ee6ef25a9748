// SPDX-License-Identifier: Apache-2.0
// A queue of the driver, and who waits for its commands and ends their events, in the order in
// which they were handed on. A thread that waits for an event ends it itself, since switching to
// another thread costs more than a small kernel. The queue's own thread ends what nobody waits for.
// Callbacks of the driver would be simpler, but some drivers call them many milliseconds late.
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
  // Takes over `handle`, unless it throws std::system_error: no thread can be started.
  Queue(Context& context, cl_command_queue handle, bool in_order)
      : context_(context), handle_(handle), in_order_(in_order), waiter_([this] { run(); }) {}
  // Precondition: all that was pushed has ended, and nobody is in end_until().
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Context& context() const { return context_; }
  cl_command_queue handle() const { return handle_; }
  // Does it run one command after another, so that none needs to name an earlier one?
  bool in_order() const { return in_order_; }
  // "queue 'transfer'", for messages.
  const char* name() const;

  // Held from before a batch's first command is given to the driver until the batch is pushed.
  std::mutex& giving() { return giving_; }

  // Ends the batch when the driver says so, after the batches before it. Commands that the driver
  // did not get fail with what they wait for, or with the driver's refusal. Calls `pushed` once the
  // batch is in the list, before it can end. `soon`: the queue's thread turns to it at once;
  // otherwise if nobody has ended a batch for kPatienceNs.
  template <typename Pushed>
  void push(std::unique_ptr<Batch> batch, bool soon, Pushed pushed) {
    std::lock_guard<std::mutex> lock(mutex_);
    batches_.push_back(std::move(batch));
    pushed();
    if (soon) hurry_ = true;
    if (soon || asleep_) changed_.notify_one();
  }
  // Lets the queue's thread end at once what has been pushed.
  void hurry() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (batches_.empty()) return;
    hurry_ = true;
    changed_.notify_one();
  }
  // Ends batches on the calling thread, or waits for others that do, until `event` is done. Returns
  // earlier if the queue has no more batches.
  void end_until(const sdk::Event& event);

 private:
  // Longer than it takes to get from starting work to waiting for it, and short enough that the end
  // of what nobody waits for is noticed soon.
  static constexpr uint64_t kPatienceNs = 100'000;
  // The same, while another thread waits for one batch.
  static constexpr uint64_t kLongestPatienceNs = 1'000'000;

  void run();
  // Ends the first batch, with `lock` on mutex_ given up meanwhile.
  void end_first(std::unique_lock<std::mutex>& lock);
  void end(Batch& batch);
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
  std::mutex giving_;  // before mutex_
  std::mutex mutex_;
  std::condition_variable changed_;  // for the queue's thread
  std::condition_variable ended_;    // a batch has
  // All guarded by mutex_.
  std::deque<std::unique_ptr<Batch>> batches_;
  bool ending_ = false;       // a batch is being ended; it is no longer in the list
  uint64_t ended_count_ = 0;  // batches that have ended
  bool hurry_ = false;        // somebody depends on what is in the list without waiting
  bool asleep_ = false;       // the queue's thread, until it is woken
  bool stop_ = false;
  std::thread waiter_;
};

}  // namespace stria::opencl
