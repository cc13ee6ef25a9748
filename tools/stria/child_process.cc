// SPDX-License-Identifier: Apache-2.0
#include "child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "stria/base/status.h"

namespace stria::command {

std::string failure_of(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return fmt::format("crashed: {}", ::strsignal(WTERMSIG(wait_status)));
  return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 ? "" : "ended the process";
}

std::string run_in_child(const std::function<void()>& work, Prints prints) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  STRIA_CHECK(child >= 0, "no process: {}", std::strerror(errno));
  if (child == 0) {
    if (prints == Prints::no) {
      const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
    }
    work();
    std::fflush(nullptr);
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return failure_of(status);
}

}  // namespace stria::command
