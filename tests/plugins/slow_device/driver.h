// SPDX-License-Identifier: Apache-2.0
// Driver and Device: one device, always there.
#pragma once

#include <string_view>
#include <vector>

#include "queue.h"
#include "stria/sdk/device.h"

namespace stria::slow_device {

// Owns the queues: it outlives all work, and no queue's thread is ever the one that ends it.
class SlowDriver final : public sdk::Driver {
 public:
  SlowDriver(const sdk::Host& host, sdk::DriverOptions options);
  std::vector<sdk::DeviceInfo> enumerate() override;
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view options) override;

 private:
  const Options options_;
  Queues queues_;
};

class SlowDevice final : public sdk::Device {
 public:
  SlowDevice(const sdk::Host& host, sdk::DeviceInfo info, Queues& queues)
      : Device(host, std::move(info)),
        queues_(queues),
        budget_(sdk::make<sdk::MemoryBudget>(this->info().memory_bytes)) {}
  sdk::Ref<sdk::Executor> create_executor(std::string_view options) override;
  sdk::Ref<sdk::Buffer> allocate(uint64_t bytes, std::string_view memory) override;

 private:
  Queues& queues_;
  sdk::Ref<sdk::MemoryBudget> budget_;
};

}  // namespace stria::slow_device
