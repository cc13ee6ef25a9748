// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include <algorithm>
#include <cstring>

#include "queued_work.h"

namespace stria::slow_device {
namespace {

// As a float and as an integer, nothing that a program would compute.
constexpr std::byte kGarbage{0xee};

}  // namespace

FarBuffer::FarBuffer(const sdk::Host& host, Queues& queues, sdk::Ref<sdk::MemoryBudget> budget,
                     uint64_t size_bytes)
    : Buffer(size_bytes), host_(host), queues_(queues), budget_(std::move(budget)) {
  budget_->take(size_bytes);
  try {
    far_.assign(size_bytes, kGarbage);
  } catch (...) {
    budget_->give_back(size_bytes);
    throw;
  }
}

void* FarBuffer::map(uint64_t offset, uint64_t bytes, bool current, sdk::Waits waits,
                     sdk::Ref<sdk::Event>* done) {
  auto copy = std::make_shared<Copy>();
  copy->offset = offset;
  copy->size = bytes;
  copy->bytes.assign(std::max<uint64_t>(bytes, 1), kGarbage);
  void* memory = copy->bytes.data();
  {
    std::lock_guard lock(mutex_);
    copies_[memory] = copy;
  }
  auto read = [self = sdk::Ref<FarBuffer>(this), copy, current] {
    if (current && copy->size > 0)
      std::memcpy(copy->bytes.data(), self->far_.data() + copy->offset, copy->size);
  };
  try {
    *done = queued(host_, host_.tracker(), queues_, waits, std::move(read));
  } catch (...) {
    std::lock_guard lock(mutex_);
    copies_.erase(memory);
    throw;
  }
  return memory;
}

sdk::Ref<sdk::Event> FarBuffer::unmap(void* memory) {
  std::shared_ptr<Copy> copy;
  {
    std::lock_guard lock(mutex_);
    auto at = copies_.find(memory);
    if (at == copies_.end()) throw sdk::Error(STRIA_INVALID_ARGUMENT, "this address is not mapped");
    copy = std::move(at->second);
    copies_.erase(at);
  }
  return queued(host_, host_.tracker(), queues_, {}, [self = sdk::Ref<FarBuffer>(this), copy] {
    if (copy->size > 0)
      std::memcpy(self->far_.data() + copy->offset, copy->bytes.data(), copy->size);
    // Who still looks at the mapping sees garbage.
    std::fill(copy->bytes.begin(), copy->bytes.end(), kGarbage);
  });
}

}  // namespace stria::slow_device
