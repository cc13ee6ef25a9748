// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include "compiler.h"
#include "emit/compiled_kernels.h"
#include "host_rates.h"
#include "processor.h"
#include "stria/base/cache_folder.h"

namespace stria::llvm_cpu {

std::vector<sdk::DeviceInfo> CpuDriver::enumerate() {
  const Processor processor = read_processor(host().concurrency());
  sdk::DeviceInfo info;
  info.id = "cpu";
  info.name = describe(processor);
  info.kind = "cpu";
  info.vendor = processor.vendor;
  info.memory_bytes = processor.memory_bytes;
  info.properties = properties_json(processor, nullptr);
  const Status status = check_processor();
  info.available = status.ok();
  info.reason = status.message();
  return {info};
}

sdk::Ref<sdk::Device> CpuDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  if (const Status status = check_processor(); !status.ok())
    throw sdk::Error(STRIA_UNAVAILABLE, status.message());
  const Processor processor = read_processor(host().concurrency());
  std::optional<HostRates> rates;  // without them the model's defaults hold
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Opening has a limit of some seconds, in all. With a sanitizer in it the compiler would be so
  // slow that this one were met, and each process would try again.
  constexpr std::chrono::milliseconds kMeasuringLimit(1500);
  rates = host_rates(processor, user_cache_folder(), kMeasuringLimit);
#endif
  sdk::DeviceInfo opened = info;
  opened.properties = properties_json(processor, rates ? &*rates : nullptr);
  return sdk::make<CpuDevice>(host(), opened);
}

sdk::Ref<sdk::Compiler> CpuDevice::create_compiler() { return sdk::make<CpuCompiler>(host()); }

}  // namespace stria::llvm_cpu
