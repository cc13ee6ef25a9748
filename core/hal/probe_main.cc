// SPDX-License-Identifier: Apache-2.0
// stria_probe FOLDER LIMIT_MS: loads the plugin in FOLDER and says on descriptor 3 what it does
// (probe.h). Started by the library; of no use by hand.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "stria/hal/probe.h"

namespace {

struct Probe {
  const char* folder;
  long limit_ms;
};

void* run(void* state) {
  constexpr int kReport = 3;
  const auto* probe = static_cast<const Probe*>(state);
  stria::hal::run_probe(probe->folder, std::chrono::milliseconds(probe->limit_ms), kReport);
  return nullptr;
}

// Plugins are loaded on stacks of this size, whatever limit the shell has set: so does the command.
constexpr size_t kStackBytes = size_t{8} << 20;

}  // namespace

int main(int count, char** arguments) {
  const long limit_ms = count == 3 ? std::strtol(arguments[2], nullptr, 10) : 0;
  if (limit_ms <= 0) {
    std::fprintf(stderr, "usage: stria_probe FOLDER LIMIT_MS, with descriptor 3 open\n");
    return 2;
  }
  Probe probe{arguments[1], limit_ms};
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  ::pthread_setattr_default_np(&attributes);
  pthread_t thread{};
  if (::pthread_create(&thread, &attributes, run, &probe) == 0)
    ::pthread_join(thread, nullptr);
  else
    run(&probe);
  return 0;
}
