// SPDX-License-Identifier: Apache-2.0
// Work that begins or ends at another time than it should.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "other_waits.h"

namespace stria::wrong {
namespace {

sdk::Event& event_of(stria_event* event) { return sdk::as<sdk::Event>(event); }

void no_waits(WaitList& list) { list.events.clear(); }
void keep_first(WaitList& list, size_t count) {
  if (list.events.size() > count)
    list.events.erase(list.events.begin() + static_cast<std::ptrdiff_t>(count), list.events.end());
}
void first_wait(WaitList& list) { keep_first(list, 1); }
void last_wait(WaitList& list) {
  if (!list.events.empty()) list.events.erase(list.events.begin(), list.events.end() - 1);
}
void sixteen_waits(WaitList& list) { keep_first(list, 16); }
void waits_for_work(WaitList& list) {
  std::erase_if(list.events, [](stria_event* event) { return !event_of(event).is_work(); });
}
void waits_for_host_events(WaitList& list) {
  std::erase_if(list.events, [](stria_event* event) { return event_of(event).is_work(); });
}

// ---- one executor and another

// Which executor's work an event is of.
class Origins {
 public:
  void add(stria_event* event, stria_executor* executor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    of_[event] = executor;
    last_[executor] = sdk::Ref<sdk::Event>(&event_of(event));
  }
  stria_executor* of(stria_event* event) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = of_.find(event);
    return it == of_.end() ? nullptr : it->second;
  }
  // What was begun last on it; null if nothing was.
  sdk::Ref<sdk::Event> last(stria_executor* executor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = last_.find(executor);
    return it == last_.end() ? sdk::Ref<sdk::Event>() : it->second;
  }

