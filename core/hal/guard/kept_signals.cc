// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/kept_signals.h"

#include <algorithm>
#include <array>
#include <mutex>

namespace stria::hal {
namespace {

using Clock = std::chrono::steady_clock;

// A call that has not come back by then hangs, and what the owner has set since counts again.
constexpr std::chrono::seconds kLongest{60};

// Several plugins may be at it at once: the first finds the owner's handlers, and each puts them
// back. One that went by what it found itself would keep what another plugin has put there.
struct Kept {
  std::mutex mutex;
  std::list<Clock::time_point> users;  // since when
  std::array<struct sigaction, KeptSignals::kNumbers.size()> before{};
};
Kept& kept() {
  static Kept& process = *new Kept;  // threads may use it to the end
  return process;
}

void put_back(const Kept& state) {
  for (size_t i = 0; i < KeptSignals::kNumbers.size(); ++i) {
    struct sigaction now{};
    ::sigaction(KeptSignals::kNumbers[i], nullptr, &now);
    // One union: the address of either form of handler.
    if (now.sa_handler != state.before[i].sa_handler)
      ::sigaction(KeptSignals::kNumbers[i], &state.before[i], nullptr);
  }
}

}  // namespace

KeptSignals::KeptSignals() {
  Kept& state = kept();
  const std::lock_guard lock(state.mutex);
  const Clock::time_point now = Clock::now();
  const bool alone = std::all_of(state.users.begin(), state.users.end(),
                                 [&](Clock::time_point since) { return now - since > kLongest; });
  since_ = state.users.insert(state.users.end(), now);
  if (!alone) return;
  for (size_t i = 0; i < kNumbers.size(); ++i) ::sigaction(kNumbers[i], nullptr, &state.before[i]);
}

// Each puts them back, not the last alone: a plugin that hangs never comes to its end.
KeptSignals::~KeptSignals() {
  Kept& state = kept();
  const std::lock_guard lock(state.mutex);
  if (Clock::now() - *since_ <= kLongest) put_back(state);
  state.users.erase(since_);
}

}  // namespace stria::hal
