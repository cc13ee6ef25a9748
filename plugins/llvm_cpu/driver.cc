// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include "compiler.h"
#include "processor.h"

namespace stria::llvm_cpu {

std::vector<sdk::DeviceInfo> CpuDriver::enumerate() {
  const Processor processor = read_processor(host().concurrency());
  sdk::DeviceInfo info;
  info.id = "cpu";
  info.name = describe(processor);
  info.kind = "cpu";
  info.vendor = processor.vendor;
  info.memory_bytes = processor.memory_bytes;
  info.properties = properties_json(processor);
  return {info};
}

sdk::Ref<sdk::Device> CpuDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  return sdk::make<CpuDevice>(host(), info);
}

sdk::Ref<sdk::Compiler> CpuDevice::create_compiler() { return sdk::make<CpuCompiler>(host()); }

}  // namespace stria::llvm_cpu
