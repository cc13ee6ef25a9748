// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/forked_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "stria/base/shown_text.h"
#include "suite/case.h"
#include "suite/child.h"

namespace stria::conformance {
namespace {

// What is kept of each text.
constexpr size_t kMaxText = 4096;

std::string text_of(int file) {
  std::string out(kMaxText, '\0');
  const ssize_t count = ::pread(file, out.data(), out.size(), 0);
  out.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return out;
}

// Waits for the child's end; false after the limit.
bool ended(pid_t child, int limit_ms, int& wait_status) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
  for (useconds_t pause = 100;; pause = pause < 5000 ? pause * 2 : pause) {
    const pid_t done = ::waitpid(child, &wait_status, WNOHANG);
    if (done == child) return true;
    if (done < 0 && errno != EINTR) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    ::usleep(pause);
  }
}

}  // namespace

Result<ForkedEnd> run_forked(const std::function<int(const Say& say)>& work, int limit_ms) {
  const int printed = ::memfd_create("printed", MFD_CLOEXEC);
  const int said = ::memfd_create("said", MFD_CLOEXEC);
  if (printed < 0 || said < 0)
    return make_error(StatusCode::unavailable, "no memory for a child's output: {}",
                      std::strerror(errno));
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0)
    return make_error(StatusCode::unavailable, "no process can be started ({})",
                      std::strerror(errno));
  if (child == 0) {
    ::dup2(printed, STDOUT_FILENO);
    ::dup2(printed, STDERR_FILENO);
    // What the work throws does not unwind into the frames that this process has of its parent.
    [&]() noexcept {
      const int code = work([said](const std::string& text) {
        if (::write(said, text.data(), text.size()) < 0) ::_exit(120);
      });
      std::fflush(nullptr);
      ::_exit(code);
    }();
  }
  ForkedEnd out;
  out.in_time = ended(child, limit_ms, out.wait_status);
  if (!out.in_time) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &out.wait_status, 0);
  }
  out.printed = text_of(printed);
  out.said = text_of(said);
  ::close(printed);
  ::close(said);
  return out;
}

Status status_forked(const std::function<Status()>& work, bool quiet, int limit_ms) {
  // A code of the status beside its text: what is unsupported stays so.
  constexpr int kFailed = 100;
  STRIA_ASSIGN(const ForkedEnd end, run_forked(
                                        [&](const Say& say) {
                                          const Status status = work();
                                          if (status.ok()) return 0;
                                          say(status.message());
                                          return kFailed + static_cast<int>(status.code());
                                        },
                                        limit_ms));
  const bool is_whole = end.in_time && WIFEXITED(end.wait_status);
  if (is_whole && WEXITSTATUS(end.wait_status) > kFailed)
    return Status(static_cast<StatusCode>(WEXITSTATUS(end.wait_status) - kFailed), end.said);
  if (!is_whole || WEXITSTATUS(end.wait_status) != 0)
    return broken("a process that only did this {}", words_for(end));
  if (quiet && !end.printed.empty()) return broken("it prints '{}'", shown_name(end.printed, 300));
  return Status();
}

std::string words_for(const ForkedEnd& end) {
  if (!end.in_time) return "did not end";
  return words_for(end.wait_status);
}

}  // namespace stria::conformance
