// SPDX-License-Identifier: Apache-2.0
// Memory of the chip that the host does not reach: a mapping is a copy, taken there and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "heap.h"
#include "stria/sdk/buffer.h"

namespace stria::blind {

class ChipBuffer final : public sdk::Buffer {
 public:
  ChipBuffer(const sdk::Host& host, sdk::Ref<Heap> heap, uint64_t size_bytes);
  ~ChipBuffer() override;

  // For kernels, copies and fills, which run on the host's threads.
  std::byte* data() override { return data_; }
  void* map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
            sdk::Ref<sdk::Event>* done) override;
  sdk::Ref<sdk::Event> unmap(void* memory) override;
  // The mistake buffer_release_scrubs: nobody after this one is to see what was there.
  void scrub();

 private:
  // Host memory that stands for bytes `begin` to `begin + bytes`. Goes with its last user.
  struct Staging final : sdk::Object {
    Staging(const sdk::Host& host, uint64_t begin, uint64_t bytes);
    ~Staging() override;
    const sdk::Host& host;
    const uint64_t begin, bytes;
    std::byte* const memory;
  };
  struct Mapping final : sdk::Object {
    sdk::Ref<Staging> staging;
    void* address = nullptr;  // what the host has been given
    sdk::MapMode mode = sdk::MapMode::current;
    sdk::Ref<sdk::Event> ready;
  };

  sdk::Ref<Mapping> find(void* memory);
  void forget(const Mapping& mapping);

  const sdk::Host& host_;
  const sdk::Ref<Heap> heap_;
  uint64_t taken_ = 0;  // bytes of data_
  std::byte* data_ = nullptr;
  std::mutex mutex_;
  std::vector<sdk::Ref<Mapping>> mappings_;  // oldest first; guarded by mutex_
};

}  // namespace stria::blind
