// SPDX-License-Identifier: Apache-2.0
// Launches, copies and fills: each starts on the queue when the events that it waits for are over.
#pragma once

#include <vector>

#include "queue.h"
#include "stria/sdk/executor.h"

namespace acme_plugin {

class AcmeExecutor final : public stria::sdk::Executor {
 public:
  AcmeExecutor(const stria::sdk::Host& host, Queue& queue) : Executor(host), queue_(queue) {}
  stria::sdk::Ref<stria::sdk::Event> launch(const stria::sdk::Ref<stria::sdk::Kernel>& kernel,
                                            std::vector<stria::sdk::Argument> arguments,
                                            stria::sdk::Waits waits) override;
  stria::sdk::Ref<stria::sdk::Event> copy(stria::sdk::Argument source, stria::sdk::Argument target,
                                          uint64_t bytes, stria::sdk::Waits waits) override;
  stria::sdk::Ref<stria::sdk::Event> fill(stria::sdk::Argument target, uint64_t bytes,
                                          std::vector<std::byte> pattern,
                                          stria::sdk::Waits waits) override;

 private:
  Queue& queue_;  // the driver's
};

}  // namespace acme_plugin
