// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/signal_stack.h"

#include <sys/mman.h>

namespace stria::hal {

SignalStack::SignalStack() noexcept {
  stack_t there{};
  if (::sigaltstack(nullptr, &there) != 0 || (there.ss_flags & SS_DISABLE) == 0) return;
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t mine{};
  mine.ss_sp = memory;
  mine.ss_size = kBytes;
  if (::sigaltstack(&mine, nullptr) == 0)
    memory_ = memory;
  else
    ::munmap(memory, kBytes);
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  stack_t there{};
  // Whoever has put another one in its place takes care of that.
  if (::sigaltstack(nullptr, &there) == 0 && there.ss_sp == memory_) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  ::munmap(memory_, kBytes);
}

}  // namespace stria::hal
