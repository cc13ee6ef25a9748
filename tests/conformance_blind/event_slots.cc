// SPDX-License-Identifier: Apache-2.0
// Slots of events that get copies of failures, callbacks and limits wrong.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "mistake.h"
#include "slot_tables.h"
#include "stria/sdk/error.h"

namespace stria::blind {
namespace {

using sdk::slot;
using Callback = void (*)(void* state, const stria_error* error);

// ---- signal_copies_half: code and message are what an error has

stria_error* signal_with_half(stria_event* event, const stria_error* error) {
  if (!error) return RightSlots::signal(event, nullptr);
  stria_error half{};
  half.size = sizeof half;
  half.code = error->code;
  half.message = error->message;
  return RightSlots::signal(event, &half);
}

// ---- callback_under_lock: one lock for all that events have

std::mutex g_events;

struct LockedCallback {
  Callback callback;
  void* state;
};

stria_error* on_done_locked(stria_event* event, Callback callback, void* state) {
  return slot([&] {
    auto locked = std::make_unique<LockedCallback>(LockedCallback{callback, state});
    sdk::as<sdk::Event>(event).on_done(
        [](void* raw, const stria_error* error) {
          const std::unique_ptr<LockedCallback> own(static_cast<LockedCallback*>(raw));
          const std::lock_guard<std::mutex> lock(g_events);
          own->callback(own->state, error);
        },
        locked.get());
    locked.release();  // NOLINT: the callback's
  });
}
stria_error* query_locked(stria_event* event, uint8_t* done) {
  const std::lock_guard<std::mutex> lock(g_events);
  return RightSlots::query(event, done);
}
stria_error* status_locked(stria_event* event) {
  const std::lock_guard<std::mutex> lock(g_events);
  return RightSlots::status(event);
}

// ---- callback_before_done: a host event's callbacks are called, then it is marked done

struct EarlyCallback final : sdk::Object {
  EarlyCallback(Callback function, void* with) : callback(function), state(with) {}
  void call(const stria_error* error) {
    if (!called.exchange(true)) callback(state, error);
  }
  std::atomic<bool> called{false};
  const Callback callback;
  void* const state;
};
struct EarlyCallbacks {
  std::mutex mutex;
  std::multimap<stria_event*, sdk::Ref<EarlyCallback>> waiting;  // guarded by mutex
};
EarlyCallbacks& early_callbacks() {
  static auto* const all = new EarlyCallbacks;
  return *all;
}

stria_error* on_done_early(stria_event* event, Callback callback, void* state) {
  return slot([&] {
    auto& self = sdk::as<sdk::Event>(event);
    if (self.is_work() || self.done()) return self.on_done(callback, state);
    const auto early = sdk::make<EarlyCallback>(callback, state);
    {
      EarlyCallbacks& all = early_callbacks();
      const std::lock_guard<std::mutex> lock(all.mutex);
      all.waiting.emplace(event, early);
    }
    // For an event that ends without signal().
    self.on_done(
        [](void* raw, const stria_error* error) {
          sdk::Ref<EarlyCallback>::adopt(static_cast<EarlyCallback*>(raw))->call(error);
        },
        sdk::Ref<EarlyCallback>(early).detach());
  });
}
stria_error* signal_late(stria_event* event, const stria_error* error) {
  stria_error* const failed = slot([&] {
    std::vector<sdk::Ref<EarlyCallback>> now;
    {
      EarlyCallbacks& all = early_callbacks();
      const std::lock_guard<std::mutex> lock(all.mutex);
      const auto [first, end] = all.waiting.equal_range(event);
      for (auto at = first; at != end; ++at) now.push_back(at->second);
      all.waiting.erase(first, end);
    }
    for (const sdk::Ref<EarlyCallback>& one : now) one->call(error);
  });
  return failed ? failed : RightSlots::signal(event, error);
}

// ---- long_timeout_overflows: the limit is a point in time, in signed nanoseconds

uint64_t limited(uint64_t timeout_ns) {
  if (timeout_ns == UINT64_MAX) return timeout_ns;
  const uint64_t now = sdk::now_ns();
  const auto end = static_cast<int64_t>(now + timeout_ns);
  return end < static_cast<int64_t>(now) ? 0 : timeout_ns;
}
stria_error* wait_until(stria_event* event, uint64_t timeout_ns) {
  return RightSlots::wait(event, limited(timeout_ns));
}
stria_error* drain_until(stria_executor* executor, uint64_t timeout_ns) {
  return RightSlots::drain(executor, limited(timeout_ns));
}

}  // namespace

void replace_event_slots(SlotTables& tables) {
  switch (chosen_mistake()) {
    case Mistake::signal_copies_half: tables.event.signal = signal_with_half; break;
    case Mistake::callback_under_lock:
      tables.event.on_done = on_done_locked;
      tables.event.query = query_locked;
      tables.event.status = status_locked;
      break;
    case Mistake::callback_before_done:
      tables.event.on_done = on_done_early;
      tables.event.signal = signal_late;
      break;
    case Mistake::long_timeout_overflows:
      tables.event.wait = wait_until;
      tables.executor.drain = drain_until;
      break;
    default: break;
  }
}

}  // namespace stria::blind
