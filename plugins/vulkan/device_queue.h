// SPDX-License-Identifier: Apache-2.0
// A queue of the driver, which several of ours share, and its command buffers.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "device_query.h"
#include "loader.h"

namespace stria::vulkan {

class Context;

// A command buffer with a pool of its own, so that any thread may fill it, and its timestamps.
struct CommandSlot {
  VkCommandPool pool = nullptr;
  VkCommandBuffer buffer = nullptr;
  VkQueryPool queries = nullptr;  // null: no times are known
  uint32_t query_count = 0;
};

// Thread-safe.
class DeviceQueue {
 public:
  // `index`: within the family.
  DeviceQueue(Context& context, const QueueFamily& family, uint32_t index, const char* name);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  const char* name() const { return name_; }
  bool computes() const { return family_.computes; }

  // One submission at a time, as the driver demands.
  VkResult submit(const VkSubmitInfo2& info);
  // VK_ERROR_DEVICE_LOST if the device is lost, whatever those who wait are told: NVIDIA's driver
  // (580, H100) tells who waits for a timeline semaphore nothing of a kernel that has written where
  // no memory is. The wait times out for ever, and the semaphore keeps its value.
  VkResult ask_whether_lost();

  // An empty command buffer, with so many timestamps if the queue can tell times. Throws
  // sdk::Error.
  CommandSlot take_slot(uint32_t query_count);
  // Precondition: the driver does not use it any more.
  void give_slot(const CommandSlot& slot);

  // Nanoseconds of a timestamp, by one clock for all queues of the device.
  uint64_t nanoseconds(uint64_t ticks) const;

 private:
  void destroy(const CommandSlot& slot) const;

  Context& context_;
  const QueueFamily family_;
  const char* const name_;
  const bool tells_times_;
  VkQueue handle_ = nullptr;
  std::mutex submitting_;
  std::mutex mutex_;
  std::vector<CommandSlot> free_;  // guarded by mutex_
};

}  // namespace stria::vulkan
