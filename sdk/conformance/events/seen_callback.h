// SPDX-License-Identifier: Apache-2.0
// A callback for event.on_done that remembers what it was called with.
#pragma once

#include <functional>
#include <mutex>
#include <string_view>

#include "events/failure.h"

namespace stria::conformance {

// Never destroyed: a plugin may call back long after the case has ended. Thread-safe.
class SeenCallback {
 public:
  // `inside` is run by the callback; its failure counts as the case's.
  static SeenCallback& make(std::function<Status()> inside = {});

  // event.on_done with this callback.
  Status ask(const Bench& bench, const Event& event);
  int calls() const;
  // A failure unless it was called just now, while event.on_done ran.
  Status came_at_once() const;
  // Waits for the call; a failure if there is none, if another one follows, or if it had another
  // error.
  Status came_once(const Failure& expected) const;
  // The same, whatever the error's texts.
  Status came_once_with_code(stria_code code) const;
  // The same with any error or none.
  Status came() const;

 private:
  explicit SeenCallback(std::function<Status()> inside) : inside_(std::move(inside)) {}
  static void call(void* state, const stria_error* error);
  // Waits for the first call, and a moment longer; what came.
  Result<Failure> first() const;

  const std::function<Status()> inside_;
  mutable std::mutex mutex_;
  int calls_ = 0;  // these are guarded by mutex_
  Failure failure_;
  Status inner_;
};

}  // namespace stria::conformance
