// SPDX-License-Identifier: Apache-2.0
// What all work on one device shares: the driver's context and its command queues.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "device_query.h"
#include "loader.h"
#include "stria/sdk/device_loss.h"
#include "stria/sdk/fault_injection.h"
#include "stria/sdk/host.h"

namespace stria::opencl {

class Queue;

struct ContextOptions {
  bool in_order = false;  // queues run one command after another
  // How long a command may take (Context::hang_limit); 0: no limit.
  std::chrono::milliseconds hang_limit{0};
  bool event_each = false;   // each command has an event of its own, needed or not
  uint32_t build_parts = 1;  // a library becomes so many programs, built at the same time
  sdk::FaultPlan inject;
};

// The plugin's driver owns it until it shuts down, when no work is in flight. Objects that a
// queue's thread may be the last to release point here, and never end it. Thread-safe.
class Context : public sdk::DeviceLoss {
 public:
  // In the driver's context `shared`, which outlives this; null: in one of its own.
  Context(const sdk::Host& host, const OpenCl& cl, FoundDevice device, ContextOptions options = {},
          cl_context shared = nullptr);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const sdk::Host& host() const { return host_; }
  const OpenCl& cl() const { return cl_; }
  const FoundDevice& device() const { return device_; }
  const std::string& name() const { return device_.info.name; }
  cl_context handle() const { return handle_; }

  // A queue with profiling. It is out of order if the device can, unless `in_order` asks for order.
  // Queues that come back are used again.
  Queue& take_queue(bool in_order = false);
  void give_queue(Queue& queue);
  // The queue for copies between host and device.
  Queue& transfer_queue() const { return *transfer_queue_; }

  // The features of the device's compiler, arithmetic on half included; the first call finds out.
  Features features() const;

  // Counts released buffers: the driver may give their handles to others.
  void count_released_buffer() { released_buffers_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t released_buffers() const { return released_buffers_.load(std::memory_order_relaxed); }

  // Does each command of a batch in order need an event of its own, so that its failure is known?
  // Yes if the options say so, or if the driver runs what follows a failed command; the first call
  // finds out.
  bool event_each() const;
  size_t build_parts() const { return options_.build_parts; }
  sdk::FaultInjection& faults() { return faults_; }

  // How long a command may take before the device counts as lost; 0: for ever. The time begins when
  // the work handed to its queue before it has ended, so waits for other queues count as its own
  // time. Commands without events of their own share the sum of their times.
  std::chrono::milliseconds hang_limit() const { return options_.hang_limit; }
  // Marks the device as lost: it does not answer any more, because of `why`.
  void lose(const std::string& why) { DeviceLoss::lose(name(), why); }

 private:
  const sdk::Host& host_;
  const OpenCl& cl_;
  const FoundDevice device_;
  const ContextOptions options_;
  sdk::FaultInjection faults_;
  const bool owns_handle_;
  cl_context handle_ = nullptr;
  Queue* transfer_queue_ = nullptr;
  std::atomic<uint64_t> released_buffers_{0};
  mutable std::once_flag half_asked_;
  mutable bool has_half_ = false;  // once half_asked_
  mutable std::once_flag order_asked_;
  mutable bool runs_on_ = false;  // once order_asked_
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Queue>> all_;  // guarded by mutex_, as all below
  std::vector<Queue*> free_in_order_, free_out_of_order_;
};

}  // namespace stria::opencl
