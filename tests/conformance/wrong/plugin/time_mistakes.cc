// SPDX-License-Identifier: Apache-2.0
// Durations and estimates that are wrong.
#include <atomic>
#include <map>
#include <mutex>

#include "wrong_object.h"

namespace stria::wrong {
namespace {

sdk::Event& event_of(stria_event* event) { return sdk::as<sdk::Event>(event); }
bool was_done(const sdk::Event& event) { return event.is_work() && !event.outcome(); }

// What a done event says, from what is right.
using Time = uint64_t (*)(stria_event* event, uint64_t right);
template <Time kTime>
stria_error* duration(stria_event* event, uint64_t* nanoseconds) {
  if (stria_error* error = Right::duration_ns(event, nanoseconds)) return error;
  *nanoseconds = kTime(event, *nanoseconds);
  return nullptr;
}
template <Time kTime>
void plant_duration(WrongObject& object) {
  object.tables.event.duration_ns = duration<kTime>;
}

stria_error* duration_of_open(stria_event* event, uint64_t* nanoseconds) {
  if (event_of(event).done()) return Right::duration_ns(event, nanoseconds);
  *nanoseconds = 0;
  return nullptr;
}
stria_error* duration_written_always(stria_event* event, uint64_t* nanoseconds) {
  *nanoseconds = 0;
  return Right::duration_ns(event, nanoseconds);
}

// ---- from the call on, not from the start of the work

struct Begins {
  std::mutex mutex;
  std::map<stria_event*, uint64_t> of;
};
Begins& begins() {
  static auto* const all = new Begins;
  return *all;
}
stria_error* fill_with_begin(stria_executor* executor, stria_buffer* target, uint64_t offset,
                             uint64_t bytes, const void* pattern, uint64_t pattern_size,
                             stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  const uint64_t begin = sdk::now_ns();
  stria_error* const error =
      Right::fill(executor, target, offset, bytes, pattern, pattern_size, waits, wait_count, done);
  const std::lock_guard<std::mutex> lock(begins().mutex);
  if (!error) begins().of[*done] = begin;
  return error;
}
uint64_t from_the_call(stria_event* event, uint64_t right) {
  const std::lock_guard<std::mutex> lock(begins().mutex);
  const auto it = begins().of.find(event);
  const uint64_t end = event_of(event).end_ns();
  return it == begins().of.end() || end == 0 ? right : end - it->second;
}

uint64_t count() {
  static std::atomic<uint64_t> calls{0};
  return ++calls;
}

// ---- estimates

stria_error* estimate_anything(stria_device*, const stria_build_params*, stria_estimate* out) {
  out->time_ns = 1000;
  return nullptr;
}
constexpr stria_estimate_table kOfAnything{sizeof(stria_estimate_table), nullptr,
                                           estimate_anything};
constexpr stria_estimate_table kShort{2 * sizeof(uint64_t), nullptr,
                                      sdk::ExperimentalTables::estimate_program};
template <const stria_estimate_table& kTable>
const void* extension_with(stria_string name, uint32_t version) {
  const void* const right = RightDriver::extension(name, version);
  return right == &sdk::ExperimentalTables::estimate_table ? &kTable : right;
}

constexpr Mistake kAll[] = {
    {"duration.is_negative", plant_duration<[](stria_event*, uint64_t ns) { return 0 - ns; }>},
    {"duration.is_a_second", plant_duration<[](stria_event* event, uint64_t ns) {
       return was_done(event_of(event)) ? uint64_t{1'000'000'000} : ns;
     }>},
    {"duration.is_a_time_of_day", plant_duration<[](stria_event* event, uint64_t ns) {
       return was_done(event_of(event)) ? event_of(event).end_ns() : ns;
     }>},
    {"duration.changes", plant_duration<[](stria_event* event, uint64_t ns) {
       return was_done(event_of(event)) ? ns + count() : ns;
     }>},
    {"duration.of_host_events", plant_duration<[](stria_event* event, uint64_t ns) {
       return event_of(event).is_work() ? ns : uint64_t{5};
     }>},
    {"duration.of_failed_work", plant_duration<[](stria_event* event, uint64_t ns) {
       return event_of(event).outcome() ? uint64_t{7} : ns;
     }>},
    {"duration.of_open_events",
     [](WrongObject& o) { o.tables.event.duration_ns = duration_of_open; }},
    {"duration.is_written_always",
     [](WrongObject& o) { o.tables.event.duration_ns = duration_written_always; }},
    {"duration.from_the_call",
     [](WrongObject& o) {
       o.tables.executor.fill = fill_with_begin;
       plant_duration<from_the_call>(o);
     }},
    {"estimate.low_is_high",
     [](WrongObject&) {
       hooks().estimate = [](stria_estimate& e) { std::swap(e.low_time_ns, e.high_time_ns); };
     }},
    {"estimate.changes",
     [](WrongObject&) { hooks().estimate = [](stria_estimate& e) { e.time_ns += count(); }; }},
    {"estimate.falls",
     [](WrongObject&) {
       hooks().estimate = [](stria_estimate& e) {
         e.time_ns = uint64_t{1'000'000'000'000} / (e.time_ns + 1);
         e.low_time_ns = e.high_time_ns = 0;
       };
     }},
    {"estimate.knows_nothing",
     [](WrongObject&) { hooks().estimate = [](stria_estimate& e) { e = {}; }; }},
    {"estimate.of_anything", [](WrongObject& o) { o.get_extension = extension_with<kOfAnything>; }},
    {"estimate.table_is_short", [](WrongObject& o) { o.get_extension = extension_with<kShort>; }},
};

}  // namespace

std::span<const Mistake> time_mistakes() { return kAll; }

}  // namespace stria::wrong
