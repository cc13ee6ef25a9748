// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace acme_plugin {
namespace {

namespace sdk = stria::sdk;

constexpr uint64_t kAlignment = 64;  // a cache line, and the widest vector

}  // namespace

AcmeBuffer::AcmeBuffer(const sdk::Host& host, Queue&, sdk::Ref<sdk::MemoryBudget> budget,
                       uint64_t size_bytes)
    : Buffer(size_bytes), host_(host), budget_(std::move(budget)) {
  budget_->take(size_bytes);
  try {
    data_ = static_cast<std::byte*>(host_.allocate(size_bytes, kAlignment));
  } catch (...) {
    budget_->give_back(size_bytes);
    throw budget_->none_for(size_bytes, "host");
  }
}

AcmeBuffer::~AcmeBuffer() {
  host_.free(data_, size(), kAlignment);
  budget_->give_back(size());
}

void* AcmeBuffer::map(uint64_t offset, uint64_t, sdk::MapMode, sdk::Waits waits,
                      sdk::Ref<sdk::Event>* done) {
  *done = sdk::when_done(host_, host_.tracker(), waits);
  return data_ + offset;
}

sdk::Ref<sdk::Event> AcmeBuffer::unmap(void*) { return sdk::when_done(host_, host_.tracker(), {}); }

void AcmeBuffer::copy_to(uint64_t offset, AcmeBuffer& target, uint64_t target_offset,
                         uint64_t bytes) const {
  if (bytes > 0) std::memcpy(target.data_ + target_offset, data_ + offset, bytes);
}

void AcmeBuffer::fill(uint64_t offset, uint64_t bytes, const std::vector<std::byte>& pattern) {
  for (uint64_t at = 0; at < bytes; at += pattern.size())
    std::copy(pattern.begin(), pattern.end(), data_ + offset + at);
}

}  // namespace acme_plugin
