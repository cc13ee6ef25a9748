// SPDX-License-Identifier: Apache-2.0
#include "executor.h"

#include <utility>

#include "buffer.h"
#include "kernel.h"

namespace acme_plugin {

namespace sdk = stria::sdk;

sdk::Ref<sdk::Event> AcmeExecutor::launch(const sdk::Ref<sdk::Kernel>& kernel,
                                          std::vector<sdk::Argument> arguments, sdk::Waits waits) {
  return queue_.run(tracker(), waits, [kernel, arguments = std::move(arguments)] {
    // Kernels and buffers of this device are of these classes only.
    static_cast<const AcmeKernel&>(*kernel).launch(arguments);
  });
}

sdk::Ref<sdk::Event> AcmeExecutor::copy(sdk::Argument source, sdk::Argument target, uint64_t bytes,
                                        sdk::Waits waits) {
  return queue_.run(
      tracker(), waits, [source = std::move(source), target = std::move(target), bytes] {
        buffer_of(source).copy_to(source.offset, buffer_of(target), target.offset, bytes);
      });
}

sdk::Ref<sdk::Event> AcmeExecutor::fill(sdk::Argument target, uint64_t bytes,
                                        std::vector<std::byte> pattern, sdk::Waits waits) {
  return queue_.run(tracker(), waits,
                    [target = std::move(target), bytes, pattern = std::move(pattern)] {
                      buffer_of(target).fill(target.offset, bytes, pattern);
                    });
}

}  // namespace acme_plugin
