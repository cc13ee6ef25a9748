// SPDX-License-Identifier: Apache-2.0
#include "chip_driver.h"

#include <fcntl.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "chip_buffer.h"
#include "chip_compiler.h"
#include "chip_executor.h"
#include "mistake.h"
#include "stria/sdk/error.h"
#include "stripe_lines.h"

namespace stria::blind {
namespace {

// As in hw/chip.json.
constexpr uint64_t kMemoryBytes = uint64_t{6} << 30;
constexpr std::string_view kMainMemory = "DRAM";

// The mistake thread_left: a watch over the chip that nobody ends.
void watch_for_ever() {
  static std::atomic<uint64_t> looks{0};
  std::thread([] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      looks.fetch_add(1);
    }
  }).detach();
}

}  // namespace

sdk::Ref<sdk::Compiler> ChipDevice::create_compiler() { return sdk::make<ChipCompiler>(host()); }

sdk::Ref<sdk::Executor> ChipDevice::create_executor(std::string_view) {
  return sdk::make<ChipExecutor>(host());
}

sdk::Ref<sdk::Buffer> ChipDevice::allocate(uint64_t bytes, std::string_view memory) {
  if (!memory.empty() && memory != kMainMemory)
    throw sdk::Error(STRIA_NOT_FOUND, "no memory '" + std::string(memory) + "'; there is '" +
                                          std::string(kMainMemory) + "'");
  return sdk::make<ChipBuffer>(host(), heap_, bytes);
}

stria_estimate ChipDevice::estimate(std::string_view stripe, std::string_view options) {
  if (!makes(Mistake::estimate_in_microseconds)) return Device::estimate(stripe, options);
  // What the interpreter takes for a point, and a thousandth of it: the model behind this counts in
  // microseconds.
  constexpr uint64_t kPointNs = 40;
  const uint64_t time = points_of(stripe) * kPointNs / 1000 + 1;
  stria_estimate out{};
  out.time_ns = time;
  out.low_time_ns = time / 2 + 1;
  out.high_time_ns = time * 2;
  return out;
}

ChipDriver::ChipDriver(const sdk::Host& host, sdk::DriverOptions options)
    : Driver(host, std::move(options)), heap_(sdk::make<Heap>(host, kMemoryBytes)) {
  if (makes(Mistake::unknown))
    throw sdk::Error(STRIA_INVALID_ARGUMENT,
                     "the file 'mistake' in " + this->options().directory +
                         " names none of the mistakes that this plugin can make");
}

std::vector<sdk::DeviceInfo> ChipDriver::enumerate() {
  if (makes(Mistake::enumerate_keeps_descriptor))
    (void)::open((options().directory + "/plugin.json").c_str(), O_RDONLY | O_CLOEXEC);
  sdk::DeviceInfo chip;
  chip.id = "slot-0";
  chip.name = "blind chip";
  chip.kind = "chip";
  chip.vendor = "stria";
  chip.memory_bytes = makes(Mistake::memory_bytes_in_kib) ? kMemoryBytes / 1024 : kMemoryBytes;
  sdk::DeviceInfo empty;
  empty.id = "slot-1";
  empty.name = "blind chip, second slot";
  empty.kind = "chip";
  empty.vendor = "stria";
  empty.available = false;
  empty.reason = "there is no chip in the second slot";
  return {chip, empty};
}

sdk::Ref<sdk::Device> ChipDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  if (makes(Mistake::thread_left)) watch_for_ever();
  return sdk::make<ChipDevice>(host(), info, heap_);
}

}  // namespace stria::blind
