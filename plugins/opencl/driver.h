// SPDX-License-Identifier: Apache-2.0
// Driver and Device: all devices of all OpenCL platforms.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "context.h"
#include "stria/sdk/device.h"

namespace stria::opencl {

// Options of the plugin, a JSON object:
//   "loader": "libOpenCL.so.1"   the library to open
//   "in_order": false            queues run one command after another, even if the device can run
//                                independent ones at once
//   "shared_context": false      the devices of a platform share a context of the driver, so that
//                                they copy to each other without the host (stria_peers_table). The
//                                driver readies all of them when one is opened, and where a failed
//                                command ends its context it ends the work of all
//   "build_parts": 1             a library's kernels are built as so many programs at the same time
//   "event_each": false          each command of a batch has an event, even if nobody asks for it;
//                                that takes up to 10 us more for each kernel. Without it, commands
//                                have events only on a driver that runs on after a failed command
//                                and so would hide the failure
//   "hang_limit_ms": 0           if a command takes longer, the device counts as lost; 0: no limit.
//                                A batch that nobody watches has so much time for each of its
//                                commands. The time begins when the work before it in its queue has
//                                ended, so waits for other queues count
//   "inject": {}                 a hook for tests: see stria/sdk/fault_injection.h
class ClDriver final : public sdk::Driver {
 public:
  ClDriver(const sdk::Host& host, sdk::DriverOptions options);
  std::vector<sdk::DeviceInfo> enumerate() override;
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view options) override;
  ~ClDriver() override;

 private:
  std::vector<FoundDevice> find();  // holding mutex_
  // The context of all available devices of that platform; null if each has its own. Holding
  // mutex_.
  cl_context shared_context(const std::vector<FoundDevice>& all, const FoundDevice& device);

  std::string loader_ = "libOpenCL.so.1";
  bool shares_contexts_ = false;
  ContextOptions context_options_;
  std::mutex mutex_;
  std::unique_ptr<OpenCl> cl_;                                // guarded by mutex_ until it is set
  std::map<std::string, std::unique_ptr<Context>> contexts_;  // guarded by mutex_; by device id
  std::map<cl_platform_id, cl_context> shared_;               // guarded by mutex_
};

class ClDevice final : public sdk::Device {
 public:
  ClDevice(Context& context, sdk::DeviceInfo info);
  sdk::Ref<sdk::Compiler> create_compiler() override;
  sdk::Ref<sdk::Executor> create_executor(std::string_view options) override;
  sdk::Ref<sdk::Buffer> allocate(uint64_t bytes, std::string_view memory) override;
  bool reaches(const sdk::Device& peer) const override;

 private:
  Context& context_;
  sdk::Ref<sdk::MemoryBudget> budget_;
};

}  // namespace stria::opencl
