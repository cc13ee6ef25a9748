// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace stria::hal {

Pipe::~Pipe() {
  close_write();
  if (read >= 0) ::close(read);
}

bool Pipe::open() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  read = ends[0];
  write = ends[1];
  ::fcntl(read, F_SETFL, O_NONBLOCK);
  return true;
}

void Pipe::close_write() {
  if (write >= 0) ::close(write);
  write = -1;
}

bool drain(int file, std::string& to, size_t keep_last) {
  char chunk[4096];
  while (true) {
    const ssize_t count = ::read(file, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    if (count == 0) return false;
    to.append(chunk, static_cast<size_t>(count));
    if (to.size() > 2 * keep_last) to.erase(0, to.size() - keep_last);
  }
}

Status ChildProcess::start(const Start& how) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  // Onto itself a descriptor would keep its close-on-exec flag; glibc clears it then.
  for (const auto& [ours, its] : how.descriptors)
    ::posix_spawn_file_actions_adddup2(&files, ours, its);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  const std::string program = how.program.string();
  std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : how.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  for (const std::string& variable : how.environment)
    variables.push_back(const_cast<char*>(variable.c_str()));
  variables.push_back(nullptr);
  const int failed =
      ::posix_spawn(&id_, program.c_str(), &files, &attributes, arguments.data(), variables.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed == 0) return Status();
  id_ = -1;
  return make_error(StatusCode::unavailable, "cannot start '{}': {}{}", program,
                    std::strerror(failed), failed == EAGAIN ? ": see ulimit -u" : "");
}

bool ChildProcess::ended() {
  if (ended_ || id_ < 0) return true;
  siginfo_t seen{};
  const int failed = ::waitid(P_PID, static_cast<id_t>(id_), &seen, WEXITED | WNOHANG | WNOWAIT);
  if (failed != 0 && errno == EINTR) return false;
  if (failed == 0 && seen.si_pid == 0) return false;
  // As long as nobody has waited for the child, no other group can have its number.
  ::kill(-id_, SIGKILL);
  // Nobody says how: the application ignores SIGCHLD, or has waited for all that there is.
  end_is_known_ = failed == 0 && ::waitpid(id_, &wait_status_, 0) == id_;
  return ended_ = true;
}

void ChildProcess::end() {
  if (ended()) return;
  ::kill(-id_, SIGKILL);
  ::kill(id_, SIGKILL);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (!ended() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
}

std::string ChildProcess::how_it_ended() const {
  if (!end_is_known_)
    return "it ended the process, and the system does not say how, as this application ignores "
           "SIGCHLD or waits for every child of its own";
  if (WIFSIGNALED(wait_status_))
    return fmt::format("it crashed ({})", ::strsignal(WTERMSIG(wait_status_)));
  return fmt::format("it ended the process with exit code {}", WEXITSTATUS(wait_status_));
}

}  // namespace stria::hal
