// SPDX-License-Identifier: Apache-2.0
// An opened device: it makes compilers, executors and buffers.
#pragma once

#include <string_view>
#include <utility>

#include "queue.h"
#include "stria/sdk/device.h"

namespace acme_plugin {

class AcmeDevice final : public stria::sdk::Device {
 public:
  // The queue is the driver's, and outlives the device.
  AcmeDevice(const stria::sdk::Host& host, stria::sdk::DeviceInfo info, Queue& queue)
      : Device(host, std::move(info)),
        queue_(queue),
        budget_(stria::sdk::make<stria::sdk::MemoryBudget>(this->info().memory_bytes)) {}
  stria::sdk::Ref<stria::sdk::Compiler> create_compiler() override;
  stria::sdk::Ref<stria::sdk::Executor> create_executor(std::string_view options) override;
  stria::sdk::Ref<stria::sdk::Buffer> allocate(uint64_t bytes, std::string_view memory) override;

 private:
  Queue& queue_;
  const stria::sdk::Ref<stria::sdk::MemoryBudget> budget_;  // of all buffers
};

}  // namespace acme_plugin
