// SPDX-License-Identifier: Apache-2.0
// Work of the chip, done on the host's worker threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stria/sdk/executor.h"

namespace stria::blind {

class ChipExecutor final : public sdk::Executor {
 public:
  explicit ChipExecutor(const sdk::Host& host) : Executor(host), queue_(sdk::make<QueueState>()) {}

  sdk::Ref<sdk::Event> launch(const sdk::Ref<sdk::Kernel>& kernel,
                              std::vector<sdk::Argument> arguments, sdk::Waits waits) override;
  sdk::Ref<sdk::Event> submit(std::vector<sdk::Launch> launches, sdk::Waits waits,
                              std::vector<sdk::Ref<sdk::Event>>* each) override;
  sdk::Ref<sdk::Event> copy(sdk::Argument source, sdk::Argument target, uint64_t bytes,
                            sdk::Waits waits) override;
  sdk::Ref<sdk::Event> fill(sdk::Argument target, uint64_t bytes, std::vector<std::byte> pattern,
                            sdk::Waits waits) override;
  bool drain(uint64_t timeout_ns) override;

  // The mistake fill_pattern_by_pointer: `pattern` is read when the fill starts.
  sdk::Ref<sdk::Event> fill_later(sdk::Argument target, uint64_t bytes, const std::byte* pattern,
                                  uint64_t pattern_size, sdk::Waits waits);
  // The mistake executor_release_cancels: what has not started by now fails.
  void cancel() { queue_->cancelled.store(true); }

 private:
  // Work in flight outlives the executor, so this does.
  struct QueueState final : sdk::Object {
    std::atomic<bool> cancelled{false};
    std::atomic<uint64_t> open_works{0};  // counted for queue_full_blocks alone
  };

  // Body runs on a worker thread when `waits` are over.
  template <typename Body>
  sdk::Ref<sdk::Event> start(sdk::Waits waits, Body body);

  const sdk::Ref<QueueState> queue_;
};

}  // namespace stria::blind
