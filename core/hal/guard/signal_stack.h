// SPDX-License-Identifier: Apache-2.0
// Room for signal handlers on a thread of ours. A process that reports its crashes has handlers
// that ask for a stack of their own (SA_ONSTACK), because the thread's may be what has overflowed:
// code generators recurse. Each thread brings its own: those of the host on which plugins run have
// one. Threads of the application, and those that plugins start, are for them to see to.
#pragma once

#include <signal.h>

#include <cstddef>

namespace stria::hal {

// The calling thread's alternate signal stack as long as the object lives; on that thread only.
// Does nothing where the thread has one, or where the system has no memory for it.
class SignalStack {
 public:
  SignalStack() noexcept;
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

  // Enough for a handler that writes a file; touched only if a signal comes. Libraries that want
  // 64 KiB beside the registers that the system saves are content and bring none of their own.
  static constexpr size_t kBytes = size_t{256} << 10;

 private:
  void* memory_ = nullptr;
};

}  // namespace stria::hal
