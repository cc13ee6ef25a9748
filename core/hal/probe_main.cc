// SPDX-License-Identifier: Apache-2.0
// stria_probe FOLDER LIMIT_MS: loads the plugin in FOLDER and says on descriptor 3 what it does
// (probe.h). Started by the library; of no use by hand.
#include <cstdio>
#include <cstdlib>

#include "stria/hal/probe.h"

int main(int count, char** arguments) {
  const long limit_ms = count == 3 ? std::strtol(arguments[2], nullptr, 10) : 0;
  if (limit_ms <= 0) {
    std::fprintf(stderr, "usage: stria_probe FOLDER LIMIT_MS, with descriptor 3 open\n");
    return 2;
  }
  constexpr int kReport = 3;
  return stria::hal::run_probe(arguments[1], std::chrono::milliseconds(limit_ms), kReport);
}
