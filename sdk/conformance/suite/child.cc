// SPDX-License-Identifier: Apache-2.0
#include "suite/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace stria::conformance {

Result<Child> start_child(const std::function<void(int pipe)>& work) {
  int messages[2], output[2];
  if (::pipe2(messages, O_CLOEXEC) != 0)
    return make_error(StatusCode::unavailable, "no pipe to a child process: {}",
                      std::strerror(errno));
  if (::pipe2(output, O_CLOEXEC) != 0) {
    const int error = errno;
    ::close(messages[0]);
    ::close(messages[1]);
    return make_error(StatusCode::unavailable, "no pipe to a child process: {}",
                      std::strerror(error));
  }
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int error = errno;
    for (int descriptor : {messages[0], messages[1], output[0], output[1]}) ::close(descriptor);
    return make_error(StatusCode::unavailable, "no process can be started ({}): see ulimit -u",
                      std::strerror(error));
  }
  if (pid == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_DFL);
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(output[1], STDERR_FILENO);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    work(messages[1]);
    ::_exit(1);
  }
  ::setpgid(pid, pid);  // whoever of the two comes first
  ::close(messages[1]);
  ::close(output[1]);
  for (int descriptor : {messages[0], output[0]}) ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  return Child{pid, messages[0], output[0]};
}

int end_child(Child& child) {
  ::kill(-child.pid, SIGKILL);
  ::kill(child.pid, SIGKILL);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  ::kill(-child.pid, SIGKILL);  // what it forked in between
  for (int* descriptor : {&child.messages, &child.output}) {
    if (*descriptor >= 0) ::close(*descriptor);
    *descriptor = -1;
  }
  return status;
}

std::string words_for(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return fmt::format("crashed: {}", ::strsignal(WTERMSIG(wait_status)));
  return fmt::format("ended the process with exit code {}", WEXITSTATUS(wait_status));
}

void adopt_strays() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

int end_strays(const std::function<bool(pid_t)>& known) {
  int ended = 0;
  // One that is killed leaves its own children to us: until there are none.
  for (bool more = true; more;) {
    more = false;
    std::ifstream children(fmt::format("/proc/self/task/{}/children", ::getpid()));
    for (pid_t pid; children >> pid;) {
      if (known(pid)) continue;
      ::kill(pid, SIGKILL);
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
      ++ended;
      more = true;
    }
  }
  return ended;
}

}  // namespace stria::conformance
