// SPDX-License-Identifier: Apache-2.0
// A piece of a case in a process of its own, whose end and whose output are what the case looks at.
#pragma once

#include <functional>
#include <string>

#include "stria/base/status.h"

namespace stria::conformance {

struct ForkedEnd {
  bool in_time = true;  // false: it was ended after the limit
  int wait_status = 0;
  std::string printed;  // on both outputs
  std::string said;     // through Say
};

// Kept for the parent; texts follow each other.
using Say = std::function<void(const std::string& text)>;

// Forks. The child runs `work`, unless that ends the process before, and ends by ::_exit with what
// it returns. No thread but the caller's may run if `work` uses a plugin.
Result<ForkedEnd> run_forked(const std::function<int(const Say& say)>& work, int limit_ms = 30'000);

// `work` in a child; its status is what comes back, or how the child ended otherwise. Fails too if
// the child printed anything and `quiet`.
Status status_forked(const std::function<Status()>& work, bool quiet = false,
                     int limit_ms = 30'000);

// "exit code 7", "crashed: Aborted", "did not end".
std::string words_for(const ForkedEnd& end);

}  // namespace stria::conformance
