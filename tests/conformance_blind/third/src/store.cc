// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "chosen.h"

namespace third_chip {

namespace sdk = stria::sdk;

Store::Store(const sdk::Host& host, WorkLine& line, sdk::Ref<sdk::MemoryBudget> budget,
             uint64_t size_bytes)
    : Buffer(size_bytes), host_(host), line_(line), budget_(std::move(budget)) {
  budget_->take(size_bytes);
  memory_.reset(new (std::nothrow) std::byte[size_bytes + 1]);
  if (memory_) return;
  budget_->give_back(size_bytes);
  throw budget_->none_for(size_bytes, "device");
}

Store::~Store() {
  if (!makes(Mistake::budget_not_given_back)) budget_->give_back(size());
}

std::byte* Store::data() {
  throw sdk::Error(STRIA_INTERNAL, "the device's memory has no address in the host");
}

std::unique_lock<std::mutex> Store::lock_mappings() {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (!makes(Mistake::mappings_race)) lock.lock();
  return lock;
}

void* Store::map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
                 sdk::Ref<sdk::Event>* done) {
  if (makes(Mistake::map_ignores_waits)) waits = {};
  auto mapping = std::make_shared<Mapping>();
  mapping->mode = mode;
  mapping->offset = offset;
  mapping->size = bytes;
  mapping->bytes.resize(std::max<uint64_t>(bytes, 1));
  void* memory = mapping->bytes.data();
  {
    const auto lock = lock_mappings();
    mappings_[memory] = mapping;
  }
  try {
    if (mode != sdk::MapMode::discard)
      mapping->ready = line_.run(host_.tracker(), waits, [self = sdk::Ref(this), mapping] {
        self->read(mapping->offset, mapping->bytes.data(), mapping->size);
      });
    else
      mapping->ready = sdk::when_done(host_, host_.tracker(), waits);
  } catch (...) {
    const auto lock = lock_mappings();
    mappings_.erase(memory);
    throw;
  }
  *done = mapping->ready;
  return memory;
}

sdk::Ref<sdk::Event> Store::unmap(void* memory) {
  std::shared_ptr<Mapping> mapping;
  {
    const auto lock = lock_mappings();
    const auto at = mappings_.find(memory);
    if (at == mappings_.end())
      throw sdk::Error(STRIA_INVALID_ARGUMENT, "there is no mapping at this address");
    mapping = std::move(at->second);
    mappings_.erase(at);
  }
  // Of a mapping that failed nothing is written: what waits for it fails with it.
  sdk::Event* const ready = mapping->ready.get();
  if (mapping->mode == sdk::MapMode::read)
    return sdk::when_done(host_, host_.tracker(), {&ready, 1});
  return line_.run(host_.tracker(), {&ready, 1}, [self = sdk::Ref(this), mapping] {
    const uint64_t offset = makes(Mistake::unmap_at_start) ? 0 : mapping->offset;
    self->write(offset, mapping->bytes.data(), mapping->size);
  });
}

void Store::copy_to(uint64_t offset, Store& target, uint64_t target_offset, uint64_t bytes) const {
  if (makes(Mistake::copy_whole_words)) bytes -= bytes % 4;
  std::memcpy(target.memory_.get() + target_offset, memory_.get() + offset, bytes);
}

void Store::fill(uint64_t offset, uint64_t bytes, const std::vector<std::byte>& pattern) {
  size_t size = pattern.size();
  if (makes(Mistake::fill_sixteen_as_eight)) size = std::min<size_t>(size, 8);
  for (uint64_t at = 0; at < bytes; at += size)
    std::memcpy(memory_.get() + offset + at, pattern.data(), size);
}

void Store::read(uint64_t offset, void* to, uint64_t bytes) const {
  std::memcpy(to, memory_.get() + offset, bytes);
}

void Store::write(uint64_t offset, const void* from, uint64_t bytes) {
  std::memcpy(memory_.get() + offset, from, bytes);
}

}  // namespace third_chip
