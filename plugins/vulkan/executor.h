// SPDX-License-Identifier: Apache-2.0
// Kernels, copies and fills on a queue of the device.
#pragma once

#include <vector>

#include "command.h"
#include "context.h"
#include "launch_batch.h"
#include "stria/sdk/executor.h"

namespace stria::vulkan {

class VulkanExecutor final : public sdk::Executor {
 public:
  explicit VulkanExecutor(Context& context);
  ~VulkanExecutor() override;

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
  Context& context_;
  Queue& queue_;
  const sdk::Ref<RecordingCache> recordings_;
};

}  // namespace stria::vulkan
