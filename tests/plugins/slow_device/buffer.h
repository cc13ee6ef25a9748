// SPDX-License-Identifier: Apache-2.0
// Memory of the device: the host gets copies of it, never an address in it. It refuses what a host
// may not do: to unmap what is not ready, and to hold overlapping ranges at once that are not both
// read only.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "queue.h"
#include "stria/sdk/buffer.h"

namespace stria::slow_device {

class GlobalBuffer final : public sdk::Buffer {
 public:
  // Throws STRIA_OUT_OF_MEMORY. The contents are garbage.
  GlobalBuffer(const sdk::Host& host, Queues& queues, sdk::Ref<sdk::MemoryBudget> budget,
               uint64_t size_bytes);
  ~GlobalBuffer() override { budget_->give_back(size()); }

  std::byte* data() override { return far_.data(); }
  void* map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
            sdk::Ref<sdk::Event>* done) override;
  sdk::Ref<sdk::Event> unmap(void* memory) override;

 private:
  struct Copy {
    uint64_t offset;
    uint64_t size;
    sdk::MapMode mode;
    std::vector<std::byte> bytes;  // never empty: its address names the mapping
    sdk::Ref<sdk::Event> ready;
  };
  // Throws if the copy's range overlaps one that is held.
  void hold(const Copy& copy);
  void let_go(const Copy& copy);

  const sdk::Host& host_;
  Queues& queues_;
  sdk::Ref<sdk::MemoryBudget> budget_;
  std::vector<std::byte> far_;
  std::mutex mutex_;
  std::map<void*, std::shared_ptr<Copy>> copies_;  // guarded by mutex_
  std::vector<const Copy*> held_;                  // guarded by mutex_
};

}  // namespace stria::slow_device
