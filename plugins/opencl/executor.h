// SPDX-License-Identifier: Apache-2.0
// Work on a command queue of the driver.
#pragma once

#include <vector>

#include "command.h"
#include "context.h"
#include "stria/sdk/executor.h"

namespace stria::opencl {

class ClExecutor final : public sdk::Executor {
 public:
  explicit ClExecutor(Context& context)
      : Executor(context.host()), context_(context), queue_(context.take_queue()) {}
  ~ClExecutor() override { context_.give_queue(queue_); }

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
  Command launch_command(const sdk::Ref<sdk::Kernel>& kernel,
                         std::vector<sdk::Argument> arguments) const;
  sdk::Ref<sdk::Event> start_one(Command command, sdk::Waits waits);

  Context& context_;
  Queue& queue_;
};

}  // namespace stria::opencl
