// SPDX-License-Identifier: Apache-2.0
// Memory of the device: the host gets copies of it, never an address in it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "stria/sdk/buffer.h"
#include "stria/sdk/executor.h"
#include "work_line.h"

namespace third_chip {

class Store final : public stria::sdk::Buffer {
 public:
  // Throws STRIA_OUT_OF_MEMORY. The line and the host outlive the buffer.
  Store(const stria::sdk::Host& host, WorkLine& line,
        stria::sdk::Ref<stria::sdk::MemoryBudget> budget, uint64_t size_bytes);
  ~Store() override;

  // There is none: throws.
  std::byte* data() override;
  void* map(uint64_t offset, uint64_t bytes, stria::sdk::MapMode mode, stria::sdk::Waits waits,
            stria::sdk::Ref<stria::sdk::Event>* done) override;
  stria::sdk::Ref<stria::sdk::Event> unmap(void* memory) override;

  // Called by the line. Ranges have been checked.
  void copy_to(uint64_t offset, Store& target, uint64_t target_offset, uint64_t bytes) const;
  void fill(uint64_t offset, uint64_t bytes, const std::vector<std::byte>& pattern);
  void read(uint64_t offset, void* to, uint64_t bytes) const;
  void write(uint64_t offset, const void* from, uint64_t bytes);

 private:
  // The host's copy of a range while that is mapped.
  struct Mapping {
    stria::sdk::MapMode mode = stria::sdk::MapMode::current;
    uint64_t offset = 0;
    uint64_t size = 0;
    std::vector<std::byte> bytes;  // never empty: its address names the mapping
    stria::sdk::Ref<stria::sdk::Event> ready;
  };
  // Held while mappings_ is used.
  std::unique_lock<std::mutex> lock_mappings();

  const stria::sdk::Host& host_;
  WorkLine& line_;
  const stria::sdk::Ref<stria::sdk::MemoryBudget> budget_;
  std::unique_ptr<std::byte[]> memory_;
  std::mutex mutex_;
  std::map<void*, std::shared_ptr<Mapping>> mappings_;  // guarded by mutex_
};

// All buffers of this device are of one class.
inline Store& store_of(const stria::sdk::Argument& argument) {
  return static_cast<Store&>(*argument.buffer);
}

}  // namespace third_chip
