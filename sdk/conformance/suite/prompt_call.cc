// SPDX-License-Identifier: Apache-2.0
#include "suite/prompt_call.h"

#include <chrono>

#include "suite/patience.h"

namespace stria::conformance {
namespace {

// Beyond what a thread that has been taken away usually waits for its turn.
constexpr int kLateMs = 4 * kSlowMs;
constexpr int kRounds = 3;

}  // namespace

void PromptCalls::make(Slot slot, const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  const int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::steady_clock::now() - begin)
                         .count();
  if (ms <= longest_ms_) return;
  longest_ms_ = ms;
  slot_ = slot;
}

Finding unless_late(const std::function<Finding(PromptCalls& calls)>& round) {
  for (int i = 0;; ++i) {
    PromptCalls calls;
    Finding finding = round(calls);
    if (finding.ending() != Ending::pass || calls.longest_ms() <= patience_ms(kLateMs))
      return finding;
    if (i + 1 == kRounds)
      return broken_rule(Rule::returns_at_once,
                         "{} returned after {} ms, in each of {} tries late: it waits",
                         name_of(calls.slot()), calls.longest_ms(), kRounds);
  }
}

}  // namespace stria::conformance
