// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include "device.h"
#include "stria/sdk/plugin.h"

namespace acme_plugin {

namespace sdk = stria::sdk;

std::vector<sdk::DeviceInfo> AcmeDriver::enumerate() {
  sdk::DeviceInfo info;
  info.id = "0";
  info.name = "Acme 0";
  info.kind = "npu";  // of plugin.json: which hardware model and pipeline it has
  info.vendor = "Acme";
  info.memory_bytes = uint64_t{1} << 30;
  // A device that may be missing: available = false, and the reason.
  return {info};
}

sdk::Ref<sdk::Device> AcmeDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!queue_) queue_ = std::make_unique<Queue>(host());
  return sdk::make<AcmeDevice>(host(), info, *queue_);
}

}  // namespace acme_plugin

// The id is that of plugin.json, and so is the version.
STRIA_PLUGIN(acme_plugin::AcmeDriver, "acme", "0.1.0")
