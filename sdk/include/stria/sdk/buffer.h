// SPDX-License-Identifier: Apache-2.0
// Memory of a device. The helper's own buffers are host memory; a plugin with memory of its own
// derives from Buffer and overrides the mapping.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "stria/experimental.h"
#include "stria/plugin.h"
#include "stria/sdk/event.h"
#include "stria/sdk/host.h"
#include "stria/sdk/object.h"

namespace stria::sdk {

// How much of a device's memory is taken. Thread-safe.
class MemoryBudget : public Object {
 public:
  explicit MemoryBudget(uint64_t total_bytes) : total_(total_bytes) {}  // 0: no limit
  void take(uint64_t bytes) {
    uint64_t used = used_.fetch_add(bytes, std::memory_order_relaxed);
    // `used` may have been pushed over the total by a take that is about to be undone.
    if (total_ == 0 || (used <= total_ && bytes <= total_ - used)) return;
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    throw none_for(bytes, "device", used);
  }
  void give_back(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  // What to throw where there is no memory for so many bytes, which have not been taken: `whose`
  // memory has refused them.
  Error none_for(uint64_t bytes, const char* whose) const {
    return none_for(bytes, whose, used_.load(std::memory_order_relaxed));
  }

 private:
  Error none_for(uint64_t bytes, const char* whose, uint64_t used) const {
    std::string text =
        std::string("no ") + whose + " memory for " + std::to_string(bytes) + " bytes, ";
    text += total_ == 0 ? std::to_string(used) + " are taken"
                        : std::to_string(used < total_ ? total_ - used : 0) + " of " +
                              std::to_string(total_) + " are free";
    return Error(STRIA_OUT_OF_MEMORY, text);
  }

  const uint64_t total_;
  std::atomic<uint64_t> used_{0};
};

// What the host wants of mapped memory.
enum class MapMode : uint8_t {
  current,  // the buffer's bytes are read into it; the unmap writes them back
  discard,  // nothing is read; the unmap writes back
  read      // the buffer's bytes are read into it; the unmap writes nothing
};

// The bytes of one allocation. Slots have checked every range before they get here.
class Buffer : public Object {
 public:
  explicit Buffer(uint64_t size_bytes) : size_(size_bytes) {}
  uint64_t size() const { return size_; }  // bytes

  // Where the bytes are for kernels, copies and fills that run on the host.
  virtual std::byte* data() = 0;
  // Returns the mapped memory at once; it may be read and written when *done is done. A range may
  // be mapped again before the earlier mapping has ended, if `waits` are over only after that end.
  virtual void* map(uint64_t offset, uint64_t bytes, MapMode mode, Waits waits,
                    Ref<Event>* done) = 0;
  // After *done of the map is. Of a mapping that failed, or is read only, nothing is taken to the
  // device.
  virtual Ref<Event> unmap(void* memory) = 0;
  // Experimental (stria_sharing_table.export_buffer): the memory for others.
  virtual stria_shared_memory share(stria_memory_kind kind) {
    throw Error(STRIA_UNSUPPORTED,
                "this device gives no memory of the kind " + std::to_string(kind) + " to others");
  }

 private:
  const uint64_t size_;
};

// What a buffer in host memory gives to others.
inline stria_shared_memory host_memory(void* address, uint64_t bytes) {
  stria_shared_memory memory{};
  memory.size = sizeof memory;
  memory.kind = STRIA_HOST_MEMORY;
  memory.descriptor = -1;
  memory.address = address;
  memory.bytes = bytes;
  return memory;
}

class HostBuffer final : public Buffer {
 public:
  // 64: a cache line, and the widest vector.
  static constexpr uint64_t kAlignment = 64;

  HostBuffer(const Host& host, Ref<MemoryBudget> budget, uint64_t size_bytes)
      : Buffer(size_bytes), host_(host), budget_(std::move(budget)) {
    budget_->take(size_bytes);
    try {
      data_ = static_cast<std::byte*>(host_.allocate(size_bytes, kAlignment));
    } catch (...) {
      budget_->give_back(size_bytes);
      throw budget_->none_for(size_bytes, "host");
    }
  }
  ~HostBuffer() override {
    host_.free(data_, size(), kAlignment);
    budget_->give_back(size());
  }
  std::byte* data() override { return data_; }
  void* map(uint64_t offset, uint64_t, MapMode, Waits waits, Ref<Event>* done) override {
    *done = when_done(host_, host_.tracker(), waits);
    return data_ + offset;
  }
  Ref<Event> unmap(void*) override { return when_done(host_, host_.tracker(), {}); }
  stria_shared_memory share(stria_memory_kind kind) override {
    if (kind != STRIA_HOST_MEMORY) return Buffer::share(kind);
    return host_memory(data_, size());
  }

 private:
  const Host& host_;
  Ref<MemoryBudget> budget_;
  std::byte* data_ = nullptr;
};

}  // namespace stria::sdk
