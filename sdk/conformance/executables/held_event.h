// SPDX-License-Identifier: Apache-2.0
// A host event that cases hold open while they call a slot which must not wait for it. A call that
// waits all the same comes back, for the event is signalled after a while: so it is found in
// seconds, and said with its name.
#pragma once

#include <memory>
#include <string_view>

#include "suite/device_work.h"

namespace stria::conformance {

class HeldEvent {
 public:
  static Result<HeldEvent> make(const Subject& subject);
  ~HeldEvent();
  HeldEvent(HeldEvent&&) noexcept;
  HeldEvent& operator=(HeldEvent&&) = delete;

  stria_event* get() const { return event_; }
  // For the call's list.
  std::span<stria_event* const> list() const { return {&event_, 1}; }
  // The call has come back: a failure if it did not before the event was signalled.
  Status returned(std::string_view slot);
  // Ends the event; after returned().
  Status signal(const Status& failure = Status());

 private:
  struct State;
  HeldEvent(std::unique_ptr<State> state, stria_event* event);
  std::unique_ptr<State> state_;
  stria_event* event_ = nullptr;
};

}  // namespace stria::conformance
