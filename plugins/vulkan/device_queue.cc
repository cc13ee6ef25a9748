// SPDX-License-Identifier: Apache-2.0
#include "device_queue.h"

#include "context.h"

namespace stria::vulkan {
namespace {

// Command buffers that wait for their next use; more than are ever in flight.
constexpr size_t kMostFree = 64;

}  // namespace

DeviceQueue::DeviceQueue(Context& context, const QueueFamily& family, uint32_t index,
                         const char* name)
    : context_(context),
      family_(family),
      name_(name),
      // Queues that only copy cannot reset timestamps themselves.
      tells_times_(family.timestamp_bits > 0 && context.device().nanoseconds_per_tick > 0 &&
                   (family.computes || context.device().flags.hostQueryReset)) {
  context.vk().vkGetDeviceQueue(context.handle(), family.index, index, &handle_);
}

DeviceQueue::~DeviceQueue() {
  if (context_.lost()) return;
  for (const CommandSlot& slot : free_) destroy(slot);
}

VkResult DeviceQueue::ask_whether_lost() {
  const std::lock_guard<std::mutex> lock(submitting_);
  return context_.vk().vkQueueSubmit2(handle_, 0, nullptr, nullptr);
}

VkResult DeviceQueue::submit(const VkSubmitInfo2& info) {
  const std::lock_guard<std::mutex> lock(submitting_);
  return context_.vk().vkQueueSubmit2(handle_, 1, &info, nullptr);
}

void DeviceQueue::destroy(const CommandSlot& slot) const {
  const DeviceFunctions& vk = context_.vk();
  if (slot.queries) vk.vkDestroyQueryPool(context_.handle(), slot.queries, nullptr);
  if (slot.pool) vk.vkDestroyCommandPool(context_.handle(), slot.pool, nullptr);
}

CommandSlot DeviceQueue::take_slot(uint32_t query_count) {
  if (!tells_times_) query_count = 0;
  CommandSlot slot;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      slot = free_.back();
      free_.pop_back();
    }
  }
  const DeviceFunctions& vk = context_.vk();
  const VkDevice device = context_.handle();
  try {
    if (!slot.pool) {
      VkCommandPoolCreateInfo pool{};
      pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
      pool.queueFamilyIndex = family_.index;
      context_.check(vk.vkCreateCommandPool(device, &pool, nullptr, &slot.pool),
                     "vkCreateCommandPool");
      VkCommandBufferAllocateInfo info{};
      info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
      info.commandPool = slot.pool;
      info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
      info.commandBufferCount = 1;
      context_.check(vk.vkAllocateCommandBuffers(device, &info, &slot.buffer),
                     "vkAllocateCommandBuffers");
    } else {
      context_.check(vk.vkResetCommandPool(device, slot.pool, 0), "vkResetCommandPool");
    }
    if (slot.query_count < query_count) {
      if (slot.queries) vk.vkDestroyQueryPool(device, slot.queries, nullptr);
      slot.queries = nullptr;
      slot.query_count = 0;
      VkQueryPoolCreateInfo info{};
      info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
      info.queryType = VK_QUERY_TYPE_TIMESTAMP;
      info.queryCount = query_count;
      context_.check(vk.vkCreateQueryPool(device, &info, nullptr, &slot.queries),
                     "vkCreateQueryPool");
      slot.query_count = query_count;
    }
  } catch (...) {
    if (!context_.lost()) destroy(slot);
    throw;
  }
  return slot;
}

void DeviceQueue::give_slot(const CommandSlot& slot) {
  if (context_.lost()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.size() < kMostFree) {
      free_.push_back(slot);
      return;
    }
  }
  destroy(slot);
}

uint64_t DeviceQueue::nanoseconds(uint64_t ticks) const {
  if (family_.timestamp_bits < 64) ticks &= (uint64_t{1} << family_.timestamp_bits) - 1;
  const double period = context_.device().nanoseconds_per_tick;
  return period == 1 ? ticks : static_cast<uint64_t>(static_cast<long double>(ticks) * period);
}

}  // namespace stria::vulkan
