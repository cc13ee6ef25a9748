// SPDX-License-Identifier: Apache-2.0
// What all work on one device shares: the driver's context and its command queues.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "device_query.h"
#include "loader.h"
#include "stria/sdk/host.h"

namespace stria::opencl {

// Owned by the plugin's driver until it shuts down, when no work is in flight: objects that a
// driver's own thread may be the last to let go of point here and never end it.
class Context {
 public:
  Context(const sdk::Host& host, const OpenCl& cl, FoundDevice device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const sdk::Host& host() const { return host_; }
  const OpenCl& cl() const { return cl_; }
  const FoundDevice& device() const { return device_; }
  const std::string& name() const { return device_.info.name; }
  cl_context handle() const { return handle_; }

  // A queue with profiling, out of order where the device can. Queues come back and are used again.
  cl_command_queue take_queue();
  void give_queue(cl_command_queue queue);
  // The one for copies between host and device.
  cl_command_queue transfer_queue() const { return transfer_queue_; }

 private:
  const sdk::Host& host_;
  const OpenCl& cl_;
  const FoundDevice device_;
  cl_context handle_ = nullptr;
  cl_command_queue transfer_queue_ = nullptr;
  std::mutex mutex_;
  std::vector<cl_command_queue> all_;   // guarded by mutex_
  std::vector<cl_command_queue> free_;  // guarded by mutex_
};

}  // namespace stria::opencl
