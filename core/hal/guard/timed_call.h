// SPDX-License-Identifier: Apache-2.0
// Calls into plugins that may never come back: each runs on a thread of its own, which is left
// behind when the caller's patience ends. What such a call uses must live as long as its thread.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <string_view>
#include <thread>

#include "stria/base/status.h"

namespace stria::hal {

class TimedCall {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts at once. `work` does not throw.
  explicit TimedCall(std::function<Status()> work);
  TimedCall(TimedCall&&) = default;
  TimedCall& operator=(TimedCall&&) = default;
  ~TimedCall();

  // Waits until the call is done or `limit` after its start.
  bool done_within(std::chrono::nanoseconds limit);
  // Its outcome; deadline_exceeded, with what was called, if it is not done `limit` after its
  // start. Once.
  Status outcome(std::chrono::nanoseconds limit, std::string_view what);

 private:
  Clock::time_point start_;
  std::future<Status> result_;
  std::thread thread_;
};

}  // namespace stria::hal
