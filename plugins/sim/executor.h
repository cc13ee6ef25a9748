// SPDX-License-Identifier: Apache-2.0
// Runs parts on the host's threads. Events have the machine's times, not the host's. The machine
// runs one part after another.
#pragma once

#include <atomic>
#include <vector>

#include "stria/sdk/executor.h"

namespace stria::sim {

class SimExecutor final : public sdk::Executor {
 public:
  using Executor::Executor;
  sdk::Ref<sdk::Event> launch(const sdk::Ref<sdk::Kernel>& kernel,
                              std::vector<sdk::Argument> arguments, sdk::Waits waits) override;

 private:
  // The machine's clock, nanoseconds; shared with works that outlive the executor.
  struct Clock : sdk::Object {
    std::atomic<uint64_t> now_ns{1};  // 0 means that a time is not known
  };
  sdk::Ref<Clock> clock_ = sdk::make<Clock>();
};

}  // namespace stria::sim
