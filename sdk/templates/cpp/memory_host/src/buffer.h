// SPDX-License-Identifier: Apache-2.0
// Memory of the device: the host's, which both can address.
#pragma once

#include <vector>

#include "queue.h"
#include "stria/sdk/buffer.h"
#include "stria/sdk/executor.h"

namespace acme_plugin {

class AcmeBuffer final : public stria::sdk::Buffer {
 public:
  // Throws STRIA_OUT_OF_MEMORY.
  AcmeBuffer(const stria::sdk::Host& host, Queue& queue,
             stria::sdk::Ref<stria::sdk::MemoryBudget> budget, uint64_t size_bytes);
  ~AcmeBuffer() override;

  std::byte* data() override { return data_; }
  // What a kernel is given for byte 0.
  void* address() const { return data_; }
  void* map(uint64_t offset, uint64_t bytes, stria::sdk::MapMode mode, stria::sdk::Waits waits,
            stria::sdk::Ref<stria::sdk::Event>* done) override;
  stria::sdk::Ref<stria::sdk::Event> unmap(void* memory) override;

  // Called by the queue. Ranges have been checked.
  void copy_to(uint64_t offset, AcmeBuffer& target, uint64_t target_offset, uint64_t bytes) const;
  void fill(uint64_t offset, uint64_t bytes, const std::vector<std::byte>& pattern);

 private:
  const stria::sdk::Host& host_;
  const stria::sdk::Ref<stria::sdk::MemoryBudget> budget_;
  std::byte* data_ = nullptr;
};

// All buffers of this device are of one class.
inline AcmeBuffer& buffer_of(const stria::sdk::Argument& argument) {
  return static_cast<AcmeBuffer&>(*argument.buffer);
}

// A part of a buffer as the host's interpreter works on it.
class HostView {
 public:
  HostView(AcmeBuffer& buffer, uint64_t offset, uint64_t) : data_(buffer.data() + offset) {}
  void* data() const { return data_; }
  void write_back() {}  // it is the buffer itself

 private:
  std::byte* data_;
};

}  // namespace acme_plugin
