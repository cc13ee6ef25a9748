// SPDX-License-Identifier: Apache-2.0
// Memory that the host does not see: a mapping is a copy of it.
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "right.h"

namespace stria::wrong {

// Thread-safe.
class StagedBuffer final : public sdk::Buffer {
 public:
  StagedBuffer(const sdk::Host& host, sdk::Ref<sdk::MemoryBudget> budget, uint64_t size_bytes);
  ~StagedBuffer() override;

  std::byte* data() override { return memory_->data(); }
  void* map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
            sdk::Ref<sdk::Event>* done) override;
  sdk::Ref<sdk::Event> unmap(void* memory) override;

 private:
  struct Mapping;
  const sdk::Host& host_;
  const sdk::Ref<sdk::HostBuffer> memory_;  // the device's
  std::mutex mutex_;
  std::vector<std::shared_ptr<Mapping>> mappings_;  // guarded by mutex_
  std::vector<std::thread> late_;                   // guarded by mutex_; writes that come late
};

}  // namespace stria::wrong
