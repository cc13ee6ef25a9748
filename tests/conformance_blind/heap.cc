// SPDX-License-Identifier: Apache-2.0
#include "heap.h"

#include <string>

#include "mistake.h"
#include "stria/sdk/error.h"

namespace stria::blind {
namespace {

std::string none_for(uint64_t bytes, uint64_t free, uint64_t total) {
  return "no device memory for " + std::to_string(bytes) + " bytes: " + std::to_string(free) +
         " of " + std::to_string(total) + " are free";
}

}  // namespace

void Heap::count(uint64_t bytes) {
  std::string text;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes <= total_ - used_) {
      used_ += bytes;
      return;
    }
    text = none_for(bytes, total_ - used_, total_);
    // A line for people where one stands when it is found out: under the allocator's lock.
    if (makes(Mistake::logs_under_lock)) host_.log(STRIA_LOG_WARNING, text);
  }
  throw sdk::Error(STRIA_OUT_OF_MEMORY, text);
}

std::byte* Heap::take(uint64_t bytes) {
  count(bytes);
  try {
    return static_cast<std::byte*>(host_.allocate(bytes, kAlignment));
  } catch (...) {
    uint64_t free = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      used_ -= bytes;
      free = total_ - used_;
    }
    throw sdk::Error(STRIA_OUT_OF_MEMORY,
                     none_for(bytes, free, total_) + ", but the host has no memory for them");
  }
}

void Heap::give_back(std::byte* memory, uint64_t bytes) {
  host_.free(memory, bytes, kAlignment);
  const std::lock_guard<std::mutex> lock(mutex_);
  used_ -= bytes;
}

}  // namespace stria::blind
