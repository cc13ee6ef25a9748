// SPDX-License-Identifier: Apache-2.0
// How the command ends if something went wrong: the exit code says whose mistake it was, and one
// message on stderr says what it was.
#pragma once

#include <optional>
#include <string>

#include "stria/base/status.h"

namespace stria::command {

enum class ExitCode : int {
  success = 0,
  program = 1,  // program, file, shape, value or unwritable output
  usage = 2,    // unknown option, malformed or empty selector, unknown input or output name
  device = 3,   // nothing matches the selector; device or plugin failed
  bug = 4,      // ours
};

// A failed Status and whose mistake it was. Statuses that say `internal` are always ours.
class [[nodiscard]] Outcome {
 public:
  Outcome() = default;
  Outcome(ExitCode code, Status status)
      : code_(status.code() == StatusCode::internal ? ExitCode::bug : code),
        status_(std::move(status)) {}
  bool ok() const { return status_.ok(); }
  ExitCode code() const { return ok() ? ExitCode::success : code_; }
  const Status& status() const { return status_; }

 private:
  ExitCode code_ = ExitCode::success;
  Status status_;
};

// STRIA_OR_FAIL(auto x, ExitCode::program, f()): x = the value of f(), or return its failure.
#define STRIA_OR_FAIL(target, code, expression) \
  STRIA_OR_FAIL_(STRIA_CONCAT(stria_result_, __LINE__), target, code, expression)
#define STRIA_OR_FAIL_(name, target, code, expression)                   \
  auto name = (expression);                                              \
  if (!name.ok()) return ::stria::command::Outcome(code, name.status()); \
  target = std::move(name).value()
#define STRIA_FAIL_IF_ERROR(code, expression)                              \
  do {                                                                     \
    if (::stria::Status stria_status_ = (expression); !stria_status_.ok()) \
      return ::stria::command::Outcome(code, stria_status_);               \
  } while (false)
#define STRIA_FAIL_IF(expression)                                                      \
  do {                                                                                 \
    if (::stria::command::Outcome stria_outcome_ = (expression); !stria_outcome_.ok()) \
      return stria_outcome_;                                                           \
  } while (false)

}  // namespace stria::command
