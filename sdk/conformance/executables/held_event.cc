// SPDX-License-Identifier: Apache-2.0
#include "executables/held_event.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "suite/case.h"

namespace stria::conformance {
namespace {

// Far longer than any call takes that does not wait.
constexpr std::chrono::seconds kLimit{10};
constexpr std::chrono::milliseconds kGlance{2};

}  // namespace

struct HeldEvent::State {
  State(const Subject& of, Event held) : subject(of), event(std::move(held)) {
    thread = std::thread([this] {
      std::unique_lock lock(mutex);
      if (changed.wait_for(lock, kLimit, [this] { return is_back; })) return;
      is_late = true;
      // What fails here shows in what the case looks at.
      (void)subject.signal(event).ok();
    });
  }
  ~State() {
    come_back();
    thread.join();
  }
  void come_back() {
    const std::lock_guard lock(mutex);
    is_back = true;
    changed.notify_all();
  }

  const Subject& subject;
  Event event;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_back = false, is_late = false;  // guarded by mutex
  std::thread thread;
};

HeldEvent::HeldEvent(std::unique_ptr<State> state, stria_event* event)
    : state_(std::move(state)), event_(event) {}
HeldEvent::HeldEvent(HeldEvent&&) noexcept = default;
HeldEvent::~HeldEvent() = default;

Result<HeldEvent> HeldEvent::make(const Subject& subject) {
  STRIA_ASSIGN(Event event, subject.host_event());
  stria_event* const handle = event.get();
  return HeldEvent(std::make_unique<State>(subject, std::move(event)), handle);
}

Status HeldEvent::returned(std::string_view slot) {
  state_->come_back();
  const std::lock_guard lock(state_->mutex);
  if (!state_->is_late) {
    // Work that does not wait is done by then, and shows: nothing else depends on the time.
    std::this_thread::sleep_for(kGlance);
    return Status();
  }
  return broken("{} had not come back after {} s while an event of its list was open: it waits",
                slot, kLimit.count());
}

Status HeldEvent::signal(const Status& failure) {
  STRIA_RETURN_IF_ERROR(returned("the call"));
  return state_->subject.signal(state_->event, failure);
}

}  // namespace stria::conformance
