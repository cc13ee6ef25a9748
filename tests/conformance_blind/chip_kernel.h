// SPDX-License-Identifier: Apache-2.0
// A kernel of the chip, which the host's interpreter computes.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "stria/sdk/executor.h"
#include "stria/sdk/library.h"

namespace stria::blind {

class ChipKernel final : public sdk::Kernel {
 public:
  ChipKernel(const sdk::Host& host, stria_host_kernel* kernel, stria_program_part part)
      : kernel_(host, kernel), part_(part) {}
  void run(const stria_memory* arguments, uint64_t count) const override;
  // The same with arguments of buffers.
  void run_on(const std::vector<sdk::Argument>& arguments) const;

  // The mistake kernel_keeps_arguments: they are set on the kernel, as some APIs have it, and a run
  // takes those that are there when its turn comes.
  void set_arguments(std::vector<sdk::Argument> arguments);
  std::vector<sdk::Argument> arguments() const;

 private:
  const sdk::HostKernel kernel_;
  const stria_program_part part_;
  mutable std::atomic<bool> ran_{false};
  mutable std::mutex mutex_;
  std::vector<sdk::Argument> arguments_;  // guarded by mutex_
};

}  // namespace stria::blind
