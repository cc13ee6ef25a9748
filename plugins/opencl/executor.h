// SPDX-License-Identifier: Apache-2.0
// Work on command queues of the driver. There are two: one for launches, copies, fills and those
// batches for which the event of every command is asked, out of order if the device can; and one in
// order for all other batches. So such batches of one executor never overlap, related or not: units
// that one leaves idle stay idle. They overlap with the work of the other queue, and of other
// executors.
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
  // The queue for batches for which nobody asks for each command's event. It is in order, so that
  // the driver need not be told of any wait within a batch.
  Queue& queue_in_order();

  Context& context_;
  Queue& queue_;
  std::mutex mutex_;
  Queue* in_order_ = nullptr;  // guarded by mutex_; taken when first needed
};

}  // namespace stria::opencl
