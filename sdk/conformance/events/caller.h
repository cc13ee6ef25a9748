// SPDX-License-Identifier: Apache-2.0
// One call of a slot on a thread of its own: for calls that wait.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "memory/bench.h"

namespace stria::conformance {

// Not movable. Not thread-safe.
class Caller {
 public:
  // Calls at once. `rescue` is what a case that fails does so that the call comes back.
  Caller(const Bench& bench, Slot slot, std::function<stria_error*()> call,
         std::function<void()> rescue);
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller();

  // Waits until the call is under way, and a moment longer. No case depends on the moment: it is
  // there so that wrong plugins show what they do.
  void let_it_begin() const;
  bool returned() const { return returned_; }
  // Waits for its return; with a limit, after which it says that the call hangs.
  Status result();

 private:
  const Bench& bench_;
  const Slot slot_;
  const std::function<void()> rescue_;
  std::atomic<bool> begun_{false}, returned_{false};
  stria_error* error_ = nullptr;
  std::thread thread_;
};

}  // namespace stria::conformance
