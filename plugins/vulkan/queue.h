// SPDX-License-Identifier: Apache-2.0
// One of our queues: a timeline semaphore that counts its submissions to a queue of the driver.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "command.h"
#include "context.h"
#include "device_queue.h"

namespace stria::vulkan {

class Queue final : public sdk::SubmissionQueue {
 public:
  // Throws std::system_error if no thread can be started, sdk::Error if there is no semaphore.
  Queue(Context& context, DeviceQueue& device_queue);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Context& context() const { return context_; }
  DeviceQueue& device_queue() const { return device_queue_; }
  VkSemaphore semaphore() const { return semaphore_; }

  // Hands the work to the driver, each part of it by itself, as the numbers behind given_.
  sdk::Outcome give(Submission& work);
  void end(Submission& work);

  // "queue 'compute', kernel 'k0_a'" of the first submission that has not ended; see
  // SubmissionQueue::under_way().
  std::string describe_under_way() const;

 private:
  // Until the driver has reached the work's number; null if it has run it.
  sdk::Outcome wait_for(const Submission& work);
  // "queue 'compute', kernel 'k0_a'".
  std::string describe(const Recording* recording) const;
  // The same behind what was asked of it: "vkQueueSubmit2, queue …".
  std::string describe(const char* call, const Submission& work) const;

  Context& context_;
  DeviceQueue& device_queue_;
  VkSemaphore semaphore_ = nullptr;
  uint64_t given_ = 0;                // under giving(): the number of the last submission
  std::atomic<uint64_t> reached_{0};  // the driver has run all up to this one
};

}  // namespace stria::vulkan
