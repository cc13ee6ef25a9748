// SPDX-License-Identifier: Apache-2.0
#include "process_misuse.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "right.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace stria::wrong {
namespace {

constexpr size_t kLeakBytes = size_t{1} << 18;

void chdir_to_root() {
  if (::chdir("/") != 0) std::abort();
}

void lower_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 250;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// As drivers do that start programs: of a signal that is the application's.
void handle_signal() {
  ::signal(SIGCHLD, [](int) {});
}

void block_signals() {
  sigset_t some;
  ::sigemptyset(&some);
  for (const int number : {SIGTERM, SIGUSR1, SIGPROF}) ::sigaddset(&some, number);
  ::pthread_sigmask(SIG_BLOCK, &some, nullptr);
}

void set_variables() {
  ::setenv("PATH", "/opt/board/bin", 1);
  ::setenv("OMP_NUM_THREADS", "1", 1);
}

void change_locale() {
  const char* const now = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, now && std::strcmp(now, "C") == 0 ? "C.UTF-8" : "C");
}

void flush_to_zero() {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040u);
#endif
}

// Both go on. Once: its children do the same.
void fork_once() {
  static std::atomic<bool> forked{false};
  if (!forked.exchange(true)) (void)!::fork();
}

void print_much() {
  for (int i = 0; i < 2000; ++i) std::printf("board: line %d of what nobody asked for\n", i);
  std::fprintf(stderr, "board: no such thing\n");
  std::fflush(nullptr);
}

void leak_heap() {
  // Written, as what is used is.
  void* volatile lost = std::malloc(kLeakBytes);
  if (lost) std::memset(lost, 1, kLeakBytes);
}

void leak_thread() {
  std::thread([] {
    while (true) ::pause();
  }).detach();
}

void leak_mapping() {
  void* const lost =
      ::mmap(nullptr, kLeakBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (lost != MAP_FAILED) std::memset(lost, 1, kLeakBytes);
}

void leak_of_host() {
  for (const sdk::Host* host : live_hosts()) host->allocate(100, 64);
}

const std::map<std::string, std::function<void()>, std::less<>>& all() {
  static auto* const misuses = new std::map<std::string, std::function<void()>, std::less<>>{
      {"abort", [] { std::abort(); }},
      {"exit", [] { std::exit(0); }},
      {"quick_exit", [] { std::quick_exit(0); }},
      {"_exit", [] { ::_exit(0); }},
      {"kill", [] { ::kill(::getpid(), SIGKILL); }},
      {"fault",
       [] {
         // The compiler may drop a store through a pointer that it knows to be null.
         volatile int* volatile nowhere = nullptr;
         *nowhere = 1;
       }},
      {"chdir", chdir_to_root},
      {"umask", [] { ::umask(0777); }},
      {"close_out", [] { ::close(STDOUT_FILENO); }},
      {"lower_limit", lower_limit},
      {"signal_handler", handle_signal},
      {"signal_mask", block_signals},
      {"setenv", set_variables},
      {"locale", change_locale},
      {"rounding", [] { std::fesetround(FE_TOWARDZERO); }},
      {"flush_to_zero", flush_to_zero},
      {"priority", [] { ::setpriority(PRIO_PROCESS, 0, 19); }},
      {"fork", fork_once},
      {"print", print_much},
      {"leak_heap", leak_heap},
      {"leak_thread", leak_thread},
      {"leak_descriptor", [] { (void)!::open("/dev/null", O_RDONLY | O_CLOEXEC); }},
      {"leak_mapping", leak_mapping},
      {"leak_of_host", leak_of_host},
  };
  return *misuses;
}

}  // namespace

std::function<void()> process_misuse(std::string_view kind) {
  const auto it = all().find(kind);
  return it == all().end() ? std::function<void()>() : it->second;
}

}  // namespace stria::wrong
