// SPDX-License-Identifier: Apache-2.0
// The child process that runs cases, and what it says to its parent: a JSON object a line.
//   {"begin": 3}   {"end": 3, "ending": "FAIL", "text": "…", "seconds": 0.01, "rule": 17}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/case.h"
#include "suite/subject.h"

namespace stria::conformance {

// Runs these cases in this process, in order, writes to `pipe` how each ends, and ends the process.
// `cases` are indices of `all`.
[[noreturn]] void run_cases_here(const std::vector<Case>& all, const std::vector<size_t>& cases,
                                 const SubjectOptions& options, int pipe);

// Its exit code when nobody can hear it any more: the plugin has closed the pipe.
inline constexpr int kUnheard = 119;

struct WorkerMessage {
  enum class Kind { begin, end };
  Kind kind = Kind::begin;
  size_t index = 0;
  Ending ending = Ending::pass;
  std::string text;
  double seconds = 0;
  std::optional<Rule> rule;  // if it is not the case's own
};
// Nothing for a line that no worker of ours has written: a plugin may write into any descriptor.
std::optional<WorkerMessage> parse_message(std::string_view line);

}  // namespace stria::conformance
