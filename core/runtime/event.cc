// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/event.h"

#include "stria/base/status.h"
#include "stria/runtime/event_state.h"
#include "stria/runtime/inside.h"

namespace stria {

Status Event::wait(uint64_t timeout_ns) const {
  if (!valid()) return Status();
  Status outcome = state_->event.wait(timeout_ns);
  // Only a run knows which of its kernels failed.
  return outcome.ok() || !is_done() || !state_->run ? outcome : state_->run->wait();
}

bool Event::is_done() const { return !valid() || state_->event.is_done(); }

Status Event::status() const {
  if (!is_done())
    return make_error(StatusCode::failed_precondition, "the work of this event is not done yet");
  return wait();
}

Status Event::on_done(std::function<void(const Status&)> callback) const {
  if (valid()) return state_->event.on_done(std::move(callback));
  callback(Status());
  return Status();
}

Result<uint64_t> Event::duration_ns() const {
  if (!valid()) return uint64_t{0};
  return state_->event.duration_ns();
}

Result<std::vector<KernelTime>> Event::kernel_times() const {
  if (!valid() || !state_->run) return std::vector<KernelTime>();
  STRIA_ASSIGN(std::vector<exec::KernelTime> times, state_->run->times());
  std::vector<KernelTime> out;
  for (exec::KernelTime& time : times)
    out.push_back({std::move(time.name), time.nanoseconds, std::move(time.interpreted)});
  return out;
}

Status Event::signal(const Status& outcome) const {
  if (!valid())
    return make_error(StatusCode::failed_precondition, "there is no event here to signal");
  return state_->event.signal(outcome);
}

Event Inside::event_of(hal::Event event) {
  Event out;
  if (event.valid())
    out.state_ = std::make_shared<Event::State>(Event::State{std::move(event), std::nullopt});
  return out;
}

Event Inside::event_of(exec::Run run) {
  Event out;
  hal::Event done = run.done();
  out.state_ = std::make_shared<Event::State>(Event::State{std::move(done), std::move(run)});
  return out;
}

hal::Event Inside::hal_event(const Event& event) {
  return event.valid() ? event.state_->event : hal::Event();
}

}  // namespace stria
