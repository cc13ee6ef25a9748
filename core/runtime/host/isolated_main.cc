// SPDX-License-Identifier: Apache-2.0
// stria_isolated, the process of an isolated plugin (hal/isolation/isolate.h). Started by the
// library, with a socket as descriptor 3; of no use by hand.
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstdio>

#include "stria/hal/isolation/isolate.h"
#include "stria/runtime/host/host_functions.h"

namespace {

void* run(void*) {
  stria::hal::run_isolated(stria::functions_for_plugins());
  return nullptr;
}

// Plugins are loaded on stacks of this size, whatever limit the shell has set: so does the command.
constexpr size_t kStackBytes = size_t{8} << 20;

}  // namespace

int main() {
  struct stat socket{};
  if (::fstat(3, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
    std::fprintf(stderr, "usage: stria_isolated, with a socket as descriptor 3\n");
    return 2;
  }
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  ::pthread_setattr_default_np(&attributes);
  pthread_t thread{};
  if (::pthread_create(&thread, &attributes, run, nullptr) == 0)
    ::pthread_join(thread, nullptr);
  else
    run(nullptr);
  return 1;
}
