// SPDX-License-Identifier: Apache-2.0
// One of our queues: a timeline semaphore that counts its submissions to a queue of the driver, and
// who waits for them and ends their events, in their order. A thread that waits for an event ends
// it itself, since switching to another thread costs more than a small kernel. The queue's own
// thread ends what nobody waits for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "command.h"
#include "context.h"
#include "device_queue.h"

namespace stria::vulkan {

class Queue {
 public:
  // Throws std::system_error if no thread can be started, sdk::Error if there is no semaphore.
  Queue(Context& context, DeviceQueue& device_queue);
  // Precondition: all that was submitted has ended, and nobody is in end_until().
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Context& context() const { return context_; }
  DeviceQueue& device_queue() const { return device_queue_; }
  VkSemaphore semaphore() const { return semaphore_; }

  // Gives the work to the driver, unless it is refused already, and ends it after what was
  // submitted before it. `soon`: the queue's thread turns to it at once; otherwise if nobody has
  // ended anything for kPatienceNs.
  void submit(std::unique_ptr<Submission> work, bool soon);
  // Lets the queue's thread end at once what has been submitted.
  void hurry();
  // Ends submissions on the calling thread, or waits for others that do, until `event` is done.
  // Returns earlier if there are no more.
  void end_until(const sdk::Event& event);

  // "queue 'compute', kernel 'k0_a'" of the first submission that has not ended; empty if there is
  // none, or if another thread keeps the list for long.
  std::string under_way() const;

 private:
  // Longer than it takes to get from starting work to waiting for it, and short enough that the end
  // of what nobody waits for is noticed soon.
  static constexpr uint64_t kPatienceNs = 100'000;
  // The same, while another thread waits.
  static constexpr uint64_t kLongestPatienceNs = 1'000'000;

  // Hands the work to the driver, each part of it by itself, as the numbers behind given_; under
  // giving_.
  sdk::Outcome give(Submission& work);
  void run();
  // Ends the first submission, with `lock` on mutex_ given up meanwhile.
  void end_first(std::unique_lock<std::mutex>& lock);
  void end(Submission& work);
  // Until the driver has reached the work's number; null if it has run it.
  sdk::Outcome wait_for(const Submission& work);
  // "queue 'compute', kernel 'k0_a'".
  std::string describe(const sdk::Ref<Recording>& recording) const;
  // The same behind what was asked of it: "vkQueueSubmit2, queue …".
  std::string describe(const char* call, const Submission& work) const;

  Context& context_;
  DeviceQueue& device_queue_;
  VkSemaphore semaphore_ = nullptr;
  std::mutex giving_;                 // before mutex_
  uint64_t given_ = 0;                // guarded by giving_: the number of the last submission
  std::atomic<uint64_t> reached_{0};  // the driver has run all up to this one
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // for the queue's thread
  std::condition_variable ended_;    // a submission has
  // All guarded by mutex_.
  std::deque<std::unique_ptr<Submission>> works_;
  bool ending_ = false;                   // one is being ended; it is no longer in the list
  sdk::Ref<Recording> ending_recording_;  // its commands
  uint64_t ended_count_ = 0;              // that have ended
  bool hurry_ = false;                    // somebody depends on what is in the list without waiting
  bool asleep_ = false;                   // the queue's thread, until it is woken
  bool stop_ = false;
  std::thread waiter_;
};

}  // namespace stria::vulkan
