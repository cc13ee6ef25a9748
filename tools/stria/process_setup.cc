// SPDX-License-Identifier: Apache-2.0
#include "process_setup.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "failure.h"

namespace stria::command {
namespace {

// Enough for all that has limits; a thread with less is not tried.
constexpr size_t kLeastStackBytes = size_t{4} << 20;

struct Call {
  const std::function<int()>& work;
  int code = 0;
};

void* call(void* state) {
  auto& what = *static_cast<Call*>(state);
  what.code = what.work();
  return nullptr;
}

// The error's number, or 0 when the thread has ended.
int run_on_stack_of(size_t bytes, Call& what) {
  pthread_attr_t attributes;
  if (const int error = ::pthread_attr_init(&attributes); error != 0) return error;
  pthread_t thread{};
  int error = ::pthread_attr_setstacksize(&attributes, bytes);
  if (error == 0) error = ::pthread_create(&thread, &attributes, call, &what);
  (void)::pthread_attr_destroy(&attributes);
  if (error == 0) (void)::pthread_join(thread, nullptr);
  return error;
}

void set_stack_of_threads() {
  pthread_attr_t defaults;
  if (::pthread_getattr_default_np(&defaults) != 0) return;
  size_t bytes = 0;
  if (::pthread_attr_getstacksize(&defaults, &bytes) == 0 && bytes < kThreadStackBytes &&
      ::pthread_attr_setstacksize(&defaults, kThreadStackBytes) == 0)
    (void)::pthread_setattr_default_np(&defaults);
  (void)::pthread_attr_destroy(&defaults);
}

}  // namespace

void take_standard_descriptors() {
  // The wrong way round: what reads from 0 or writes to 1 and 2 hears of it.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      // The lowest number that is free, which is this one.
      (void)!::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  (void)std::signal(SIGXFSZ, SIG_IGN);
}

void take_ends_of_children() { (void)std::signal(SIGCHLD, SIG_DFL); }

// What a limit of address space leaves for the stack: the heap, libraries and other threads need
// most of it.
size_t stack_bytes() {
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return kStackBytes;
  size_t bytes = kStackBytes;
  while (bytes > kLeastStackBytes && bytes > space.rlim_cur / 4) bytes /= 2;
  return bytes;
}

int run_on_own_stack(const std::function<int()>& work) {
  set_stack_of_threads();
  Call what{work};
  int error = 0;
  for (size_t bytes = stack_bytes(); bytes >= kLeastStackBytes; bytes /= 2) {
    error = run_on_stack_of(bytes, what);
    if (error == 0) return what.code;
  }
  rlimit here{};
  if (::getrlimit(RLIMIT_STACK, &here) == 0 &&
      (here.rlim_cur == RLIM_INFINITY || here.rlim_cur >= kLeastStackBytes))
    return work();
  std::fprintf(
      stderr,
      "stria: no thread can be started (%s), and the limit of the stack (ulimit -s) of %llu "
      "KiB is less than the %zu KiB that are needed\n",
      std::strerror(error), static_cast<unsigned long long>(here.rlim_cur >> 10),
      kLeastStackBytes >> 10);
  return static_cast<int>(ExitCode::program);
}

}  // namespace stria::command
