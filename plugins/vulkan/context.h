// SPDX-License-Identifier: Apache-2.0
// What all work on one device shares: the driver's device, its queues, memory and pipelines.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device_query.h"
#include "dispatch_plan.h"
#include "dispatch_time.h"
#include "loader.h"
#include "memory.h"
#include "stria/sdk/device_loss.h"
#include "stria/sdk/fault_injection.h"
#include "stria/sdk/host.h"

namespace stria::vulkan {

class DeviceQueue;
class Pipelines;
class Queue;

struct ContextOptions {
  // How long a submission may take (Context::hang_limit); 0: no limit.
  std::chrono::milliseconds hang_limit{0};
  // What a submission may be predicted to take (driver.h); none: as the device's display needs.
  std::optional<double> dispatch_limit_ms;
  bool always_stage = false;  // copies in and out, even if the host could reach the memory
  std::string folder;         // the plugin's: its hardware models are there
  sdk::FaultPlan inject;
};

// The plugin's driver owns it until it shuts down, when no work is in flight. Objects that a
// queue's thread may be the last to release point here, and never end it. Thread-safe.
class Context : public sdk::DeviceLoss {
 public:
  // Throws sdk::Error with the driver's code if the device cannot be made.
  Context(const sdk::Host& host, const Instance& instance, FoundDevice device,
          ContextOptions options = {});
  // Of a lost device nothing is destroyed: the driver may still use it.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const sdk::Host& host() const { return host_; }
  const DeviceFunctions& vk() const { return vk_; }
  const FoundDevice& device() const { return device_; }
  const std::string& name() const { return device_.info.name; }
  VkDevice handle() const { return handle_; }

  // A queue for kernels. Queues that come back are used again.
  Queue& take_queue();
  void give_queue(Queue& queue);
  // The queue for copies between host and device.
  Queue& transfer_queue() const { return *transfer_queue_; }

  // Where tensors live.
  Allocator& device_memory() const { return *device_memory_; }
  // Host memory that the device can copy from and to.
  Allocator& staging_memory() const { return *staging_memory_; }
  // Does the host reach the device's memory as fast as its own?
  bool is_direct() const { return device_memory_->kind().mapped; }
  // A buffer that any of the queues may use.
  VkResult create_buffer(uint64_t bytes, VkBuffer& out) const;

  Pipelines& pipelines() const { return *pipelines_; }
  sdk::FaultInjection& faults() { return faults_; }

  // How long a submission may take once those before it in its queue have ended, before the device
  // counts as lost: so much for each of its commands. 0: for ever.
  std::chrono::milliseconds hang_limit() const { return options_.hang_limit; }

  // What one submission may be predicted to take.
  const DispatchLimit& dispatch_limit() const { return dispatch_limit_; }
  bool cuts_dispatches() const { return dispatch_limit_.ns > 0; }
  // By the device's model; only where dispatches are cut.
  const ModelRates& rates() const { return rates_; }

  // Throws what a call that answered `code` means, unless that is VK_SUCCESS. After
  // VK_ERROR_DEVICE_LOST the device is lost.
  void check(VkResult code, const std::string& what);
  // Marks the device as lost, because of `why`; the first reason holds, with what else is under
  // way. `driver_says_so`: the driver may be asked what happened.
  void lose(const std::string& why, bool driver_says_so);

 private:
  void create_device();
  void create_queues();
  void create_memory();
  void set_dispatch_limit();

  const sdk::Host& host_;
  const Instance& instance_;
  const FoundDevice device_;
  const ContextOptions options_;
  sdk::FaultInjection faults_;
  DispatchLimit dispatch_limit_;
  ModelRates rates_;
  VkDevice handle_ = nullptr;
  DeviceFunctions vk_;
  std::unique_ptr<DeviceQueue> compute_, transfer_;  // transfer_ may be null: then it is compute_
  std::unique_ptr<Allocator> device_memory_, staging_memory_;
  std::unique_ptr<Pipelines> pipelines_;
  Queue* transfer_queue_ = nullptr;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Queue>> all_;  // guarded by mutex_, as all below
  std::vector<Queue*> free_;
};

}  // namespace stria::vulkan
