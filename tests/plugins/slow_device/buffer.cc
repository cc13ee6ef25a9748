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

GlobalBuffer::GlobalBuffer(const sdk::Host& host, Queues& queues,
                           sdk::Ref<sdk::MemoryBudget> budget, uint64_t size_bytes)
    : Buffer(size_bytes), host_(host), queues_(queues), budget_(std::move(budget)) {
  budget_->take(size_bytes);
  try {
    far_.assign(size_bytes, kGarbage);
  } catch (...) {
    budget_->give_back(size_bytes);
    throw;
  }
}

void* GlobalBuffer::map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
                        sdk::Ref<sdk::Event>* done) {
  auto copy = std::make_shared<Copy>();
  copy->offset = offset;
  copy->size = bytes;
  copy->mode = mode;
  copy->bytes.assign(std::max<uint64_t>(bytes, 1), kGarbage);
  void* memory = copy->bytes.data();
  {
    std::lock_guard lock(mutex_);
    copies_[memory] = copy;
  }
  auto read = [self = sdk::Ref<GlobalBuffer>(this), copy] {
    self->hold(*copy);
    if (copy->mode != sdk::MapMode::discard && copy->size > 0)
      std::memcpy(copy->bytes.data(), self->far_.data() + copy->offset, copy->size);
  };
  try {
    *done = queued(host_, host_.tracker(), queues_, waits, std::move(read));
    copy->ready = *done;
  } catch (...) {
    std::lock_guard lock(mutex_);
    copies_.erase(memory);
    throw;
  }
  return memory;
}

sdk::Ref<sdk::Event> GlobalBuffer::unmap(void* memory) {
  std::shared_ptr<Copy> copy;
  {
    std::lock_guard lock(mutex_);
    auto at = copies_.find(memory);
    if (at == copies_.end()) throw sdk::Error(STRIA_INVALID_ARGUMENT, "this address is not mapped");
    if (!at->second->ready->done())
      throw sdk::Error(STRIA_FAILED_PRECONDITION, "this mapping is not ready yet");
    copy = std::move(at->second);
    copies_.erase(at);
  }
  // A mapping that failed has nothing to take to the device, and holds nothing.
  sdk::Event* const ready = copy->ready.get();
  return queued(host_, host_.tracker(), queues_, {&ready, 1},
                [self = sdk::Ref<GlobalBuffer>(this), copy] {
                  if (copy->mode != sdk::MapMode::read && copy->size > 0)
                    std::memcpy(self->far_.data() + copy->offset, copy->bytes.data(), copy->size);
                  // Who still looks at the mapping sees garbage.
                  std::fill(copy->bytes.begin(), copy->bytes.end(), kGarbage);
                  self->let_go(*copy);
                });
}

void GlobalBuffer::hold(const Copy& copy) {
  std::lock_guard lock(mutex_);
  for (const Copy* other : held_)
    if ((copy.mode != sdk::MapMode::read || other->mode != sdk::MapMode::read) &&
        copy.offset < other->offset + other->size && other->offset < copy.offset + copy.size)
      throw sdk::Error(STRIA_FAILED_PRECONDITION,
                       "bytes " + std::to_string(copy.offset) + " to " +
                           std::to_string(copy.offset + copy.size) +
                           " are mapped while a mapping of bytes " + std::to_string(other->offset) +
                           " to " + std::to_string(other->offset + other->size) + " goes on");
  held_.push_back(&copy);
}

void GlobalBuffer::let_go(const Copy& copy) {
  std::lock_guard lock(mutex_);
  std::erase(held_, &copy);
}

}  // namespace stria::slow_device
