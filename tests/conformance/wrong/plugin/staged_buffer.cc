// SPDX-License-Identifier: Apache-2.0
#include "staged_buffer.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace stria::wrong {
namespace {

// For what is done too early: longer than a test looks, on a busy machine too.
constexpr useconds_t kLateUs = 300'000;

}  // namespace

struct StagedBuffer::Mapping {
  Mapping(const sdk::Host& on, uint64_t from, uint64_t count, sdk::MapMode how)
      : host(on),
        offset(from),
        bytes(count),
        mode(how),
        memory(static_cast<std::byte*>(host.allocate(count + kRoom, kAlignment))) {}
  ~Mapping() { host.free(memory, bytes + kRoom, kAlignment); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  // From the device's memory, and to it.
  void read(const std::byte* data, uint64_t size) const {
    const MapFaults& faults = hooks().map;
    if (faults.reads_nothing || mode == sdk::MapMode::discard) return;
    const uint64_t from = std::min(offset + faults.reads_from_behind, size);
    const uint64_t count = std::min(bytes - std::min(bytes, faults.reads_less), size - from);
    if (count > 0) std::memcpy(memory, data + from, count);
  }
  void write(std::byte* data, uint64_t size) const {
    const MapFaults& faults = hooks().map;
    if (faults.writes_nothing || (faults.discard_writes_nothing && mode == sdk::MapMode::discard))
      return;
    if (mode == sdk::MapMode::read && !faults.read_writes_back) return;
    const uint64_t to = std::min(offset + faults.writes_to_behind, size);
    const uint64_t count = std::min(bytes - std::min(bytes, faults.writes_less), size - to);
    if (count > 0) std::memcpy(data + to, memory, count);
  }

  static constexpr uint64_t kAlignment = 64;
  // Behind the mapping's bytes: a host that was given a wrong address writes there.
  static constexpr uint64_t kRoom = 64;
  const sdk::Host& host;
  const uint64_t offset, bytes;
  const sdk::MapMode mode;
  std::byte* const memory;
  std::byte* given = nullptr;  // the host's address
  sdk::Ref<sdk::Event> ready;
};

StagedBuffer::StagedBuffer(const sdk::Host& host, sdk::Ref<sdk::MemoryBudget> budget,
                           uint64_t size_bytes)
    : Buffer(size_bytes),
      host_(host),
      memory_(sdk::make<sdk::HostBuffer>(host, std::move(budget), size_bytes)) {}

StagedBuffer::~StagedBuffer() {
  for (std::thread& one : late_) one.join();
}

void* StagedBuffer::map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
                        sdk::Ref<sdk::Event>* done) {
  const MapFaults& faults = hooks().map;
  auto mapping = std::make_shared<Mapping>(host_, offset, bytes, mode);
  mapping->given = mapping->memory + faults.address_is_behind;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (faults.shares_memory && !mappings_.empty() &&
        mappings_.front()->bytes + Mapping::kRoom >= bytes)
      mapping->given = mappings_.front()->memory;
    mappings_.push_back(mapping);
  }
  const auto read = [mapping, memory = memory_] { mapping->read(memory->data(), memory->size()); };
  if (faults.is_ready_early) {
    mapping->ready = sdk::when_done(host_, host_.tracker(), waits);
    (void)sdk::schedule(host_, host_.tracker(), waits, [read] {
      ::usleep(kLateUs);
      read();
    });
  } else {
    mapping->ready = sdk::schedule(host_, host_.tracker(), waits, read);
  }
  *done = mapping->ready;
  return mapping->given;
}

sdk::Ref<sdk::Event> StagedBuffer::unmap(void* memory) {
  const MapFaults& faults = hooks().map;
  std::shared_ptr<Mapping> mapping;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = std::find_if(mappings_.begin(), mappings_.end(),
                                 [memory](const auto& one) { return one->given == memory; });
    if (it == mappings_.end())
      throw sdk::Error(STRIA_INVALID_ARGUMENT, "this memory is no mapping of the buffer");
    mapping = *it;
    mappings_.erase(it);
  }
  const bool failed = mapping->ready->done() && mapping->ready->outcome();
  if (failed && !faults.failed_writes_back) return sdk::when_done(host_, host_.tracker(), {});
  const auto write = [mapping, memory = memory_] {
    mapping->write(memory->data(), memory->size());
  };
  if (!faults.unmap_is_done_early) return sdk::schedule(host_, host_.tracker(), {}, write);
  // On a thread of its own: on the host's, the case's own copy might wait behind it.
  const std::lock_guard<std::mutex> lock(mutex_);
  late_.emplace_back([write] {
    ::usleep(kLateUs);
    write();
  });
  return sdk::when_done(host_, host_.tracker(), {});
}

}  // namespace stria::wrong
