// SPDX-License-Identifier: Apache-2.0
#include "child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "standard_output.h"

namespace stria::command {
namespace {

// Nobody else's exit() is likely to use it, as those of WorkEnd.
constexpr int kOutOfMemory = 95;

}  // namespace

std::string failure_of(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return fmt::format("crashed: {}", ::strsignal(WTERMSIG(wait_status)));
  if (WEXITSTATUS(wait_status) == kOutOfMemory) return "ran out of memory";
  return fmt::format("ended the process with exit code {}", WEXITSTATUS(wait_status));
}

void end_after(const std::function<int()>& work) noexcept {
  int code = kOutOfMemory;
  try {
    code = work();
  } catch (const std::bad_alloc&) {
  }
  ::_exit(code);
}

Result<int> wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return make_error(StatusCode::unavailable, "ended, and the system does not say how ({})",
                        std::strerror(errno));
  return status;
}

std::string no_child(int error) {
  return fmt::format("no process can be started ({}): see ulimit -u", std::strerror(error));
}

ChildEnd run_in_child(const std::function<WorkEnd()>& work, Prints prints) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return {WorkEnd::well, no_child(errno), false};
  if (child == 0) {
    if (prints == Prints::no) {
      const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
    }
    end_after([&] {
      WorkEnd end = work();
      if (!is_written(stdout) && end != WorkEnd::hangs) end = WorkEnd::unwritable;
      std::fflush(nullptr);
      return static_cast<int>(end);
    });
  }
  const Result<int> status = wait_for(child);
  if (!status.ok()) return {WorkEnd::well, status.status().message()};
  for (WorkEnd end : {WorkEnd::well, WorkEnd::hangs, WorkEnd::unwritable, WorkEnd::without_result})
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == static_cast<int>(end)) return {end, ""};
  return {WorkEnd::well, failure_of(*status)};
}

}  // namespace stria::command
