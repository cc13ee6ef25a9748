// SPDX-License-Identifier: Apache-2.0
// Driver and Device: all devices of all Vulkan drivers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
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

  std::string loader_ = "libvulkan.so.1";
  std::set<std::string> hidden_;
  ContextOptions context_options_;
  std::mutex mutex_;
  std::unique_ptr<Instance> instance_;  // guarded by mutex_ until it is set
  // Guarded by mutex_; by device id.
  std::map<std::string, std::unique_ptr<Context>> contexts_;
  std::map<std::string, std::string> refused_;  // devices that could not be made: why
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
