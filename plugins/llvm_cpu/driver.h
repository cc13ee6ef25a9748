// SPDX-License-Identifier: Apache-2.0
// Driver and Device: the processor of this machine, always there, one device.
#pragma once

#include <string_view>
#include <vector>

#include "stria/sdk/device.h"

namespace stria::llvm_cpu {

class CpuDriver final : public sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<sdk::DeviceInfo> enumerate() override;
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view options) override;
};

// Buffers, events and the executor are the helper's: the host's memory is the device's.
class CpuDevice final : public sdk::HostMemoryDevice {
 public:
  using HostMemoryDevice::HostMemoryDevice;
  sdk::Ref<sdk::Compiler> create_compiler() override;
};

}  // namespace stria::llvm_cpu
