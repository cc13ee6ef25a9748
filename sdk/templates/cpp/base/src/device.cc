// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include "buffer.h"
#include "compiler.h"
#include "executor.h"

namespace acme_plugin {

namespace sdk = stria::sdk;

sdk::Ref<sdk::Compiler> AcmeDevice::create_compiler() { return sdk::make<AcmeCompiler>(host()); }

sdk::Ref<sdk::Executor> AcmeDevice::create_executor(std::string_view) {
  return sdk::make<AcmeExecutor>(host(), queue_);
}

// `memory` names a memory unit of hw/npu.json that tensors of the program lie in. There is one,
// main_memory().
sdk::Ref<sdk::Buffer> AcmeDevice::allocate(uint64_t bytes, std::string_view memory) {
  must_be_main(memory);
  return sdk::make<AcmeBuffer>(host(), queue_, budget_, bytes);
}

}  // namespace acme_plugin
