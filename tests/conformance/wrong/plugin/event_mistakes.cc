// SPDX-License-Identifier: Apache-2.0
// Events that say something else than what they are, callbacks that come too often or not at all,
// waits and drains that end at another time.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "wrong_object.h"

namespace stria::wrong {
namespace {

using Call = void (*)(void*, const stria_error*);

sdk::Event& event_of(stria_event* event) { return sdk::as<sdk::Event>(event); }

// ---- callbacks

stria_error* on_done_twice(stria_event* event, Call callback, void* state) {
  if (stria_error* error = Right::on_done(event, callback, state)) return error;
  return Right::on_done(event, callback, state);
}
stria_error* on_done_never(stria_event*, Call, void*) { return nullptr; }
stria_error* on_done_at_once(stria_event* event, Call callback, void* state) {
  if (event_of(event).done()) return Right::on_done(event, callback, state);
  callback(state, nullptr);
  return nullptr;
}
stria_error* on_done_if_open(stria_event* event, Call callback, void* state) {
  return event_of(event).done() ? nullptr : Right::on_done(event, callback, state);
}
stria_error* on_done_if_done(stria_event* event, Call callback, void* state) {
  return event_of(event).done() ? Right::on_done(event, callback, state) : nullptr;
}
stria_error* on_done_without_state(stria_event* event, Call callback, void*) {
  return Right::on_done(event, callback, nullptr);
}
// There is room for one callback of an event.
stria_error* on_done_one_only(stria_event* event, Call callback, void* state) {
  static auto* const mutex = new std::mutex;
  static auto* const asked = new std::map<stria_event*, int>;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (!event_of(event).done() && (*asked)[event]++ > 0) return nullptr;
  return Right::on_done(event, callback, state);
}
struct Kept {
  Call call;
  void* state;
};
stria_error* on_done_if_well(stria_event* event, Call callback, void* state) {
  return Right::on_done(
      event,
      [](void* raw, const stria_error* error) {
        const std::unique_ptr<Kept> own(static_cast<Kept*>(raw));
        if (!error) own->call(own->state, nullptr);
      },
      new Kept{callback, state});
}

// ---- signals

stria_error* signal_twice(stria_event* event, const stria_error* error) {
  stria_error* const refused = Right::signal(event, error);
  if (refused && !event_of(event).is_work()) {
    refused->release(refused);
    return nullptr;
  }
  return refused;
}
stria_error* signal_without_error(stria_event* event, const stria_error*) {
  return Right::signal(event, nullptr);
}
void release_is_well(stria_event* event) {
  auto& self = event_of(event);
  if (!self.is_work() && !self.done())
    if (stria_error* error = Right::signal(event, nullptr)) error->release(error);
  Right::event_table.release(event);
}
void release_forgets(stria_event* event) {
  auto& self = event_of(event);
  if (self.is_work() || self.done()) Right::event_table.release(event);
}

// ---- questions

stria_error* query_done(stria_event*, uint8_t* done) {
  *done = 1;
  return nullptr;
}
stria_error* query_open(stria_event*, uint8_t* done) {
  *done = 0;
  return nullptr;
}
stria_error* query_number(stria_event* event, uint8_t* done) {
  *done = event_of(event).done() ? 255 : 0;
  return nullptr;
}
stria_error* query_says_failure(stria_event* event, uint8_t* done) {
  *done = event_of(event).done();
  return *done ? Right::status(event) : nullptr;
}
stria_error* query_waits(stria_event* event, uint8_t* done) {
  event_of(event).wait(UINT64_MAX);
  *done = 1;
  return nullptr;
}
stria_error* status_open_is_well(stria_event* event) {
  return event_of(event).done() ? Right::status(event) : nullptr;
}
stria_error* status_open_is_unavailable(stria_event* event) {
  if (event_of(event).done()) return Right::status(event);
  return sdk::to_error(sdk::Error(STRIA_UNAVAILABLE, "the event is open").outcome());
}

// ---- waits

stria_error* gave_up() {
  return sdk::to_error(
      sdk::Error(STRIA_DEADLINE_EXCEEDED, "the event is open after its time").outcome());
}
stria_error* wait_without_limit(stria_event* event, uint64_t) {
  return Right::wait(event, UINT64_MAX);
}
stria_error* wait_not_at_all(stria_event*, uint64_t) { return nullptr; }
stria_error* wait_says_failure(stria_event* event, uint64_t timeout_ns) {
  if (stria_error* error = Right::wait(event, timeout_ns)) return error;
  return Right::status(event);
}
stria_error* wait_gives_up_well(stria_event* event, uint64_t timeout_ns) {
  if (stria_error* error = Right::wait(event, timeout_ns)) error->release(error);
  return nullptr;
}
stria_error* wait_gives_up_early(stria_event* event, uint64_t timeout_ns) {
  return Right::wait(event, timeout_ns == UINT64_MAX ? timeout_ns : timeout_ns / 4);
}
stria_error* wait_with_a_sign(stria_event* event, uint64_t timeout_ns) {
  if (event_of(event).done()) return nullptr;
  const auto limit = static_cast<int64_t>(timeout_ns);
  return limit < 0 && timeout_ns != UINT64_MAX ? gave_up() : Right::wait(event, timeout_ns);
}
// The time at which it gives up overflows.
stria_error* wait_until(stria_event* event, uint64_t timeout_ns) {
  if (event_of(event).done() || timeout_ns == UINT64_MAX) return Right::wait(event, timeout_ns);
  const uint64_t until = sdk::now_ns() + timeout_ns;
  return until < sdk::now_ns() ? gave_up() : Right::wait(event, timeout_ns);
}
stria_error* wait_in_32_bits_of_ms(stria_event* event, uint64_t timeout_ns) {
  if (timeout_ns == UINT64_MAX || timeout_ns < 1'000'000) return Right::wait(event, timeout_ns);
  return Right::wait(event, static_cast<uint32_t>(timeout_ns / 1'000'000) * uint64_t{1'000'000});
}
stria_error* wait_only_if_open_is_late(stria_event* event, uint64_t timeout_ns) {
  return event_of(event).done() && timeout_ns == 0 ? gave_up() : Right::wait(event, timeout_ns);
}

// ---- drains

stria_error* drain_nothing(stria_executor*, uint64_t) { return nullptr; }
stria_error* drain_without_limit(stria_executor* executor, uint64_t) {
  return Right::drain(executor, UINT64_MAX);
}
stria_error* drain_of_all(stria_executor* executor, uint64_t timeout_ns) {
  if (sdk::as<sdk::Executor>(executor).host().tracker()->wait_for_none(timeout_ns)) return nullptr;
  return gave_up();
}
stria_error* drain_of_later_work(stria_executor* executor, uint64_t timeout_ns) {
  if (sdk::as<sdk::Executor>(executor).tracker()->wait_for_none(timeout_ns)) return nullptr;
  return gave_up();
}
stria_error* drain_gives_up_well(stria_executor* executor, uint64_t timeout_ns) {
  if (stria_error* error = Right::drain(executor, timeout_ns)) error->release(error);
  return nullptr;
}

// ---- ends

stria_error* end_is_itself(stria_event* event, stria_event** end) {
  event_of(event).add_reference();
  *end = event;
  return nullptr;
}
stria_error* end_at_once(stria_event* event, stria_event** end) {
  (void)event;
  auto made = sdk::make<sdk::Event>(*last_host());
  made->signal();
  *end = sdk::give<stria_event>(std::move(made));
  return nullptr;
}

#define REPLACED(name, table, member, with) \
  {name, [](WrongObject& o) { o.tables.table.member = with; }}

constexpr Mistake kAll[] = {
    REPLACED("callback.twice", event, on_done, on_done_twice),
    REPLACED("callback.never", event, on_done, on_done_never),
    REPLACED("callback.at_once", event, on_done, on_done_at_once),
    REPLACED("callback.not_of_done_events", event, on_done, on_done_if_open),
    REPLACED("callback.of_done_events_only", event, on_done, on_done_if_done),
    REPLACED("callback.without_its_state", event, on_done, on_done_without_state),
    REPLACED("callback.one_for_each_event", event, on_done, on_done_one_only),
    REPLACED("callback.not_of_failures", event, on_done, on_done_if_well),
    REPLACED("signal.twice_is_well", event, signal, signal_twice),
    REPLACED("signal.drops_its_error", event, signal, signal_without_error),
    REPLACED("event.unsignalled_is_well", event, release, release_is_well),
    REPLACED("event.unsignalled_stays_open", event, release, release_forgets),
    REPLACED("event.query_says_done", event, query, query_done),
    REPLACED("event.query_says_open", event, query, query_open),
    REPLACED("event.query_says_255", event, query, query_number),
    REPLACED("event.query_says_its_failure", event, query, query_says_failure),
    REPLACED("event.query_waits", event, query, query_waits),
    REPLACED("event.status_of_open_is_well", event, status, status_open_is_well),
    REPLACED("event.status_of_open_is_unavailable", event, status, status_open_is_unavailable),
    REPLACED("wait.has_no_limit", event, wait, wait_without_limit),
    REPLACED("wait.does_not_wait", event, wait, wait_not_at_all),
    REPLACED("wait.says_the_failure", event, wait, wait_says_failure),
    REPLACED("wait.gives_up_well", event, wait, wait_gives_up_well),
    REPLACED("wait.gives_up_early", event, wait, wait_gives_up_early),
    REPLACED("wait.limit_has_a_sign", event, wait, wait_with_a_sign),
    REPLACED("wait.limit_overflows", event, wait, wait_until),
    REPLACED("wait.limit_in_32_bits_of_ms", event, wait, wait_in_32_bits_of_ms),
    REPLACED("wait.look_at_done_gives_up", event, wait, wait_only_if_open_is_late),
    REPLACED("drain.does_not_wait", executor, drain, drain_nothing),
    REPLACED("drain.has_no_limit", executor, drain, drain_without_limit),
    REPLACED("drain.of_all_executors", executor, drain, drain_of_all),
    REPLACED("drain.of_later_work_too", executor, drain, drain_of_later_work),
    REPLACED("drain.gives_up_well", executor, drain, drain_gives_up_well),
    REPLACED("end.fails_too", event, end, end_is_itself),
    REPLACED("end.is_done_at_once", event, end, end_at_once),
};
#undef REPLACED

}  // namespace

std::span<const Mistake> event_mistakes() { return kAll; }

}  // namespace stria::wrong
