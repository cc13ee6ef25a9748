// SPDX-License-Identifier: Apache-2.0
// The plugin at work: which devices there are, and what they share.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "queue.h"
#include "stria/sdk/device.h"

namespace acme_plugin {

class AcmeDriver final : public stria::sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<stria::sdk::DeviceInfo> enumerate() override;
  stria::sdk::Ref<stria::sdk::Device> open(const stria::sdk::DeviceInfo& info,
                                           std::string_view options) override;

 private:
  std::mutex mutex_;
  // Made when a device is opened first. It outlives all work: the driver goes last.
  std::unique_ptr<Queue> queue_;  // guarded by mutex_
};

}  // namespace acme_plugin
