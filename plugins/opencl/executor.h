// SPDX-License-Identifier: Apache-2.0
// A command queue of the driver.
#pragma once

#include <vector>

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
  sdk::Ref<sdk::Event> copy(sdk::Argument source, sdk::Argument target, uint64_t bytes,
                            sdk::Waits waits) override;
  sdk::Ref<sdk::Event> fill(sdk::Argument target, uint64_t bytes, std::vector<std::byte> pattern,
                            sdk::Waits waits) override;

 private:
  Context& context_;
  const cl_command_queue queue_;
};

}  // namespace stria::opencl
