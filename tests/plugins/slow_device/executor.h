// SPDX-License-Identifier: Apache-2.0
// Work on the device: every launch, copy and fill goes to a queue of its own chance, so that even
// one executor's works overlap and overtake each other.
#pragma once

#include <vector>

#include "queue.h"
#include "stria/sdk/executor.h"

namespace stria::slow_device {

class SlowExecutor final : public sdk::Executor {
 public:
  SlowExecutor(const sdk::Host& host, Queues& queues) : Executor(host), queues_(queues) {}
  sdk::Ref<sdk::Event> launch(const sdk::Ref<sdk::Kernel>& kernel,
                              std::vector<sdk::Argument> arguments, sdk::Waits waits) override;
  sdk::Ref<sdk::Event> copy(sdk::Argument source, sdk::Argument target, uint64_t bytes,
                            sdk::Waits waits) override;
  sdk::Ref<sdk::Event> fill(sdk::Argument target, uint64_t bytes, std::vector<std::byte> pattern,
                            sdk::Waits waits) override;

 private:
  Queues& queues_;
};

}  // namespace stria::slow_device
