// SPDX-License-Identifier: Apache-2.0
#include "chip_device.h"

#include <utility>

#include "chip_compiler.h"
#include "chip_executor.h"
#include "chosen.h"
#include "store.h"

namespace third_chip {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{1} << 30;

}  // namespace

namespace sdk = stria::sdk;

ChipDevice::ChipDevice(const sdk::Host& host, sdk::DeviceInfo info, WorkLine& line)
    : Device(host, std::move(info)),
      line_(line),
      budget_(sdk::make<sdk::MemoryBudget>(kMemoryBytes)) {}

sdk::Ref<sdk::Compiler> ChipDevice::create_compiler() { return sdk::make<ChipCompiler>(host()); }

sdk::Ref<sdk::Executor> ChipDevice::create_executor(std::string_view) {
  return sdk::make<ChipExecutor>(host(), line_);
}

sdk::Ref<sdk::Buffer> ChipDevice::allocate(uint64_t bytes, std::string_view memory) {
  must_be_main(memory);
  return sdk::make<Store>(host(), line_, budget_, bytes);
}

std::vector<sdk::DeviceInfo> ChipDriver::enumerate() {
  sdk::DeviceInfo info;
  info.id = "0";
  info.name = "Third 0";
  info.kind = "npu";  // of plugin.json
  info.vendor = "Third";
  info.memory_bytes = kMemoryBytes;
  // What the larger board has.
  if (makes(Mistake::memory_boast)) info.memory_bytes = 16 * kMemoryBytes;
  return {info};
}

sdk::Ref<sdk::Device> ChipDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!line_) {
    line_ = std::make_unique<WorkLine>(host());
    if (makes(Mistake::logs_after_shutdown)) start_talking_watchdog(host().services());
    if (makes(Mistake::unloadable_with_thread)) start_silent_watchdog();
  }
  return sdk::make<ChipDevice>(host(), info, *line_);
}

}  // namespace third_chip
