// SPDX-License-Identifier: Apache-2.0
#include "suite/memory_in_use.h"

#include <malloc.h>

#include <fstream>
#include <sstream>
#include <string>

namespace stria::conformance {

uint64_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

uint64_t written_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  uint64_t kib = 0;
  for (std::string line; std::getline(file, line);)
    if (line.rfind("Private_Dirty:", 0) == 0 || line.rfind("Swap:", 0) == 0) {
      std::istringstream words(line);
      std::string name;
      uint64_t value = 0;
      words >> name >> value;
      kib += value;
    }
  return kib << 10;
}

}  // namespace stria::conformance
