// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <nlohmann/json.hpp>

#include "buffer.h"
#include "executor.h"

namespace stria::slow_device {
namespace {

Options parse(const std::string& text) {
  Options options;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object())
    throw sdk::Error(STRIA_INVALID_ARGUMENT, "driver options are not a JSON object: " + text);
  for (const auto& [key, value] : json.items()) {
    uint64_t* target = key == "seed"           ? &options.seed
                       : key == "queues"       ? &options.queues
                       : key == "delay_us"     ? &options.delay_us
                       : key == "memory_bytes" ? &options.memory_bytes
                       : key == "fail_launch"  ? &options.fail_launch
                                               : nullptr;
    if (target == nullptr)
      throw sdk::Error(STRIA_INVALID_ARGUMENT, "no driver option '" + key +
                                                   "'; there are seed, "
                                                   "queues, delay_us, memory_bytes and "
                                                   "fail_launch");
    if (!value.is_number_unsigned() || (key == "queues" && value == 0))
      throw sdk::Error(STRIA_INVALID_ARGUMENT, "driver option '" + key + "' is " + value.dump() +
                                                   ", not a positive number");
    *target = value.get<uint64_t>();
  }
  return options;
}

}  // namespace

SlowDriver::SlowDriver(const sdk::Host& host, sdk::DriverOptions options)
    : Driver(host, std::move(options)),
      options_(parse(this->options().options)),
      queues_(options_) {}

std::vector<sdk::DeviceInfo> SlowDriver::enumerate() {
  sdk::DeviceInfo info;
  info.id = "slow";
  info.name = "slow device";
  info.kind = "slow";
  info.vendor = "stria";
  info.memory_bytes = options_.memory_bytes;
  return {info};
}

sdk::Ref<sdk::Device> SlowDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  host().log(STRIA_LOG_INFO, "slow_device: seed " + std::to_string(options_.seed));
  return sdk::make<SlowDevice>(host(), info, queues_);
}

sdk::Ref<sdk::Executor> SlowDevice::create_executor(std::string_view) {
  return sdk::make<SlowExecutor>(host(), queues_);
}

sdk::Ref<sdk::Buffer> SlowDevice::allocate(uint64_t bytes, std::string_view memory) {
  must_be_main(memory);
  return sdk::make<GlobalBuffer>(host(), queues_, budget_, bytes);
}

}  // namespace stria::slow_device
