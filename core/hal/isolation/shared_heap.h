// SPDX-License-Identifier: Apache-2.0
// Memory that both sides see: a nameless file, mapped as a whole by each. The plugin's process
// allocates from it what the plugin takes of the host, so that a buffer made of that memory is
// mapped without a copy. Pages are there once they are touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "stria/base/status.h"

namespace stria::hal::isolation {

class SharedHeap {
 public:
  // The host's: makes the file. Nobody can shorten it. unavailable where the system gives none, or
  // limits would not let it be used.
  Status create();
  // The other side's: maps `bytes` of the descriptor, which it takes over.
  Status attach(int descriptor, uint64_t bytes);
  SharedHeap() = default;
  SharedHeap(const SharedHeap&) = delete;
  SharedHeap& operator=(const SharedHeap&) = delete;
  ~SharedHeap();

  // As if it had not been made.
  void drop();

  bool valid() const { return base_ != nullptr; }
  int descriptor() const { return descriptor_; }  // -1 once it was closed
  void close_descriptor();
  uint64_t bytes() const { return bytes_; }
  // Null if the range does not lie in it.
  std::byte* at(uint64_t place, uint64_t bytes) const;
  bool holds(const void* memory, uint64_t bytes) const;
  uint64_t place_of(const void* memory) const;

  // Null if there is no room. One side only may allocate. Thread-safe.
  void* allocate(uint64_t bytes, uint64_t alignment);
  // Null is fine.
  void free(void* memory);

 private:
  Status map();

  int descriptor_ = -1;
  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> free_, used_;  // size by place; guarded by mutex_
};

}  // namespace stria::hal::isolation
