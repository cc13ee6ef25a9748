// SPDX-License-Identifier: Apache-2.0
// The plugin: this machine as a device whose kernels are C. Memory, events and the order of work
// are the helper's defaults.
#include <unistd.h>

#include "generator.h"
#include "micro_kernels.h"
#include "stria/sdk/plugin.h"
#include "system_compiler.h"

namespace c_generator {

class HostDevice final : public stria::sdk::Device {
 public:
  HostDevice(const stria::sdk::Host& host, stria::sdk::DeviceInfo info,
             const SystemCompiler& compiler)
      : Device(host, std::move(info)), compiler_(compiler) {}
  stria::sdk::Ref<stria::sdk::Compiler> create_compiler() override {
    return stria::sdk::make<Generator>(host(), compiler_);
  }

 private:
  const SystemCompiler& compiler_;  // the driver's
};

class HostDriver final : public stria::sdk::Driver {
 public:
  using Driver::Driver;

  std::vector<stria::sdk::DeviceInfo> enumerate() override {
    const uint64_t cores = host().concurrency();
    const auto bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    stria::sdk::DeviceInfo info;
    info.id = "host";
    info.name = "this machine, in C, " + std::to_string(cores) + " cores";
    info.kind = "host";  // of plugin.json
    info.memory_bytes = bytes;
    std::string functions;
    for (const MicroKernel& one : micro_kernels())
      functions += (functions.empty() ? "\"" : ", \"") + std::string(one.name) + "\"";
    // Over the hardware model of the kind.
    info.properties = R"({"exec_units": {"CORE": {"count": )" + std::to_string(cores) +
                      R"(}}, "mem_units": {"DRAM": {"size_KiB": )" + std::to_string(bytes / 1024) +
                      R"(}}, "micro_kernels": [)" + functions + "]}";
    info.available = compiler_.missing().empty();
    info.reason = compiler_.missing();
    return {info};
  }
  stria::sdk::Ref<stria::sdk::Device> open(const stria::sdk::DeviceInfo& info,
                                           std::string_view) override {
    return stria::sdk::make<HostDevice>(host(), info, compiler_);
  }

 private:
  const SystemCompiler compiler_;
};

}  // namespace c_generator

STRIA_PLUGIN(c_generator::HostDriver, "c_generator", "1.0.0")
