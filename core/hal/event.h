// SPDX-License-Identifier: Apache-2.0
// An event of a device: something that will be done or have failed, once. A copyable handle; the
// plugin's object lives as long as a copy or work that waits for it does. All functions may be
// called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "stria/base/status.h"
#include "stria/plugin.h"

namespace stria::hal {

inline constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

struct DeviceState;  // an open device; see device_state.h

class Event {
 public:
  Event() = default;  // no event: counts as done and well wherever events are waited for

  // True unless default-made.
  bool valid() const { return state_ != nullptr; }
  // Waits until the event is done and gives its outcome; deadline_exceeded if it is still open
  // after `timeout_ns` nanoseconds (then is_done() is false), or after the host's wait limit.
  Status wait(uint64_t timeout_ns = kForever) const;
  bool is_done() const;
  // The outcome; failed_precondition while it is open.
  Status status() const;
  // Nanoseconds from start to end of the work itself, 0 if that is not known;
  // failed_precondition while it is open.
  Result<uint64_t> duration_ns() const;
  // Calls `callback` once with the outcome: at once if done, else later from any thread. It must
  // not block or throw. What is due on a thread while a callback runs there waits until that one
  // has returned.
  Status on_done(std::function<void(const Status&)> callback) const;
  // An event of the same device that is done when this one is, and well whatever became of it: for
  // who comes after work but does not share its fate. Where the device keeps that order itself,
  // work that waits for it starts without the host.
  Result<Event> end() const;
  // Host events only (Device::create_event): done if `outcome` is ok, else failed with it.
  Status signal(const Status& outcome = Status()) const;

  stria_event* handle() const;
  const DeviceState* device() const;
  const char* slot() const;

  // Takes over `handle`; `slot`, a literal, is the call whose work it is; null: nobody's work, the
  // application signals it.
  Event(std::shared_ptr<DeviceState> device, stria_event* handle, const char* slot);

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// A host event of `device`: open until its `signal`. `slot`, a literal: the call at whose end that
// comes, for messages; null: the application signals it.
Result<Event> create_event(const std::shared_ptr<DeviceState>& device, const char* slot);

// Returns when no other thread runs callbacks of events or what they have left, or after a second:
// what a callback holds goes a moment after the event that it ended was seen.
void let_callbacks_end();

// Calls `release`, which gives a device or an executor back: here, or on a thread of its own if a
// callback of an event runs on this one. A plugin may call callbacks from a thread for whose end
// such a release waits.
void outside_callbacks(std::function<void()> release);
// The same as a deleter of shared objects.
struct DeleteOutsideCallbacks {
  template <typename T>
  void operator()(T* object) const {
    outside_callbacks([object] { delete object; });
  }
};

// For what a plugin calls once, later, from any of its threads. `owner` is kept until drop_kept();
// plugins get the ticket and no pointer: one that calls twice drops nothing. What goes with the
// owner goes as behind a callback.
uintptr_t keep(std::shared_ptr<const void> owner);
void drop_kept(uintptr_t ticket) noexcept;

// Events to wait for.
using Waits = std::span<const Event>;

// Waits for all; the failure of the first one in the list that failed.
Status wait_all(Waits events);

// Handles of events for a call on `device`: events of other devices are brought in through host
// events, which fail and complete with the original. Holds what the call needs.
class WaitList {
 public:
  static Result<WaitList> make(const std::shared_ptr<DeviceState>& device, Waits waits);
  stria_event* const* data() const { return many_.empty() ? few_.data() : many_.data(); }
  uint64_t size() const { return size_; }

 private:
  uint64_t size_ = 0;
  std::array<stria_event*, 8> few_{};  // no allocation for the usual few
  std::vector<stria_event*> many_;
  std::vector<Event> imported_;
};

}  // namespace stria::hal
