// SPDX-License-Identifier: Apache-2.0
#include "chip_executor.h"

#include <utility>

#include "chip_kernel.h"
#include "chosen.h"
#include "store.h"

namespace third_chip {

namespace sdk = stria::sdk;

sdk::Ref<sdk::Event> ChipExecutor::launch(const sdk::Ref<sdk::Kernel>& kernel,
                                          std::vector<sdk::Argument> arguments, sdk::Waits waits) {
  if (makes(Mistake::submit_blocks))
    for (uint64_t i = 0; i < waits.count; ++i) waits.events[i]->wait(UINT64_MAX);
  return line_.run(tracker(), waits, [kernel, arguments = std::move(arguments)] {
    // Kernels and buffers of this device are of these classes only.
    static_cast<const ChipKernel&>(*kernel).launch(arguments);
  });
}

sdk::Ref<sdk::Event> ChipExecutor::copy(sdk::Argument source, sdk::Argument target, uint64_t bytes,
                                        sdk::Waits waits) {
  return line_.run(
      tracker(), waits, [source = std::move(source), target = std::move(target), bytes] {
        store_of(source).copy_to(source.offset, store_of(target), target.offset, bytes);
      });
}

sdk::Ref<sdk::Event> ChipExecutor::fill(sdk::Argument target, uint64_t bytes,
                                        std::vector<std::byte> pattern, sdk::Waits waits) {
  return line_.run(tracker(), waits,
                   [target = std::move(target), bytes, pattern = std::move(pattern)] {
                     store_of(target).fill(target.offset, bytes, pattern);
                   });
}

bool ChipExecutor::drain(uint64_t timeout_ns) {
  return makes(Mistake::drain_returns_early) || Executor::drain(timeout_ns);
}

}  // namespace third_chip
