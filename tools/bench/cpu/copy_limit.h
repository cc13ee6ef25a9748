// SPDX-License-Identifier: Apache-2.0
// What memory gives: streams that are read and written in the mix of a case and touch as many bytes
// in all, with stores through the caches and around them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cases.h"

namespace stria::bench {

struct CopyWay {
  std::string name;  // "3 read, 1 written, around the caches"
  std::function<void()> run;
};

// `memory`, of `bytes`, is borrowed; its streams are equal parts of it. Reads: 1 to 3, writes: 0
// or 1.
std::vector<CopyWay> copy_ways(const Mix& mix, std::byte* memory, uint64_t bytes);

}  // namespace stria::bench
