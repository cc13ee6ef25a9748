// SPDX-License-Identifier: Apache-2.0
#include "child_process.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "stria/base/status.h"

namespace stria::trust {
namespace {

constexpr int kSeconds = 20;

void write_all(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n <= 0) _exit(1);
    done += static_cast<size_t>(n);
  }
}

}  // namespace

void limit_time() {
  itimerval limit{};
  limit.it_value.tv_sec = kSeconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

ChildProcess::ChildProcess(const std::function<void(const Say&)>& work) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  pid_ = fork();
  if (pid_ < 0) std::abort();
  if (pid_ == 0) {
    close(ends[0]);
    // What crashes is a result here, and leaves no file behind.
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    limit_time();
    try {
      work([&](const std::string& line) { write_all(ends[1], line + "\n"); });
    } catch (const std::exception&) {
      std::abort();
    }
    _exit(0);
  }
  close(ends[1]);
  fd_ = ends[0];
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)) {}

ChildProcess::~ChildProcess() {
  if (fd_ >= 0) close(fd_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool ChildProcess::read(std::vector<std::string>& lines) {
  char bytes[1 << 14];
  const ssize_t n = ::read(fd_, bytes, sizeof bytes);
  if (n <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(n));
  size_t begin = 0;
  for (size_t end; (end = buffer_.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(buffer_.substr(begin, end - begin));
  buffer_.erase(0, begin);
  return true;
}

std::string ChildProcess::wait() {
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGPROF) return fmt::format("no end within {} s", kSeconds);
    return fmt::format("signal {} ({})", signal, strsignal(signal));
  }
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit {}", WEXITSTATUS(status));
}

std::vector<std::string> run_in_child(const std::function<void(const Say&)>& work,
                                      std::string& died) {
  std::vector<std::string> lines;
  ChildProcess child(work);
  while (child.read(lines)) {
  }
  died = child.wait();
  return lines;
}

}  // namespace stria::trust
