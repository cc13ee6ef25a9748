// SPDX-License-Identifier: Apache-2.0
// Memory of the device: the host gets copies of it, never an address in it. The driver's calls are
// in vendor_memory.c.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "queue.h"
#include "stria/sdk/buffer.h"
#include "stria/sdk/executor.h"
#include "vendor_memory.h"

namespace acme_plugin {

class AcmeBuffer final : public stria::sdk::Buffer {
 public:
  // Throws STRIA_OUT_OF_MEMORY. The queue and the host outlive the buffer.
  AcmeBuffer(const stria::sdk::Host& host, Queue& queue,
             stria::sdk::Ref<stria::sdk::MemoryBudget> budget, uint64_t size_bytes);
  ~AcmeBuffer() override;

  // There is none: throws.
  std::byte* data() override;
  // What a kernel is given for byte 0.
  void* address() const { return acme_memory_address(memory_); }
  void* map(uint64_t offset, uint64_t bytes, stria::sdk::MapMode mode, stria::sdk::Waits waits,
            stria::sdk::Ref<stria::sdk::Event>* done) override;
  stria::sdk::Ref<stria::sdk::Event> unmap(void* memory) override;

  // Called by the queue. Ranges have been checked; all throw stria::sdk::Error.
  void copy_to(uint64_t offset, AcmeBuffer& target, uint64_t target_offset, uint64_t bytes) const;
  void fill(uint64_t offset, uint64_t bytes, const std::vector<std::byte>& pattern);
  void read(uint64_t offset, void* to, uint64_t bytes) const;
  void write(uint64_t offset, const void* from, uint64_t bytes);

 private:
  // The host's copy of a range while that is mapped.
  struct Mapping {
    stria::sdk::MapMode mode = stria::sdk::MapMode::current;
    uint64_t offset = 0;
    uint64_t size = 0;
    std::vector<std::byte> bytes;  // never empty: its address names the mapping
    stria::sdk::Ref<stria::sdk::Event> ready;
  };

  const stria::sdk::Host& host_;
  Queue& queue_;
  const stria::sdk::Ref<stria::sdk::MemoryBudget> budget_;
  acme_memory* memory_ = nullptr;
  std::mutex mutex_;
  std::map<void*, std::shared_ptr<Mapping>> mappings_;  // guarded by mutex_
};

// All buffers of this device are of one class.
inline AcmeBuffer& buffer_of(const stria::sdk::Argument& argument) {
  return static_cast<AcmeBuffer&>(*argument.buffer);
}

// A part of a buffer as the host's interpreter works on it: a copy.
class HostView {
 public:
  HostView(AcmeBuffer& buffer, uint64_t offset, uint64_t bytes)
      : buffer_(&buffer), offset_(offset), copy_((bytes + 15) / 16 + 1), bytes_(bytes) {
    buffer.read(offset, copy_.data(), bytes);
  }
  void* data() { return copy_.data(); }
  void write_back() { buffer_->write(offset_, copy_.data(), bytes_); }

 private:
  struct alignas(16) Piece {  // as every element type asks for
    std::byte bytes[16];
  };
  AcmeBuffer* buffer_;
  uint64_t offset_;
  std::vector<Piece> copy_;
  uint64_t bytes_;
};

}  // namespace acme_plugin
