// SPDX-License-Identifier: Apache-2.0
// The driver with its one device, which makes compilers, executors and buffers.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "stria/sdk/device.h"
#include "watchdog.h"
#include "work_line.h"

namespace third_chip {

class ChipDevice final : public stria::sdk::Device {
 public:
  // The line is the driver's, and outlives the device.
  ChipDevice(const stria::sdk::Host& host, stria::sdk::DeviceInfo info, WorkLine& line);
  stria::sdk::Ref<stria::sdk::Compiler> create_compiler() override;
  stria::sdk::Ref<stria::sdk::Executor> create_executor(std::string_view options) override;
  stria::sdk::Ref<stria::sdk::Buffer> allocate(uint64_t bytes, std::string_view memory) override;

 private:
  WorkLine& line_;
  const stria::sdk::Ref<stria::sdk::MemoryBudget> budget_;  // of all buffers
};

class ChipDriver final : public stria::sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<stria::sdk::DeviceInfo> enumerate() override;
  stria::sdk::Ref<stria::sdk::Device> open(const stria::sdk::DeviceInfo& info,
                                           std::string_view options) override;

 private:
  std::mutex mutex_;
  // Made when a device is opened first. It outlives all work: the driver goes last.
  std::unique_ptr<WorkLine> line_;  // guarded by mutex_
};

}  // namespace third_chip
