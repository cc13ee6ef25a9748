// SPDX-License-Identifier: Apache-2.0
#include "negotiation/code_map.h"

#include <cstdio>
#include <fstream>
#include <string>

namespace stria::conformance {

CodeMap::CodeMap() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %4s", &begin, &end, rights) == 3 && rights[2] == 'x')
      ranges_.push_back({static_cast<uintptr_t>(begin), static_cast<uintptr_t>(end)});
  }
}

bool CodeMap::has(const void* address) const {
  if (ranges_.empty()) return true;
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const Range& range : ranges_)
    if (at >= range.begin && at < range.end) return true;
  return false;
}

}  // namespace stria::conformance
