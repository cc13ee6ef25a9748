// SPDX-License-Identifier: Apache-2.0
// Launches, copies and fills: each starts on the line when the events that it waits for are over.
#pragma once

#include <vector>

#include "stria/sdk/executor.h"
#include "work_line.h"

namespace third_chip {

class ChipExecutor final : public stria::sdk::Executor {
 public:
  ChipExecutor(const stria::sdk::Host& host, WorkLine& line) : Executor(host), line_(line) {}
  stria::sdk::Ref<stria::sdk::Event> launch(const stria::sdk::Ref<stria::sdk::Kernel>& kernel,
                                            std::vector<stria::sdk::Argument> arguments,
                                            stria::sdk::Waits waits) override;
  stria::sdk::Ref<stria::sdk::Event> copy(stria::sdk::Argument source, stria::sdk::Argument target,
                                          uint64_t bytes, stria::sdk::Waits waits) override;
  stria::sdk::Ref<stria::sdk::Event> fill(stria::sdk::Argument target, uint64_t bytes,
                                          std::vector<std::byte> pattern,
                                          stria::sdk::Waits waits) override;
  bool drain(uint64_t timeout_ns) override;

 private:
  WorkLine& line_;  // the driver's
};

}  // namespace third_chip
