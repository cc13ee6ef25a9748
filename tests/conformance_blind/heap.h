// SPDX-License-Identifier: Apache-2.0
// The memory of the chip: pieces of host memory, up to its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "stria/sdk/host.h"
#include "stria/sdk/object.h"

namespace stria::blind {

// Thread-safe. All devices that are opened share it, as they are one chip.
class Heap final : public sdk::Object {
 public:
  // Arenas are cut at multiples of it, so what starts there is aligned for every access.
  static constexpr uint64_t kAlignment = 256;

  Heap(const sdk::Host& host, uint64_t total_bytes) : host_(host), total_(total_bytes) {}
  // Throws STRIA_OUT_OF_MEMORY.
  std::byte* take(uint64_t bytes);
  void give_back(std::byte* memory, uint64_t bytes);

 private:
  void count(uint64_t bytes);

  const sdk::Host& host_;
  const uint64_t total_;
  std::mutex mutex_;
  uint64_t used_ = 0;  // guarded by mutex_
};

}  // namespace stria::blind
