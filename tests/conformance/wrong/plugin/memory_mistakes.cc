// SPDX-License-Identifier: Apache-2.0
// Copies, fills and allocations that are wrong.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#include "wrong_object.h"

namespace stria::wrong {
namespace {

uint64_t size_of(stria_buffer* buffer) { return sdk::as<sdk::Buffer>(buffer).size(); }

// What executor.copy was asked for.
struct Copy {
  stria_buffer* source;
  uint64_t source_offset;
  stria_buffer* target;
  uint64_t target_offset;
  uint64_t bytes;
  uint64_t room() const {  // behind both ranges
    return std::min(size_of(source) - std::min(size_of(source), source_offset + bytes),
                    size_of(target) - std::min(size_of(target), target_offset + bytes));
  }
};

// A copy slot that changes what it was asked for.
template <void (*kChange)(Copy&)>
stria_error* copy(stria_executor* executor, stria_buffer* source, uint64_t source_offset,
                  stria_buffer* target, uint64_t target_offset, uint64_t bytes,
                  stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  Copy asked{source, source_offset, target, target_offset, bytes};
  kChange(asked);
  return Right::copy(executor, asked.source, asked.source_offset, asked.target, asked.target_offset,
                     asked.bytes, waits, wait_count, done);
}
template <void (*kChange)(Copy&)>
void plant_copy(WrongObject& object) {
  object.tables.executor.copy = copy<kChange>;
}

// What executor.fill was asked for.
struct Fill {
  uint64_t size;  // of the buffer
  uint64_t offset;
  uint64_t bytes;
  std::array<unsigned char, 16> pattern;
  uint64_t pattern_size;
};
template <void (*kChange)(Fill&)>
stria_error* fill(stria_executor* executor, stria_buffer* target, uint64_t offset, uint64_t bytes,
                  const void* pattern, uint64_t pattern_size, stria_event* const* waits,
                  uint64_t wait_count, stria_event** done) {
  Fill asked{size_of(target), offset, bytes, {}, pattern_size};
  std::memcpy(asked.pattern.data(), pattern, std::min<uint64_t>(pattern_size, 16));
  kChange(asked);
  return Right::fill(executor, target, asked.offset, asked.bytes, asked.pattern.data(),
                     asked.pattern_size, waits, wait_count, done);
}
template <void (*kChange)(Fill&)>
void plant_fill(WrongObject& object) {
  object.tables.executor.fill = fill<kChange>;
}

// Starts its own work in place of the executor's.
template <typename Body>
void start(stria_executor* executor, stria_event* const* waits, uint64_t count, stria_event** done,
           Body body) {
  auto& on = sdk::as<sdk::Executor>(executor);
  *done = sdk::give<stria_event>(
      sdk::schedule(on.host(), on.tracker(), sdk::waits_of(waits, count), std::move(body)));
}

// Reads the source when it is called, not when its waits are over.
stria_error* copy_that_reads_early(stria_executor* executor, stria_buffer* source,
                                   uint64_t source_offset, stria_buffer* target,
                                   uint64_t target_offset, uint64_t bytes,
                                   stria_event* const* waits, uint64_t wait_count,
                                   stria_event** done) {
  const std::byte* from = sdk::as<sdk::Buffer>(source).data() + source_offset;
  start(executor, waits, wait_count, done,
        [held = std::vector<std::byte>(from, from + bytes),
         to = sdk::Ref<sdk::Buffer>(&sdk::as<sdk::Buffer>(target)), target_offset] {
          if (!held.empty()) std::memcpy(to->data() + target_offset, held.data(), held.size());
        });
  return nullptr;
}

stria_error* copy_that_waits_for_nothing_if_empty(stria_executor* executor, stria_buffer* source,
                                                  uint64_t source_offset, stria_buffer* target,
                                                  uint64_t target_offset, uint64_t bytes,
                                                  stria_event* const* waits, uint64_t wait_count,
                                                  stria_event** done) {
  return Right::copy(executor, source, source_offset, target, target_offset, bytes, waits,
                     bytes == 0 ? 0 : wait_count, done);
}

stria_error* copy_that_refuses_none(stria_executor* executor, stria_buffer* source,
                                    uint64_t source_offset, stria_buffer* target,
                                    uint64_t target_offset, uint64_t bytes,
                                    stria_event* const* waits, uint64_t wait_count,
                                    stria_event** done) {
  if (bytes == 0)
    return sdk::to_error(sdk::Error(STRIA_INVALID_ARGUMENT, "a copy of 0 bytes").outcome());
  return Right::copy(executor, source, source_offset, target, target_offset, bytes, waits,
                     wait_count, done);
}

// Reads the pattern when the work begins.
stria_error* fill_that_reads_late(stria_executor* executor, stria_buffer* target, uint64_t offset,
                                  uint64_t bytes, const void* pattern, uint64_t pattern_size,
                                  stria_event* const* waits, uint64_t wait_count,
                                  stria_event** done) {
  start(executor, waits, wait_count, done,
        [to = sdk::Ref<sdk::Buffer>(&sdk::as<sdk::Buffer>(target)), offset, bytes,
         from = static_cast<const std::byte*>(pattern), pattern_size] {
          for (uint64_t i = 0; i < bytes; ++i) to->data()[offset + i] = from[i % pattern_size];
        });
  return nullptr;
}

// From the next lower multiple of 8 of its address.
stria_error* fill_that_reads_aligned(stria_executor* executor, stria_buffer* target,
                                     uint64_t offset, uint64_t bytes, const void* pattern,
                                     uint64_t pattern_size, stria_event* const* waits,
                                     uint64_t wait_count, stria_event** done) {
  const auto address = reinterpret_cast<uintptr_t>(pattern) & ~uintptr_t{7};
  std::array<unsigned char, 16> read{};
  // Not beyond what the caller gave: what follows may be no memory.
  const auto* last = static_cast<const unsigned char*>(pattern) + pattern_size;
  const auto* first = reinterpret_cast<const unsigned char*>(address);
  std::copy_n(first, std::min<ptrdiff_t>(last - first, static_cast<ptrdiff_t>(pattern_size)),
              read.begin());
  return Right::fill(executor, target, offset, bytes, read.data(), pattern_size, waits, wait_count,
                     done);
}

// ---- allocations

template <uint64_t (*kBytes)(uint64_t asked)>
stria_error* allocate(stria_device* device, const stria_buffer_params* params,
                      stria_buffer** buffer) {
  stria_buffer_params given = sdk::whole(params);
  given.size = sizeof given;
  given.bytes = kBytes(given.bytes);
  return Right::allocate(device, &given, buffer);
}
template <uint64_t (*kBytes)(uint64_t asked)>
void plant_allocate(WrongObject& object) {
  object.tables.device.allocate = allocate<kBytes>;
}

stria_error* allocate_with_another_code(stria_device* device, const stria_buffer_params* params,
                                        stria_buffer** buffer) {
  stria_error* const error = Right::allocate(device, params, buffer);
  if (error) error->code = STRIA_INTERNAL;
  return error;
}

stria_error* allocate_that_writes_always(stria_device* device, const stria_buffer_params* params,
                                         stria_buffer** buffer) {
  *buffer = reinterpret_cast<stria_buffer*>(uintptr_t{64});
  return Right::allocate(device, params, buffer);
}

stria_error* allocate_that_refuses_none(stria_device* device, const stria_buffer_params* params,
                                        stria_buffer** buffer) {
  if (sdk::whole(params).bytes == 0)
    return sdk::to_error(sdk::Error(STRIA_INVALID_ARGUMENT, "a buffer of 0 bytes").outcome());
  return Right::allocate(device, params, buffer);
}

// It has one memory, and takes any name for it.
stria_error* allocate_in_any_memory(stria_device* device, const stria_buffer_params* params,
                                    stria_buffer** buffer) {
  stria_buffer_params given = sdk::whole(params);
  given.size = sizeof given;
  given.memory = {nullptr, 0};
  return Right::allocate(device, &given, buffer);
}

// There are handles for so many, and none comes back.
stria_error* allocate_of_few_handles(stria_device* device, const stria_buffer_params* params,
                                     stria_buffer** buffer) {
  static std::atomic<int> made{0};
  if (++made > 300)
    return sdk::to_error(sdk::Error(STRIA_OUT_OF_MEMORY, "there are 300 handles").outcome());
  return Right::allocate(device, params, buffer);
}

// Two buffers of one size that live at the same time get the same memory.
std::mutex& twins_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}
stria_buffer*& twin() {
  static stria_buffer* one = nullptr;
  return one;
}
stria_error* allocate_of_shared_memory(stria_device* device, const stria_buffer_params* params,
                                       stria_buffer** buffer) {
  const std::lock_guard<std::mutex> lock(twins_mutex());
  if (twin() && size_of(twin()) == sdk::whole(params).bytes) {
    sdk::as<sdk::Buffer>(twin()).add_reference();
    *buffer = twin();
    return nullptr;
  }
  stria_error* const error = Right::allocate(device, params, buffer);
  if (!error) {
    // Kept for ever: a handle that the layer compares with stays one.
    twin() = *buffer;
    sdk::as<sdk::Buffer>(twin()).add_reference();
  }
  return error;
}

// As if the memory went to somebody else at once: work in flight finds other bytes in it.
void release_at_once(stria_buffer* buffer) {
  auto& gone = sdk::as<sdk::Buffer>(buffer);
  if (gone.size() > 0) std::memset(gone.data(), 0xdd, gone.size());
  Right::buffer_table.release(buffer);
}

constexpr Mistake kAll[] = {
    {"copy.last_byte_is_lost", plant_copy<[](Copy& c) { c.bytes -= (c.bytes > 0); }>},
    {"copy.first_byte_is_lost", plant_copy<[](Copy& c) {
       if (c.bytes == 0) return;
       ++c.source_offset, ++c.target_offset, --c.bytes;
     }>},
    {"copy.one_byte_more", plant_copy<[](Copy& c) { c.bytes += (c.room() > 0); }>},
    {"copy.source_is_one_behind", plant_copy<[](Copy& c) { c.source_offset += (c.room() > 0); }>},
    {"copy.target_is_one_behind", plant_copy<[](Copy& c) { c.target_offset += (c.room() > 0); }>},
    {"copy.whole_words_only", plant_copy<[](Copy& c) { c.bytes &= ~uint64_t{3}; }>},
    {"copy.up_to_16_bytes_more",
     plant_copy<[](Copy& c) { c.bytes += std::min((16 - c.bytes % 16) % 16, c.room()); }>},
    {"copy.offsets_of_whole_words",
     plant_copy<[](Copy& c) { c.source_offset &= ~uint64_t{3}, c.target_offset &= ~uint64_t{3}; }>},
    {"copy.one_page_at_most",
     plant_copy<[](Copy& c) { c.bytes = std::min<uint64_t>(c.bytes, 4096); }>},
    {"copy.one_mebibyte_at_most",
     plant_copy<[](Copy& c) { c.bytes = std::min<uint64_t>(c.bytes, 1 << 20); }>},
    {"copy.backward", plant_copy<[](Copy& c) {
       std::swap(c.source, c.target);
       std::swap(c.source_offset, c.target_offset);
     }>},
    {"copy.nothing_within_a_buffer",
     plant_copy<[](Copy& c) { c.bytes = c.source == c.target ? 0 : c.bytes; }>},
    {"copy.reads_at_the_call",
     [](WrongObject& o) { o.tables.executor.copy = copy_that_reads_early; }},
    {"copy.of_nothing_waits_for_nothing",
     [](WrongObject& o) { o.tables.executor.copy = copy_that_waits_for_nothing_if_empty; }},
    {"copy.of_nothing_is_refused",
     [](WrongObject& o) { o.tables.executor.copy = copy_that_refuses_none; }},

    {"fill.last_pattern_is_lost",
     plant_fill<[](Fill& f) { f.bytes -= f.bytes >= f.pattern_size ? f.pattern_size : 0; }>},
    {"fill.one_pattern_more", plant_fill<[](Fill& f) {
       if (f.offset + f.bytes + f.pattern_size <= f.size) f.bytes += f.pattern_size;
     }>},
    {"fill.one_byte_behind", plant_fill<[](Fill& f) { f.offset += f.offset + f.bytes < f.size; }>},
    {"fill.offset_of_whole_words", plant_fill<[](Fill& f) { f.offset &= ~uint64_t{3}; }>},
    {"fill.half_of_a_long_pattern",
     plant_fill<[](Fill& f) { f.pattern_size = std::min<uint64_t>(f.pattern_size, 8); }>},
    {"fill.one_byte_of_the_pattern", plant_fill<[](Fill& f) { f.pattern_size = 1; }>},
    {"fill.pattern_backward", plant_fill<[](Fill& f) {
       std::reverse(f.pattern.begin(), f.pattern.begin() + static_cast<ptrdiff_t>(f.pattern_size));
     }>},
    {"fill.pattern_begins_at_the_buffer", plant_fill<[](Fill& f) {
       std::rotate(f.pattern.begin(),
                   f.pattern.begin() + static_cast<ptrdiff_t>(f.offset % f.pattern_size),
                   f.pattern.begin() + static_cast<ptrdiff_t>(f.pattern_size));
     }>},
    {"fill.one_pattern_only",
     plant_fill<[](Fill& f) { f.bytes = std::min(f.bytes, f.pattern_size); }>},
    {"fill.sixty_four_kibibytes_at_most",
     plant_fill<[](Fill& f) { f.bytes = std::min<uint64_t>(f.bytes, 1 << 16); }>},
    {"fill.reads_the_pattern_late",
     [](WrongObject& o) { o.tables.executor.fill = fill_that_reads_late; }},
    {"fill.reads_the_pattern_aligned",
     [](WrongObject& o) { o.tables.executor.fill = fill_that_reads_aligned; }},

    {"allocate.one_byte_less", plant_allocate<[](uint64_t asked) { return asked - (asked > 0); }>},
    {"allocate.in_32_bits", plant_allocate<[](uint64_t asked) { return asked & 0xffffffffu; }>},
    {"allocate.code_of_no_memory",
     [](WrongObject& o) { o.tables.device.allocate = allocate_with_another_code; }},
    {"allocate.writes_its_output_always",
     [](WrongObject& o) { o.tables.device.allocate = allocate_that_writes_always; }},
    {"allocate.of_nothing_is_refused",
     [](WrongObject& o) { o.tables.device.allocate = allocate_that_refuses_none; }},
    {"allocate.handles_run_out",
     [](WrongObject& o) { o.tables.device.allocate = allocate_of_few_handles; }},
    {"allocate.memory_of_any_name",
     [](WrongObject& o) { o.tables.device.allocate = allocate_in_any_memory; }},
    {"allocate.two_share_memory",
     [](WrongObject& o) { o.tables.device.allocate = allocate_of_shared_memory; }},
    {"buffer.memory_goes_at_once",
     [](WrongObject& o) { o.tables.buffer.release = release_at_once; }},
};

}  // namespace

std::span<const Mistake> memory_mistakes() { return kAll; }

}  // namespace stria::wrong
