// SPDX-License-Identifier: Apache-2.0
// Which plugin a thread is in. Code of a plugin may end the process or never come back; who then
// speaks (a signal handler, a function at exit, a watchdog) finds here whose code it was.
#pragma once

#include <string_view>

namespace stria::hal {

// One call into a plugin, as long as it lasts; on that thread only.
class CallInFlight {
 public:
  // What both name outlives the call; `slot` ("executor.submit") the process.
  CallInFlight(const char* plugin, std::string_view slot) noexcept
      : plugin_(plugin), slot_(slot), outer_(innermost_) {
    innermost_ = this;
  }
  ~CallInFlight() { innermost_ = outer_; }
  CallInFlight(const CallInFlight&) = delete;
  CallInFlight& operator=(const CallInFlight&) = delete;

  const char* plugin() const { return plugin_; }
  std::string_view slot() const { return slot_; }

  // The calling thread's innermost one, or null. Safe in a signal handler.
  static const CallInFlight* innermost() noexcept { return innermost_; }

 private:
  const char* plugin_;
  std::string_view slot_;
  const CallInFlight* outer_;
  static thread_local constinit inline const CallInFlight* innermost_ = nullptr;
};

// What is told of a plugin that ends the thread that called it (pthread_exit), on that thread,
// which is lost; null: nothing. For a process that cannot go on without the thread.
void set_end_of_thread_handler(void (*handler)(const CallInFlight&)) noexcept;
void end_of_thread(const CallInFlight& call) noexcept;

}  // namespace stria::hal
