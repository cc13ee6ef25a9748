// SPDX-License-Identifier: Apache-2.0
// What the runners do about a device that fails: they say it, keep the device out for a while, and
// give back what it holds.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "stria/base/status.h"
#include "stria/hal/guard/timed_call.h"
#include "stria/runtime/program_runner.h"

namespace stria {

// Does what went wrong in compiling go away by itself? If not, the same program fails again.
bool may_pass(StatusCode code);

// "acme:0 is lost: …", in one line.
std::string what_happened(const std::string& device, RunStage stage, const Status& failure);

// How long a device is kept out that has failed `in_a_row` times before: twice as long each time.
std::chrono::nanoseconds wait_after(std::chrono::nanoseconds first,
                                    std::chrono::nanoseconds longest, int in_a_row);

// Gives back what belongs to work that hangs. The plugin may wait for that work there: then it is
// a thread of ours that waits, and not the caller's.
template <typename T>
void drop_what_hangs(T held) {
  constexpr std::chrono::milliseconds kPatience{100};
  const auto kept = std::make_shared<T>(std::move(held));
  hal::TimedCall call([kept]() -> Status {
    *kept = T();
    return Status();
  });
  (void)call.done_within(kPatience);
}

}  // namespace stria
