// SPDX-License-Identifier: Apache-2.0
// Preloaded, it lets one allocation of a process fail: the one of the number STRIA_FAIL_AT, counted
// from main(). Children that the process forks count on.
#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

extern "C" {

void* __libc_malloc(size_t size);

namespace {
std::atomic<bool> began{false};
std::atomic<long> calls{0};
long fails_at = -1;
int (*real_main)(int, char**, char**);

int counted_main(int count, char** arguments, char** environment) {
  if (const char* at = std::getenv("STRIA_FAIL_AT")) fails_at = std::atol(at);
  began = true;
  return real_main(count, arguments, environment);
}
}  // namespace

__attribute__((visibility("default"))) void* malloc(size_t size) {
  if (began && calls.fetch_add(1) == fails_at) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(size);
}

__attribute__((visibility("default"))) int __libc_start_main(int (*main)(int, char**, char**),
                                                             int count, char** arguments,
                                                             void (*init)(), void (*fini)(),
                                                             void (*rtld_fini)(), void* stack) {
  using Start =
      int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  real_main = main;
  return start(counted_main, count, arguments, init, fini, rtld_fini, stack);
}

}  // extern "C"
