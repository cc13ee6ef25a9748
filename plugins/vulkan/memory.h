// SPDX-License-Identifier: Apache-2.0
// Memory of a device in large blocks, handed out in ranges. A block is one allocation of the driver
// with one buffer over all of it: drivers allow few thousand allocations, and each takes long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "loader.h"

namespace stria::vulkan {

class Context;
class Allocator;
struct Block;

// A range of a block; it goes back with this object. Of 0 bytes: no memory at all.
class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  uint64_t bytes() const { return bytes_; }
  VkBuffer buffer() const;                     // of the whole block
  uint64_t offset() const { return offset_; }  // in it
  VkDeviceAddress address() const;             // of the range's first byte
  std::byte* mapped() const;                   // null if the host cannot reach it

 private:
  friend class Allocator;
  Allocator* allocator_ = nullptr;
  Block* block_ = nullptr;
  uint64_t offset_ = 0, bytes_ = 0;
};

struct MemoryKind {
  uint32_t type = 0;         // of VkPhysicalDeviceMemoryProperties
  bool mapped = false;       // coherent, and mapped as long as it lives
  uint64_t limit_bytes = 0;  // of all blocks; 0: what the driver gives
  uint64_t block_bytes = 0;  // usual size; what is larger has a block of its own
  uint64_t idle_bytes = 0;   // of blocks that nobody uses and that stay all the same
  const char* what = "";     // "device memory", for messages
};

// Thread-safe. Outlives what it hands out. Memory of a lost device is never freed.
class Allocator {
 public:
  // Ranges begin at a multiple of so many bytes: what copies, vectors and drivers like.
  static constexpr uint64_t kAlignment = 256;

  Allocator(Context& context, MemoryKind kind);
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // Throws STRIA_OUT_OF_MEMORY with the sizes, and how many ranges of how many bytes are in use.
  Memory take(uint64_t bytes);
  const MemoryKind& kind() const { return kind_; }

 private:
  friend class Memory;
  void give(Block& block, uint64_t offset, uint64_t bytes);
  // All under mutex_.
  bool take_from(Block& block, uint64_t bytes, uint64_t& offset);
  VkResult add_block(uint64_t bytes, const char*& failed);
  void free_idle(uint64_t keep_bytes);
  [[noreturn]] void refuse(uint64_t bytes, const std::string& why, VkResult code) const;

  Context& context_;
  const MemoryKind kind_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;  // guarded by mutex_, as all below
  uint64_t block_bytes_ = 0;                    // of all blocks
  uint64_t idle_bytes_ = 0;                     // of blocks without ranges
  uint64_t live_bytes_ = 0, live_count_ = 0;    // ranges
};

}  // namespace stria::vulkan
