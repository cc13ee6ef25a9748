// SPDX-License-Identifier: Apache-2.0
// The process's signal handlers are its owner's. Drivers and the compilers inside them install
// their own when they start: an application would no longer see its user's interrupt, nor a crash.
#pragma once

#include <signal.h>

#include <array>
#include <chrono>
#include <list>

namespace stria::hal {

// While it lives code of a plugin runs; at its end the handlers are what they were before: before
// the first, where several live at once. SIGFPE is left to the plugin: processors that run kernels
// need it for divisions. An application must not change handlers on another thread meanwhile
// (plugins are loaded and devices opened).
class KeptSignals {
 public:
  KeptSignals();
  ~KeptSignals();
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

  static constexpr std::array kNumbers = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGTSTP,
                                          SIGPIPE, SIGCHLD, SIGALRM, SIGSEGV, SIGBUS,
                                          SIGILL,  SIGABRT, SIGTRAP};

 private:
  std::list<std::chrono::steady_clock::time_point>::iterator since_;
};

}  // namespace stria::hal
