// SPDX-License-Identifier: Apache-2.0
// Work on command queues of the driver: one for launches, copies, fills and batches whose every
// command's event is asked for, out of order where the device can, and one in order for all other
// batches. So such batches of one executor never overlap, related or not: what would be idle while
// one runs stays idle. They overlap with what the other queue has, and with other executors.
#pragma once

#include <mutex>
#include <vector>

#include "command.h"
#include "context.h"
#include "stria/sdk/executor.h"

namespace stria::opencl {

class ClExecutor final : public sdk::Executor {
 public:
  explicit ClExecutor(Context& context)
      : Executor(context.host()), context_(context), queue_(context.take_queue()) {}
  ~ClExecutor() override;

  // Everything is handed to the device at once: flush has nothing left to do.
  sdk::Ref<sdk::Event> launch(const sdk::Ref<sdk::Kernel>& kernel,
                              std::vector<sdk::Argument> arguments, sdk::Waits waits) override;
  sdk::Ref<sdk::Event> submit(std::vector<sdk::Launch> launches, sdk::Waits waits,
                              std::vector<sdk::Ref<sdk::Event>>* each) override;
  sdk::Ref<sdk::Event> copy(sdk::Argument source, sdk::Argument target, uint64_t bytes,
                            sdk::Waits waits) override;
  sdk::Ref<sdk::Event> fill(sdk::Argument target, uint64_t bytes, std::vector<std::byte> pattern,
                            sdk::Waits waits) override;

 private:
  sdk::Ref<sdk::Event> start_one(Command command, sdk::Waits waits);
  // The one for batches of which nobody asks for each command's event: in order, the driver need
  // not be told of any wait within it.
  Queue& queue_in_order();

  Context& context_;
  Queue& queue_;
  std::mutex mutex_;
  Queue* in_order_ = nullptr;  // guarded by mutex_; taken when first needed
};

}  // namespace stria::opencl
