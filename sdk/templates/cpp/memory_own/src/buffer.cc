// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include <algorithm>
#include <utility>

#include "vendor_failure.h"

namespace acme_plugin {

namespace sdk = stria::sdk;

AcmeBuffer::AcmeBuffer(const sdk::Host& host, Queue& queue, sdk::Ref<sdk::MemoryBudget> budget,
                       uint64_t size_bytes)
    : Buffer(size_bytes), host_(host), queue_(queue), budget_(std::move(budget)) {
  budget_->take(size_bytes);
  const acme_result result = acme_memory_allocate(size_bytes, &memory_);
  if (result.code == STRIA_OK) return;
  budget_->give_back(size_bytes);
  // Of memory that is used up the host wants to know how much is free.
  if (result.code == STRIA_OUT_OF_MEMORY) throw budget_->none_for(size_bytes, "device");
  check_call("allocate", result);
}

AcmeBuffer::~AcmeBuffer() {
  acme_memory_free(memory_);
  budget_->give_back(size());
}

std::byte* AcmeBuffer::data() {
  throw sdk::Error(STRIA_INTERNAL, "the device's memory has no address in the host");
}

void* AcmeBuffer::map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
                      sdk::Ref<sdk::Event>* done) {
  auto mapping = std::make_shared<Mapping>();
  mapping->mode = mode;
  mapping->offset = offset;
  mapping->size = bytes;
  mapping->bytes.resize(std::max<uint64_t>(bytes, 1));
  void* memory = mapping->bytes.data();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    mappings_[memory] = mapping;
  }
  try {
    if (mode != sdk::MapMode::discard)
      mapping->ready = queue_.run(host_.tracker(), waits, [self = sdk::Ref(this), mapping] {
        self->read(mapping->offset, mapping->bytes.data(), mapping->size);
      });
    else
      mapping->ready = sdk::when_done(host_, host_.tracker(), waits);
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    mappings_.erase(memory);
    throw;
  }
  *done = mapping->ready;
  return memory;
}

sdk::Ref<sdk::Event> AcmeBuffer::unmap(void* memory) {
  std::shared_ptr<Mapping> mapping;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
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
  return queue_.run(host_.tracker(), {&ready, 1}, [self = sdk::Ref(this), mapping] {
    self->write(mapping->offset, mapping->bytes.data(), mapping->size);
  });
}

void AcmeBuffer::copy_to(uint64_t offset, AcmeBuffer& target, uint64_t target_offset,
                         uint64_t bytes) const {
  check_call("copy", acme_memory_copy(memory_, offset, target.memory_, target_offset, bytes));
}

void AcmeBuffer::fill(uint64_t offset, uint64_t bytes, const std::vector<std::byte>& pattern) {
  check_call("fill", acme_memory_fill(memory_, offset, bytes, pattern.data(), pattern.size()));
}

void AcmeBuffer::read(uint64_t offset, void* to, uint64_t bytes) const {
  check_call("read", acme_memory_read(memory_, offset, to, bytes));
}

void AcmeBuffer::write(uint64_t offset, const void* from, uint64_t bytes) {
  check_call("write", acme_memory_write(memory_, offset, from, bytes));
}

}  // namespace acme_plugin
