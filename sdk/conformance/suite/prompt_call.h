// SPDX-License-Identifier: Apache-2.0
// Calls that may not wait, made while there is something to wait for. One that waits for ever
// hangs; one that gives up after a while is told by its time.
#pragma once

#include <functional>

#include "suite/call_record.h"
#include "suite/case.h"

namespace stria::conformance {

// The longest of the calls that a round has made.
class PromptCalls {
 public:
  void make(Slot slot, const std::function<void()>& call);

  Slot slot() const { return slot_; }
  int64_t longest_ms() const { return longest_ms_; }

 private:
  Slot slot_ = Slot::count;
  int64_t longest_ms_ = -1;
};

// Makes a round; while one of its calls is late, another, three at most. Broken if one was late in
// each: a busy machine takes a thread away now and then, a call that waits is late every time.
Finding unless_late(const std::function<Finding(PromptCalls& calls)>& round);

}  // namespace stria::conformance
