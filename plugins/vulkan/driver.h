// SPDX-License-Identifier: Apache-2.0
// Driver and Device: all devices of all Vulkan drivers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "context.h"
#include "stria/sdk/device.h"

namespace stria::vulkan {

// Options of the plugin, a JSON object:
//   "loader": "libvulkan.so.1"   the library to open
//   "hide_features": []          features ("shaderInt8") and extensions ("VK_EXT_device_fault")
//                                that are taken for absent: a hook for tests
//   "hang_limit_ms": 0           if a submission takes longer, the device counts as lost; 0: no
//                                limit. A batch has so much time for each of its kernels. The time
//                                begins when the work before it in its queue has ended, so waits
//                                for other queues count
//   "dispatch_limit_ms": N       what is predicted to take longer is cut into several dispatches,
//                                in submissions of their own, so that a watchdog sees short ones;
//                                0: no limit. Without the option: 500 for a GPU that drives a
//                                display (display.h), 0 for others
//   "probe": true                whether a device is measured when it is opened for the first time
//                                (measure/device_rates.h). Without the option: GPUs and
//                                accelerators are, if nothing is injected, "hang_limit_ms" is 0
//                                and there is no sanitizer; what an earlier process has kept is
//                                used anyway. false: never, and nothing kept is used; true:
//                                software, too
//   "staging": "auto"            "always": copies between host and device go through staging
//                                memory, even if the host reaches the device's memory
//   "inject": {}                 a hook for tests: see stria/sdk/fault_injection.h
class VulkanDriver final : public sdk::Driver {
 public:
  VulkanDriver(const sdk::Host& host, sdk::DriverOptions options);
  // The devices go; the instance stays for the next driver, unless a device is lost.
  ~VulkanDriver() override;
  std::vector<sdk::DeviceInfo> enumerate() override;
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view options) override;

 private:
  void read_options(const std::string& text);
  std::vector<FoundDevice> find();  // holding mutex_
  // What the host is to know of a device once it is open. Measures it, perhaps.
  sdk::DeviceInfo opened_info(sdk::DeviceInfo info, Context& context) const;

  std::string loader_ = "libvulkan.so.1";
  std::set<std::string> hidden_;
  ContextOptions context_options_;
  std::optional<bool> probe_;
  std::mutex mutex_;
  std::unique_ptr<Instance> instance_;  // guarded by mutex_ until it is set
  // Guarded by mutex_; by device id.
  std::map<std::string, std::unique_ptr<Context>> contexts_;
  std::map<std::string, sdk::DeviceInfo> opened_;  // of the same devices
  std::map<std::string, std::string> refused_;     // devices that could not be made: why
};

class VulkanDevice final : public sdk::Device {
 public:
  VulkanDevice(Context& context, sdk::DeviceInfo info)
      : Device(context.host(), std::move(info)), context_(context) {}
  sdk::Ref<sdk::Compiler> create_compiler() override;
  sdk::Ref<sdk::Executor> create_executor(std::string_view options) override;
  sdk::Ref<sdk::Buffer> allocate(uint64_t bytes, std::string_view memory) override;

 private:
  Context& context_;
};

}  // namespace stria::vulkan
