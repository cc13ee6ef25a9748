// SPDX-License-Identifier: Apache-2.0
// Driver and Device: machines that exist as a hardware model only. They are always available. Each
// device kind of the manifest is one machine.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/sdk/device.h"

namespace stria::sim {

class SimDriver final : public sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<sdk::DeviceInfo> enumerate() override;
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view options) override;
};

// Buffers and events are those of the SDK helper: the host's memory stands for the machine's global
// memory.
class SimDevice final : public sdk::HostMemoryDevice {
 public:
  SimDevice(const sdk::Host& host, sdk::DeviceInfo info, HardwareModel model)
      : HostMemoryDevice(host, std::move(info)),
        model_(std::make_shared<const HardwareModel>(std::move(model))) {}
  sdk::Ref<sdk::Compiler> create_compiler() override;
  sdk::Ref<sdk::Executor> create_executor(std::string_view options) override;
  std::string main_memory() const override;  // the largest one
  // Exact, if the model has a clock: what is simulated is what would be reported.
  stria_estimate estimate(std::string_view stripe, std::string_view options) override;

 private:
  std::shared_ptr<const HardwareModel> model_;
};

}  // namespace stria::sim
