// SPDX-License-Identifier: Apache-2.0
// The chip as a device, and the driver that lists it and an empty slot.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heap.h"
#include "stria/sdk/device.h"

namespace stria::blind {

class ChipDevice final : public sdk::Device {
 public:
  ChipDevice(const sdk::Host& host, sdk::DeviceInfo info, sdk::Ref<Heap> heap)
      : Device(host, std::move(info)), heap_(std::move(heap)) {}

  sdk::Ref<sdk::Compiler> create_compiler() override;
  sdk::Ref<sdk::Executor> create_executor(std::string_view options) override;
  sdk::Ref<sdk::Buffer> allocate(uint64_t bytes, std::string_view memory) override;
  stria_estimate estimate(std::string_view stripe, std::string_view options) override;

 private:
  const sdk::Ref<Heap> heap_;
};

class ChipDriver final : public sdk::Driver {
 public:
  ChipDriver(const sdk::Host& host, sdk::DriverOptions options);
  std::vector<sdk::DeviceInfo> enumerate() override;
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view options) override;

 private:
  const sdk::Ref<Heap> heap_;
};

}  // namespace stria::blind
