// SPDX-License-Identifier: Apache-2.0
#include "chip_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mistake.h"
#include "stria/sdk/error.h"
#include "stria/sdk/event.h"

namespace stria::blind {
namespace {

constexpr uint64_t kLine = 64;
constexpr uint64_t kScrubbedBytes = 4096;

uint64_t up_to_multiple(uint64_t bytes, uint64_t of) { return (bytes + of - 1) / of * of; }

}  // namespace

ChipBuffer::Staging::Staging(const sdk::Host& from, uint64_t first, uint64_t count)
    : host(from),
      begin(first),
      bytes(count),
      memory(static_cast<std::byte*>(from.allocate(std::max<uint64_t>(count, 1), kLine))) {}

ChipBuffer::Staging::~Staging() {
  const uint64_t taken = std::max<uint64_t>(bytes, 1);
  host.free(memory, makes(Mistake::free_with_other_size) ? up_to_multiple(taken, kLine) : taken,
            kLine);
}

ChipBuffer::ChipBuffer(const sdk::Host& host, sdk::Ref<Heap> heap, uint64_t size_bytes)
    : Buffer(size_bytes),
      host_(host),
      heap_(std::move(heap)),
      // The allocator's own grain, added without a look at the end of 64 bits.
      taken_(makes(Mistake::allocate_rounds_over) ? up_to_multiple(size_bytes, Heap::kAlignment)
                                                  : size_bytes),
      data_(heap_->take(taken_)) {}

ChipBuffer::~ChipBuffer() { heap_->give_back(data_, taken_); }

void ChipBuffer::scrub() { std::memset(data_, 0, std::min(size(), kScrubbedBytes)); }

void* ChipBuffer::map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
                      sdk::Ref<sdk::Event>* done) {
  uint64_t begin = offset;
  uint64_t end = offset + bytes;
  bool reads = mode != sdk::MapMode::discard;
  if (makes(Mistake::unmap_rounds_to_lines)) {
    // The chip moves whole lines.
    begin = begin / kLine * kLine;
    end = std::min(up_to_multiple(end, kLine), size());
    reads = true;
  }
  auto mapping = sdk::make<Mapping>();
  mapping->staging = sdk::make<Staging>(host_, begin, end - begin);
  mapping->address = mapping->staging->memory + (offset - begin);
  mapping->mode = mode;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    mappings_.push_back(mapping);
  }
  try {
    if (reads && end > begin)
      *done = schedule(host_, host_.tracker(), waits,
                       [self = sdk::Ref<ChipBuffer>(this), staging = mapping->staging] {
                         std::memcpy(staging->memory, self->data_ + staging->begin, staging->bytes);
                       });
    else
      *done = when_done(host_, host_.tracker(), waits);
  } catch (...) {
    forget(*mapping);
    throw;
  }
  mapping->ready = *done;
  return mapping->address;
}

sdk::Ref<sdk::Event> ChipBuffer::unmap(void* memory) {
  const sdk::Ref<Mapping> mapping = find(memory);
  const sdk::Ref<Staging>& staging = mapping->staging;
  sdk::Event* const ready = mapping->ready.get();
  // Of a mapping that failed nothing is written: the wait carries its failure.
  sdk::Waits waits{&ready, 1};
  if (makes(Mistake::failed_map_written_back)) waits = {};
  if (makes(Mistake::failed_map_leaks) && ready->done() && ready->outcome())
    staging->add_reference();
  sdk::Ref<sdk::Event> done;
  if (mapping->mode == sdk::MapMode::read || staging->bytes == 0)
    done = when_done(host_, host_.tracker(), waits);
  else
    done = schedule(host_, host_.tracker(), waits, [self = sdk::Ref<ChipBuffer>(this), staging] {
      std::memcpy(self->data_ + staging->begin, staging->memory, staging->bytes);
    });
  forget(*mapping);
  return done;
}

sdk::Ref<ChipBuffer::Mapping> ChipBuffer::find(void* memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (makes(Mistake::unmap_takes_latest) && !mappings_.empty()) return mappings_.back();
  for (const sdk::Ref<Mapping>& mapping : mappings_)
    if (mapping->address == memory) return mapping;
  throw sdk::Error(STRIA_INVALID_ARGUMENT, "this address is not mapped");
}

void ChipBuffer::forget(const Mapping& mapping) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at =
      std::find_if(mappings_.begin(), mappings_.end(),
                   [&mapping](const sdk::Ref<Mapping>& one) { return one.get() == &mapping; });
  if (at != mappings_.end()) mappings_.erase(at);
}

}  // namespace stria::blind
