// SPDX-License-Identifier: Apache-2.0
// Memory of the device. A mapping is a piece of host memory of its own, copied in and out.
#pragma once

#include <map>
#include <mutex>

#include "context.h"
#include "stria/sdk/buffer.h"

namespace stria::opencl {

class ClBuffer final : public sdk::Buffer {
 public:
  ClBuffer(Context& context, sdk::Ref<sdk::MemoryBudget> budget, uint64_t size_bytes);
  ~ClBuffer() override;

  cl_mem handle() const { return handle_; }
  // The host cannot reach these bytes.
  std::byte* data() override;
  void* map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
            sdk::Ref<sdk::Event>* done) override;
  sdk::Ref<sdk::Event> unmap(void* memory) override;

 private:
  // Host memory that stands for bytes of the buffer. Goes with its last user.
  struct Staging : sdk::Object {
    Staging(const sdk::Host& host, uint64_t offset, uint64_t bytes);
    ~Staging() override;
    const sdk::Host& host;
    const uint64_t offset, bytes;
    void* memory;
  };
  struct Mapped {
    sdk::Ref<Staging> staging;
    sdk::MapMode mode;
    sdk::Ref<sdk::Event> ready;
  };

  Context& context_;
  sdk::Ref<sdk::MemoryBudget> budget_;
  cl_mem handle_ = nullptr;
  std::mutex mutex_;
  std::map<void*, Mapped> mapped_;  // guarded by mutex_
};

}  // namespace stria::opencl