 private:
  std::mutex mutex_;
  std::map<stria_event*, stria_executor*> of_;
  std::map<stria_executor*, sdk::Ref<sdk::Event>> last_;
};
Origins& origins() {
  static auto* const all = new Origins;
  return *all;
}

// Waits for work of its own executor alone.
stria_error* fill_of_own_queue(stria_executor* executor, stria_buffer* target, uint64_t offset,
                               uint64_t bytes, const void* pattern, uint64_t pattern_size,
                               stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  WaitList list(waits, wait_count);
  std::erase_if(list.events, [&](stria_event* event) {
    stria_executor* const of = origins().of(event);
    return of != nullptr && of != executor;
  });
  stria_error* const error = Right::fill(executor, target, offset, bytes, pattern, pattern_size,
                                         list.events.data(), list.events.size(), done);
  if (!error) origins().add(*done, executor);
  return error;
}

// Waits for what came before it on its executor, too.
stria_error* fill_in_a_row(stria_executor* executor, stria_buffer* target, uint64_t offset,
                           uint64_t bytes, const void* pattern, uint64_t pattern_size,
                           stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  WaitList list(waits, wait_count);
  const sdk::Ref<sdk::Event> before = origins().last(executor);
  if (before) list.events.push_back(reinterpret_cast<stria_event*>(before.get()));
  stria_error* const error = Right::fill(executor, target, offset, bytes, pattern, pattern_size,
                                         list.events.data(), list.events.size(), done);
  if (!error) origins().add(*done, executor);
  return error;
}

// ---- begun by a flush alone

std::mutex& gate_mutex() {
  static auto* const one = new std::mutex;
  return *one;
}
// Of each executor, what its work waits for until the next flush.
std::map<stria_executor*, sdk::Ref<sdk::Event>>& gates() {
  static auto* const all = new std::map<stria_executor*, sdk::Ref<sdk::Event>>;
  return *all;
}

stria_error* fill_until_flush(stria_executor* executor, stria_buffer* target, uint64_t offset,
                              uint64_t bytes, const void* pattern, uint64_t pattern_size,
                              stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  WaitList list(waits, wait_count);
  const std::lock_guard<std::mutex> lock(gate_mutex());
  sdk::Ref<sdk::Event>& gate = gates()[executor];
  if (!gate) gate = sdk::make<sdk::Event>(sdk::as<sdk::Executor>(executor).host());
  list.events.push_back(reinterpret_cast<stria_event*>(gate.get()));
  return Right::fill(executor, target, offset, bytes, pattern, pattern_size, list.events.data(),
                     list.events.size(), done);
}
stria_error* flush_gate(stria_executor* executor) {
  sdk::Ref<sdk::Event> gate;
  {
    const std::lock_guard<std::mutex> lock(gate_mutex());
    std::swap(gate, gates()[executor]);
  }
  return gate ? Right::event_table.signal(reinterpret_cast<stria_event*>(gate.get()), nullptr)
              : nullptr;
}

// ---- done before it is

// Longer than a machine in use keeps the suite from looking.
constexpr useconds_t kLateUs = 300'000;

// An event that is done when the waits are, for work that goes on behind it.
stria_event* early_event(const sdk::Executor& on, stria_event* const* waits, uint64_t count) {
  return sdk::give<stria_event>(
      sdk::when_done(on.host(), on.tracker(), sdk::waits_of(waits, count)));
}

stria_error* copy_done_early(stria_executor* executor, stria_buffer* source, uint64_t source_offset,
                             stria_buffer* target, uint64_t target_offset, uint64_t bytes,
                             stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  auto& on = sdk::as<sdk::Executor>(executor);
  *done = early_event(on, waits, wait_count);
  (void)sdk::schedule(
      on.host(), on.tracker(), sdk::waits_of(waits, wait_count),
      [from = sdk::Ref<sdk::Buffer>(&sdk::as<sdk::Buffer>(source)), source_offset,
       to = sdk::Ref<sdk::Buffer>(&sdk::as<sdk::Buffer>(target)), target_offset, bytes] {
        ::usleep(kLateUs);
        if (bytes > 0) std::memcpy(to->data() + target_offset, from->data() + source_offset, bytes);
      });
  return nullptr;
}

stria_error* fill_done_early(stria_executor* executor, stria_buffer* target, uint64_t offset,
                             uint64_t bytes, const void* pattern, uint64_t pattern_size,
                             stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  auto& on = sdk::as<sdk::Executor>(executor);
  *done = early_event(on, waits, wait_count);
  const auto* first = static_cast<const std::byte*>(pattern);
  (void)sdk::schedule(on.host(), on.tracker(), sdk::waits_of(waits, wait_count),
                      [to = sdk::Ref<sdk::Buffer>(&sdk::as<sdk::Buffer>(target)), offset, bytes,
                       all = std::vector<std::byte>(first, first + pattern_size)] {
                        ::usleep(kLateUs);
                        for (uint64_t i = 0; i < bytes; ++i)
                          to->data()[offset + i] = all[i % all.size()];
                      });
  return nullptr;
}

// Kernels take their time, and their batch is done at once.
stria_error* submit_done_early(stria_executor* executor, const stria_launch* const* launches,
                               uint64_t launch_count, stria_event* const* waits,
                               uint64_t wait_count, stria_event** each, stria_event** done) {
  stria_error* const error =
      Right::submit(executor, launches, launch_count, waits, wait_count, each, done);
  if (error) return error;
  Right::event_table.release(*done);
  *done = early_event(sdk::as<sdk::Executor>(executor), waits, wait_count);
  return nullptr;
}
void slow_kernels() {
  hooks().instead_of_run = [](const KernelRun&) {
    ::usleep(kLateUs);
    return false;
  };
}

// ---- never done

// In place of an event that the right slot made. Nobody gives the last reference back: it is never
// cancelled either.
void make_endless(stria_event** done) {
  const sdk::Host* const host = last_host();
  Right::event_table.release(*done);
  auto endless = sdk::make<sdk::Event>(*host);
  endless->add_reference();
  *done = sdk::give<stria_event>(std::move(endless));
}
template <auto kRight>
struct Endless;
template <typename... Args, stria_error* (*kRight)(Args...)>
struct Endless<kRight> {
  static stria_error* call(Args... args) {
    stria_error* const error = kRight(args...);
    // The event is the last output of each of these slots.
    if (!error) make_endless(std::get<sizeof...(Args) - 1>(std::make_tuple(args...)));
    return error;
  }
};

// ---- batches

// A batch whose launches are changed copies.
template <void (*kChange)(uint64_t index, stria_launch& launch)>
stria_error* submit(stria_executor* executor, const stria_launch* const* launches,
                    uint64_t launch_count, stria_event* const* waits, uint64_t wait_count,
                    stria_event** each, stria_event** done) {
  std::vector<stria_launch> changed(launch_count);
  std::vector<const stria_launch*> list(launch_count);
  for (uint64_t n = 0; n < launch_count; ++n) {
    changed[n] = sdk::whole(launches[n]);
    changed[n].size = sizeof(stria_launch);
    kChange(n, changed[n]);
    list[n] = &changed[n];
  }
  return Right::submit(executor, list.data(), launch_count, waits, wait_count, each, done);
}

// Only the first launch waits for what the batch waits for.
stria_error* submit_first_waits(stria_executor* executor, const stria_launch* const* launches,
                                uint64_t launch_count, stria_event* const* waits,
                                uint64_t wait_count, stria_event** each, stria_event** done) {
  if (launch_count < 2)
    return Right::submit(executor, launches, launch_count, waits, wait_count, each, done);
  std::vector<stria_event*> own(launch_count);
  stria_event* rest = nullptr;
  if (stria_error* error = Right::submit(executor, launches + 1, launch_count - 1, nullptr, 0,
                                         own.data() + 1, &rest))
    return error;
  Right::event_table.release(rest);
  stria_error* const error =
      Right::submit(executor, launches, 1, waits, wait_count, own.data(), done);
  for (uint64_t n = 0; n < launch_count; ++n)
    if (each)
      each[n] = own[n];
    else if (own[n])
      Right::event_table.release(own[n]);
  return error;
}

stria_error* submit_done_after_first(stria_executor* executor, const stria_launch* const* launches,
                                     uint64_t launch_count, stria_event* const* waits,
                                     uint64_t wait_count, stria_event** each, stria_event** done) {
  if (launch_count == 0)
    return Right::submit(executor, launches, launch_count, waits, wait_count, each, done);
  std::vector<stria_event*> own(launch_count);
  if (stria_error* error =
          Right::submit(executor, launches, launch_count, waits, wait_count, own.data(), done))
    return error;
  Right::event_table.release(*done);
  event_of(own[0]).add_reference();
  *done = own[0];
  for (uint64_t n = 0; n < launch_count; ++n)
    if (each)
      each[n] = own[n];
    else
      Right::event_table.release(own[n]);
  return nullptr;
}

// Launches one by one: those before the one that is refused run.
stria_error* submit_one_by_one(stria_executor* executor, const stria_launch* const* launches,
                               uint64_t launch_count, stria_event* const* waits,
                               uint64_t wait_count, stria_event** each, stria_event** done) {
  for (uint64_t n = 0; n + 1 < launch_count; ++n) {
    stria_event* one = nullptr;
    if (stria_error* error =
            Right::submit(executor, launches + n, 1, waits, wait_count, nullptr, &one))
      return error;
    Right::event_table.release(one);
  }
  return Right::submit(executor, launches, launch_count, waits, wait_count, each, done);
}

// One handle for all launches.
stria_error* submit_one_event(stria_executor* executor, const stria_launch* const* launches,
                              uint64_t launch_count, stria_event* const* waits, uint64_t wait_count,
                              stria_event** each, stria_event** done) {
  stria_error* const error =
      Right::submit(executor, launches, launch_count, waits, wait_count, nullptr, done);
  if (error || !each) return error;
  for (uint64_t n = 0; n < launch_count; ++n) {
    event_of(*done).add_reference();
    each[n] = *done;
  }
  return nullptr;
}

template <void (*kChange)(uint64_t index, stria_launch& launch)>
void plant_batch(WrongObject& object) {
  object.tables.executor.submit = submit<kChange>;
}
template <ChangeWaits kChange>
void everywhere(WrongObject& object) {
  plant_waits<kChange>(object);
}
#define IN_SLOT(name, change, slot) \
  {name, [](WrongObject& object) { plant_waits<change>(object, slot); }}
#define ENDLESS(name, table, member)                                          \
  {name, [](WrongObject& object) {                                            \
     object.tables.table.member = Endless<Right::table##_table.member>::call; \
   }}

constexpr Mistake kAll[] = {
    IN_SLOT("waits.ignored_by_build", no_waits, "compiler.build"),
    IN_SLOT("waits.ignored_by_submit", no_waits, "executor.submit"),
    IN_SLOT("waits.ignored_by_copy", no_waits, "executor.copy"),
    IN_SLOT("waits.ignored_by_fill", no_waits, "executor.fill"),
    IN_SLOT("waits.ignored_by_run", no_waits, "kernel.run"),
    IN_SLOT("waits.ignored_by_map_current", no_waits, "buffer.map_current"),
    IN_SLOT("waits.ignored_by_map_discard", no_waits, "buffer.map_discard"),
    IN_SLOT("waits.ignored_by_map_read", no_waits, "buffer.map_read"),
    {"waits.first_only", everywhere<first_wait>},
    {"waits.last_only", everywhere<last_wait>},
    {"waits.sixteen_at_most", everywhere<sixteen_waits>},
    {"waits.for_work_only", everywhere<waits_for_work>},
    {"waits.for_host_events_only", everywhere<waits_for_host_events>},
    {"waits.of_own_executor_only",
     [](WrongObject& o) { o.tables.executor.fill = fill_of_own_queue; }},
    {"order.one_after_another", [](WrongObject& o) { o.tables.executor.fill = fill_in_a_row; }},
    {"order.begins_at_a_flush",
     [](WrongObject& o) {
       o.tables.executor.fill = fill_until_flush;
       o.tables.executor.flush = flush_gate;
     }},
    {"early.copy", [](WrongObject& o) { o.tables.executor.copy = copy_done_early; }},
    {"early.fill", [](WrongObject& o) { o.tables.executor.fill = fill_done_early; }},
    {"early.submit",
     [](WrongObject& o) {
       slow_kernels();
       o.tables.executor.submit = submit_done_early;
     }},
    ENDLESS("never.build", compiler, build),
    ENDLESS("never.submit", executor, submit),
    ENDLESS("never.copy", executor, copy),
    ENDLESS("never.fill", executor, fill),
    ENDLESS("never.run", kernel, run),
    ENDLESS("never.map_current", buffer, map_current),
    ENDLESS("never.map_discard", buffer, map_discard),
    ENDLESS("never.map_read", buffer, map_read),
    ENDLESS("never.unmap", buffer, unmap),
    ENDLESS("never.end", event, end),
    {"batch.ignores_after",
     plant_batch<[](uint64_t, stria_launch& launch) { launch.after_count = 0; }>},
    {"batch.minds_one_after", plant_batch<[](uint64_t, stria_launch& launch) {
       launch.after_count = std::min<uint64_t>(launch.after_count, 1);
     }>},
    {"batch.first_one_waits",
     [](WrongObject& o) { o.tables.executor.submit = submit_first_waits; }},
    {"batch.is_done_with_the_first",
     [](WrongObject& o) { o.tables.executor.submit = submit_done_after_first; }},
    {"batch.runs_what_is_refused",
     [](WrongObject& o) { o.tables.executor.submit = submit_one_by_one; }},
    {"batch.one_event_for_each",
     [](WrongObject& o) { o.tables.executor.submit = submit_one_event; }},
};
#undef IN_SLOT
#undef ENDLESS

}  // namespace

std::span<const Mistake> order_mistakes() { return kAll; }

}  // namespace stria::wrong
