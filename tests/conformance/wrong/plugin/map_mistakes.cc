// SPDX-License-Identifier: Apache-2.0
// Mappings that are wrong.
#include "wrong_object.h"

namespace stria::wrong {
namespace {

using Map = stria_error* (*)(stria_buffer*, uint64_t, uint64_t, stria_event* const*, uint64_t,
                             void**, stria_event**);

// Gives its address only if nothing is to be waited for: what is not yet there is no memory.
template <Map kRight>
stria_error* map_without_address(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                 stria_event* const* waits, uint64_t wait_count, void** memory,
                                 stria_event** done) {
  stria_error* const error = kRight(buffer, offset, bytes, waits, wait_count, memory, done);
  if (!error && !sdk::as<sdk::Event>(*done).done() && wait_count > 0) *memory = nullptr;
  return error;
}

template <Map kRight>
stria_error* map_of_whole_words(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                stria_event* const* waits, uint64_t wait_count, void** memory,
                                stria_event** done) {
  return kRight(buffer, offset & ~uint64_t{3}, bytes, waits, wait_count, memory, done);
}

stria_error* map_of_nothing_refused(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                    stria_event* const* waits, uint64_t wait_count, void** memory,
                                    stria_event** done) {
  if (bytes == 0)
    return sdk::to_error(sdk::Error(STRIA_INVALID_ARGUMENT, "a mapping of 0 bytes").outcome());
  return Right::map_current(buffer, offset, bytes, waits, wait_count, memory, done);
}

// The bytes of a mapping that is open: another one of the same range is refused.
stria_error* map_once(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                      stria_event* const* waits, uint64_t wait_count, void** memory,
                      stria_event** done) {
  if (wait_count > 0)
    return sdk::to_error(
        sdk::Error(STRIA_FAILED_PRECONDITION, "the buffer is mapped or in use").outcome());
  return Right::map_discard(buffer, offset, bytes, waits, wait_count, memory, done);
}

constexpr Mistake kAll[] = {
    {"map.reads_one_byte_behind", [](WrongObject&) { hooks().map.reads_from_behind = 1; }},
    {"map.reads_all_but_the_last", [](WrongObject&) { hooks().map.reads_less = 1; }},
    {"map.reads_nothing", [](WrongObject&) { hooks().map.reads_nothing = true; }},
    {"map.writes_one_byte_behind", [](WrongObject&) { hooks().map.writes_to_behind = 1; }},
    {"map.writes_all_but_the_last", [](WrongObject&) { hooks().map.writes_less = 1; }},
    {"map.writes_nothing", [](WrongObject&) { hooks().map.writes_nothing = true; }},
    {"map.address_is_one_behind", [](WrongObject&) { hooks().map.address_is_behind = 1; }},
    {"map.read_takes_back", [](WrongObject&) { hooks().map.read_writes_back = true; }},
    {"map.discard_writes_nothing", [](WrongObject&) { hooks().map.discard_writes_nothing = true; }},
    {"map.failed_writes", [](WrongObject&) { hooks().map.failed_writes_back = true; }},
    {"map.is_ready_early", [](WrongObject&) { hooks().map.is_ready_early = true; }},
    {"map.unmap_is_done_early", [](WrongObject&) { hooks().map.unmap_is_done_early = true; }},
    {"map.all_share_one_copy", [](WrongObject&) { hooks().map.shares_memory = true; }},
    {"map.current_offset_of_whole_words",
     [](WrongObject& o) { o.tables.buffer.map_current = map_of_whole_words<Right::map_current>; }},
    {"map.discard_offset_of_whole_words",
     [](WrongObject& o) { o.tables.buffer.map_discard = map_of_whole_words<Right::map_discard>; }},
    {"map.read_offset_of_whole_words",
     [](WrongObject& o) { o.tables.buffer.map_read = map_of_whole_words<Right::map_read>; }},
    {"map.current_has_no_address_yet",
     [](WrongObject& o) { o.tables.buffer.map_current = map_without_address<Right::map_current>; }},
    {"map.discard_has_no_address_yet",
     [](WrongObject& o) { o.tables.buffer.map_discard = map_without_address<Right::map_discard>; }},
    {"map.of_nothing_is_refused",
     [](WrongObject& o) { o.tables.buffer.map_current = map_of_nothing_refused; }},
    {"map.discard_behind_work_is_refused",
     [](WrongObject& o) { o.tables.buffer.map_discard = map_once; }},
    {"map.read_is_current",
     [](WrongObject& o) {
       hooks().map.read_writes_back = true;
       o.tables.buffer.map_read = Right::map_current;
     }},
    {"map.discard_is_read", [](WrongObject& o) { o.tables.buffer.map_discard = Right::map_read; }},
};

}  // namespace

std::span<const Mistake> map_mistakes() { return kAll; }

}  // namespace stria::wrong
