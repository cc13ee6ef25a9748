// SPDX-License-Identifier: Apache-2.0
#include "events/seen_callback.h"

#include <chrono>
#include <thread>

namespace stria::conformance {

SeenCallback& SeenCallback::make(std::function<Status()> inside) {
  return *new SeenCallback(std::move(inside));
}

Status SeenCallback::ask(const Bench& bench, const Event& event) {
  STRIA_SLOT(bench.subject(), event, on_done, event.get(), call, this);
  return Status();
}

void SeenCallback::call(void* state, const stria_error* error) {
  auto& self = *static_cast<SeenCallback*>(state);
  const Failure failure = error ? copy_of(*error) : Failure();
  Status inner;
  if (self.inside_) inner = self.inside_();
  const std::lock_guard lock(self.mutex_);
  if (self.calls_++ > 0) return;
  self.failure_ = failure;
  self.inner_ = inner;
}

int SeenCallback::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

Status SeenCallback::came_at_once() const {
  const int count = calls();
  if (count == 1) return Status();
  return broken("event.on_done of an event that is done called back {} times before it returned",
                count);
}

Result<Failure> SeenCallback::first() const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (calls() == 0) {
    if (std::chrono::steady_clock::now() >= end)
      return broken("the callback of an event that is done has not been called for 5 s");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  // So much time is there for a second call.
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const std::lock_guard lock(mutex_);
  if (calls_ != 1) return broken("the callback was called {} times", calls_);
  STRIA_RETURN_IF_ERROR(inner_.with_context("in the callback"));
  return failure_;
}

Status SeenCallback::came_once(const Failure& expected) const {
  STRIA_ASSIGN(const Failure got, first());
  if (is_same(got, expected)) return Status();
  return broken("the callback was called with {}, not with {}", got.to_string(),
                expected.to_string());
}

Status SeenCallback::came() const { return first().status(); }

Status SeenCallback::came_once_with_code(stria_code code) const {
  STRIA_ASSIGN(const Failure got, first());
  if (got.code == code) return Status();
  return broken("the callback was called with {}, not with code {}", got.to_string(), code);
}

}  // namespace stria::conformance
