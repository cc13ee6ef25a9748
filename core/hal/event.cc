// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/event.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "stria/hal/device_state.h"

namespace stria::hal {
namespace {

// Callbacks that events have not called yet. Plugins get a ticket and no pointer: one that calls
// twice, or after it has refused, calls nothing.
class Callbacks {
 public:
  using Callback = std::function<void(const stria_error*)>;
  uintptr_t keep(Callback callback) {
    std::lock_guard lock(mutex_);
    waiting_.emplace(++last_, std::move(callback));
    return last_;
  }
  // Empty if there is none with that ticket.
  Callback take(uintptr_t ticket) {
    std::lock_guard lock(mutex_);
    auto node = waiting_.extract(ticket);
    return node ? std::move(node.mapped()) : Callback();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uintptr_t, Callback> waiting_;
  uintptr_t last_ = 0;
};

// Never destroyed: work may end while the process does.
Callbacks& callbacks() {
  static auto* all = new Callbacks;
  return *all;
}

struct Ended {
  std::function<void(const Status&)> callback;
  Status outcome;
};
// Callbacks of this thread that are due when the one that runs has returned; null: none runs.
thread_local std::deque<Ended>* due = nullptr;
// Threads that run callbacks, or release what callbacks held.
std::atomic<int> turns{0};

// What a callback does may end further events and call further callbacks. They come one after
// another: a chain of events across devices may be long, a stack is not.
void call_in_turn(std::function<void(const Status&)> callback, Status outcome) {
  if (due) {
    due->push_back({std::move(callback), std::move(outcome)});
    return;
  }
  std::deque<Ended> mine;
  struct Turn {
    explicit Turn(std::deque<Ended>* list) {
      due = list;
      turns.fetch_add(1);
    }
    ~Turn() {
      due = nullptr;
      turns.fetch_sub(1);
    }
  } turn(&mine);
  mine.push_back({std::move(callback), std::move(outcome)});
  while (!mine.empty()) {
    // What it holds goes before the next one's turn: that may end events too.
    const Ended next = std::move(mine.front());
    mine.pop_front();
    next.callback(next.outcome);
  }
}

}  // namespace

uintptr_t keep(std::shared_ptr<const void> owner) {
  return callbacks().keep([owner = std::move(owner)](const stria_error*) mutable {
    call_in_turn([mine = std::move(owner)](const Status&) {}, Status());
  });
}

void drop_kept(uintptr_t ticket) noexcept {
  if (auto mine = callbacks().take(ticket)) mine(nullptr);
}

void outside_callbacks(std::function<void()> release) {
  if (!due) return release();
  turns.fetch_add(1);
  try {
    std::thread([release = std::move(release)] {
      release();
      turns.fetch_sub(1);
    }).detach();
  } catch (const std::system_error&) {
    // No thread is left: what would be released stays, and a shutdown says so.
    turns.fetch_sub(1);
  }
}

void let_callbacks_end() {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  const int own = due ? 1 : 0;
  while (turns.load() > own && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

struct Event::State {
  std::shared_ptr<DeviceState> device;
  stria_event* handle;
  const char* slot;

  State(std::shared_ptr<DeviceState> owner, stria_event* event, const char* maker)
      : device(std::move(owner)), handle(event), slot(maker) {
    device->plugin->count(Noun::event);
  }
  ~State() {
    device->plugin->release(Noun::event, "event.release", device->tables().event.release, handle);
  }
  const stria_event_table& table() const { return device->tables().event; }
  // What the event itself carries stays as it is: dependants and their owners see the first cause.
  Status outcome() const {
    const PluginState& plugin = *device->plugin;
    const char* const name = "event.status";
    const CallInFlight in_flight(plugin.manifest.id.c_str(), name);
    const Watchdog::Call watched(plugin.watchdog(), plugin.watched_name, name);
    try {
      return take_error(table().status(handle), plugin.reader);
    } catch (...) {
      return plugin.thrown(name);
    }
  }
};

Event::Event(std::shared_ptr<DeviceState> device, stria_event* handle, const char* slot)
    : state_(std::make_shared<const State>(std::move(device), handle, slot)) {}

Result<Event> create_event(const std::shared_ptr<DeviceState>& device, const char* slot) {
  stria_event* handle = nullptr;
  STRIA_RETURN_IF_ERROR(device->plugin->call(
      "device.create_event", device->tables().device.create_event, device->handle, &handle));
  if (!handle) return device->plugin->gave_nothing("device.create_event");
  return Event(device, handle, slot);
}

stria_event* Event::handle() const { return state_ ? state_->handle : nullptr; }
const char* Event::slot() const { return state_ ? state_->slot : nullptr; }
const DeviceState* Event::device() const { return state_ ? state_->device.get() : nullptr; }

Status Event::wait(uint64_t timeout_ns) const {
  if (!state_) return Status();
  const PluginState& plugin = *state_->device->plugin;
  Status waited = plugin.call("event.wait", state_->table().wait, state_->handle,
                              std::min(timeout_ns, plugin.services->host().wait_limit_ns()));
  if (waited.ok()) return state_->outcome();
  if (state_->slot)
    return plugin.after_wait(fmt::format("what {} began", state_->slot), timeout_ns,
                             std::move(waited));
  return plugin.after_wait("an event", timeout_ns, std::move(waited),
                           "the application has not signalled it");
}

bool Event::is_done() const {
  if (!state_) return true;
  uint8_t done = 0;
  Status status =
      state_->device->plugin->call("event.query", state_->table().query, state_->handle, &done);
  return status.ok() && done != 0;
}

Status Event::status() const {
  if (!state_) return Status();
  return state_->outcome();
}

Result<uint64_t> Event::duration_ns() const {
  if (!state_) return uint64_t{0};
  uint64_t nanoseconds = 0;
  STRIA_RETURN_IF_ERROR(state_->device->plugin->call(
      "event.duration_ns", state_->table().duration_ns, state_->handle, &nanoseconds));
  return nanoseconds;
}

Status Event::on_done(std::function<void(const Status&)> callback) const {
  if (!state_) {
    callback(Status());
    return Status();
  }
  const uintptr_t ticket =
      callbacks().keep([callback = std::move(callback),
                        reader = state_->device->plugin->reader](const stria_error* error) mutable {
        call_in_turn(std::move(callback), status_of(error, reader));
      });
  auto call = [](void* state, const stria_error* error) {
    auto mine = callbacks().take(reinterpret_cast<uintptr_t>(state));
    if (mine) mine(error);
  };
  Status status = state_->device->plugin->call(
      "event.on_done", state_->table().on_done, state_->handle,
      static_cast<void (*)(void*, const stria_error*)>(call), reinterpret_cast<void*>(ticket));
  if (!status.ok()) callbacks().take(ticket);
  return status;
}

Result<Event> Event::end() const {
  if (!state_) return Event();
  const PluginState& plugin = *state_->device->plugin;
  stria_event* handle = nullptr;
  const Status made = plugin.call("event.end", state_->table().end, state_->handle, &handle);
  // A plugin of ABI 0.1 has no such slot.
  if (made.code() == StatusCode::unimplemented) {
    STRIA_ASSIGN(Event end, create_event(state_->device, state_->slot));
    // Signalling fails only if it was done before, which nobody else does.
    STRIA_RETURN_IF_ERROR(on_done([end](const Status&) { (void)end.signal(); }));
    return end;
  }
  STRIA_RETURN_IF_ERROR(made);
  if (!handle) return plugin.gave_nothing("event.end");
  return Event(state_->device, handle, "event.end");
}

Status Event::signal(const Status& outcome) const {
  if (!state_) return make_error(StatusCode::failed_precondition, "there is no event to signal");
  stria_error* error = to_error_of_work(outcome);
  Status status =
      state_->device->plugin->call("event.signal", state_->table().signal, state_->handle,
                                   static_cast<const stria_error*>(error));
  if (error) error->release(error);
  return status;
}

Status wait_all(Waits events) {
  Status first;
  for (const Event& event : events)
    if (Status status = event.wait(); first.ok()) first = status;
  return first;
}

Result<WaitList> WaitList::make(const std::shared_ptr<DeviceState>& device, Waits waits) {
  WaitList list;
  if (waits.size() > list.few_.size()) list.many_.resize(waits.size());
  stria_event** handles = waits.size() > list.few_.size() ? list.many_.data() : list.few_.data();
  for (const Event& wait : waits) {
    if (!wait.valid()) continue;
    if (wait.device() == device.get()) {
      handles[list.size_++] = wait.handle();
      continue;
    }
    STRIA_ASSIGN(Event bridge, create_event(device, wait.slot()));
    handles[list.size_++] = bridge.handle();
    list.imported_.push_back(bridge);
    // The callback holds the bridge until the original is done.
    STRIA_RETURN_IF_ERROR(
        wait.on_done([bridge](const Status& outcome) { (void)bridge.signal(outcome); }));
  }
  return list;
}

}  // namespace stria::hal
