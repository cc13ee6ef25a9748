// SPDX-License-Identifier: Apache-2.0
// Runs cases in child processes and says how each ended. No case reaches the process that asks:
// not by a crash, an exit, a hang, a changed limit, a flood of output or a process left behind.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "suite/call_record.h"
#include "suite/case.h"
#include "suite/subject.h"

namespace stria::conformance {

struct CaseResult {
  size_t index = 0;  // of the case
  Ending ending = Ending::skip;
  std::string text;    // what was wrong; or why it was skipped
  std::string output;  // the end of what its process printed, if it did not end well
  double seconds = 0;
  std::optional<Rule> rule;  // of a failure, if it is not the case's own
  bool is_tried = true;      // else skipped since too many cases of its group hang
};

struct RunOptions {
  SubjectOptions subject;  // `record` is set by the runner
  int jobs = 1;            // processes at once
  // The cases of a group that may hang, or fail after a wait of seconds, before the rest of the
  // group is skipped. For each group that was so given up, the next ones may hang half as often,
  // and once at least: a plugin that hangs everywhere gets its verdict in minutes.
  int hangs = 8;
  // Told how many of the cases are done; may be empty.
  std::function<void(size_t done, size_t all)> progress;
  // Becomes true: children are ended and the run with them. May be null.
  const std::atomic<bool>* stop = nullptr;
};

struct RunResult {
  std::vector<CaseResult> cases;  // in the order of `which`
  CallRecord* record = nullptr;   // of all processes together; never null after a run that began
  bool stopped = false;
};

// `which` are indices of `all`, in the order in which they run. Fails if no process can be started
// at all. No thread but the caller's may run in this process. Reaps all of its children.
Result<RunResult> run_cases(const std::vector<Case>& all, const std::vector<size_t>& which,
                            const RunOptions& options);

}  // namespace stria::conformance
