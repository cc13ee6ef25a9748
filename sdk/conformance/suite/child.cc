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
#include <vector>

namespace stria::conformance {
namespace {

struct Pipe {
  int read = -1, write = -1;
};

Status open_pipes(const std::vector<Pipe*>& pipes) {
  for (Pipe* pipe : pipes) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) {
      *pipe = {ends[0], ends[1]};
      continue;
    }
    const int error = errno;
    for (const Pipe* open : pipes) {
      if (open->read >= 0) ::close(open->read);
      if (open->write >= 0) ::close(open->write);
    }
    return make_error(StatusCode::unavailable, "no pipe to a child process: {}",
                      std::strerror(error));
  }
  return Status();
}

// Ends with the parent. One whose parent ended before it could ask for that ends now.
void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

// Ends this process as `wait_status` says that another one has ended.
[[noreturn]] void end_as(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    // The worker's core is the one that somebody may want to look at.
    ::prctl(PR_SET_DUMPABLE, 0);
    const int number = WTERMSIG(wait_status);
    ::signal(number, SIG_DFL);
    sigset_t all;
    ::sigemptyset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::raise(number);
  }
  ::_exit(WEXITSTATUS(wait_status));
}

// In the worker. Its group is its own, so that a signal for all of a group reaches nobody else.
// What the work throws ends it, and does not unwind into the frames that it has of its parent.
void work_here(pid_t keeper, int messages, int output,
               const std::function<void(int pipe)>& work) noexcept {
  ::setpgid(0, 0);
  die_with(keeper);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  work(messages);
  ::_exit(1);
}

// In the keeper: starts the worker, says so, adopts what that leaves, ends when it has ended.
[[noreturn]] void keep_here(const Pipe& begun, const Pipe& messages, const Pipe& output,
                            const std::function<void(int pipe)>& work) {
  // A session of its own: who is in it, or in one begun by it, cannot join a process group of
  // anybody else, so that end_strays() may kill whole groups. The keeper leads the session and not
  // the worker, which an application would not do either.
  ::setsid();
  ::close(begun.read);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD}) ::signal(number, SIG_DFL);
  adopt_strays();
  const pid_t keeper = ::getpid();
  const pid_t worker = ::fork();
  if (worker == 0) {
    ::close(begun.write);
    work_here(keeper, messages.write, output.write, work);
  }
  const int error = worker < 0 ? errno : 0;
  (void)!::write(begun.write, &error, sizeof error);
  if (worker < 0) ::_exit(1);
  // The pipes' ends are seen when the worker has closed them.
  for (const int descriptor : {begun.write, messages.write, output.write}) ::close(descriptor);
  int status = 0;
  for (pid_t ended; (ended = ::waitpid(-1, &status, 0)) != worker;)
    if (ended < 0 && errno != EINTR) ::_exit(1);
  end_as(status);
}

// The children of this process.
std::vector<pid_t> children() {
  std::vector<pid_t> out;
  std::ifstream file(fmt::format("/proc/self/task/{}/children", ::getpid()));
  for (pid_t pid; file >> pid;) out.push_back(pid);
  return out;
}

}  // namespace

Result<Child> start_child(const std::function<void(int pipe)>& work) {
  Pipe begun, messages, output;
  STRIA_RETURN_IF_ERROR(open_pipes({&begun, &messages, &output}));
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  int error = pid < 0 ? errno : 0;
  if (pid == 0) {
    die_with(parent);
    keep_here(begun, messages, output, work);
  }
  for (const int descriptor : {begun.write, messages.write, output.write}) ::close(descriptor);
  if (pid > 0) {
    ssize_t count;
    while ((count = ::read(begun.read, &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (count != static_cast<ssize_t>(sizeof error)) error = ECHILD;
  }
  ::close(begun.read);
  Child child{pid, messages.read, output.read};
  if (error != 0) {
    end_child(child);
    return make_error(StatusCode::unavailable, "no process can be started ({}): see ulimit -u",
                      std::strerror(error));
  }
  for (int descriptor : {child.messages, child.output}) ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  return child;
}

int end_child(Child& child) {
  int status = 0;
  if (child.pid > 0) {
    ::kill(child.pid, SIGKILL);
    while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
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

bool end_strays(const std::function<bool(pid_t)>& known, std::chrono::milliseconds limit,
                const std::atomic<bool>* stop) {
  const auto until = std::chrono::steady_clock::now() + limit;
  const pid_t own_session = ::getsid(0);
  while (true) {
    bool some = false, some_gone = false;
    for (const pid_t pid : children()) {
      if (known(pid)) continue;
      some = true;
      // The group at once: its processes cannot fork between two signals, as they could if each
      // got its own. Groups of this session may be those of our user.
      const pid_t group = ::getpgid(pid);
      if (::getsid(pid) != own_session && group > 1) ::kill(-group, SIGKILL);
      ::kill(pid, SIGKILL);
      // Not waited for: one in a call of a broken driver does not end.
      some_gone |= ::waitpid(pid, nullptr, WNOHANG) == pid;
    }
    if (!some) return true;
    if (std::chrono::steady_clock::now() >= until || (stop && *stop)) return false;
    // One that has ended leaves its own children to us: until there are none.
    if (!some_gone) ::usleep(500);
  }
}

}  // namespace stria::conformance
