// SPDX-License-Identifier: Apache-2.0
// Memory of the device. If the host reaches it as fast as its own, a mapping is that memory;
// otherwise it is a piece of staging memory, which the device copies from and to.
#pragma once

#include <map>
#include <mutex>

#include "context.h"
#include "memory.h"
#include "stria/sdk/buffer.h"

namespace stria::vulkan {

class VulkanBuffer final : public sdk::Buffer {
 public:
  // Throws STRIA_OUT_OF_MEMORY with the sizes.
  VulkanBuffer(Context& context, uint64_t size_bytes)
      : Buffer(size_bytes), context_(context), memory_(context.device_memory().take(size_bytes)) {}

  const Memory& memory() const { return memory_; }
  // Throws unless the host reaches the bytes.
  std::byte* data() override;
  void* map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
            sdk::Ref<sdk::Event>* done) override;
  sdk::Ref<sdk::Event> unmap(void* memory) override;

 private:
  // Host memory that stands for bytes of the buffer. Goes with its last user.
  struct Staging : sdk::Object {
    Staging(Memory from, uint64_t at, uint64_t count)
        : memory(std::move(from)), offset(at), bytes(count) {}
    const Memory memory;
    const uint64_t offset, bytes;
  };
  struct Mapped {
    sdk::Ref<Staging> staging;  // null: the memory itself
    sdk::MapMode mode;
    sdk::Ref<sdk::Event> ready;
  };
  // From the staging memory to the buffer, or back.
  sdk::Ref<sdk::Event> copy(const sdk::Ref<Staging>& staging, bool to_device, sdk::Waits waits);

  Context& context_;
  const Memory memory_;
  std::mutex mutex_;
  // Guarded by mutex_. The same address may be mapped more than once.
  std::multimap<void*, Mapped> mapped_;
};

}  // namespace stria::vulkan
