// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/call_in_flight.h"

#include <atomic>

namespace stria::hal {
namespace {

std::atomic<void (*)(const CallInFlight&)> handler = nullptr;

}  // namespace

void set_end_of_thread_handler(void (*function)(const CallInFlight&)) noexcept {
  handler.store(function);
}

void end_of_thread(const CallInFlight& call) noexcept {
  if (auto* function = handler.load()) function(call);
}

}  // namespace stria::hal
