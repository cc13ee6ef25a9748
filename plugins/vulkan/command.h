// SPDX-License-Identifier: Apache-2.0
// Work on its way to a queue of the driver, and the events that stand for it.
//
// Each of our queues counts its submissions on a timeline semaphore of its own, so an event is a
// queue and a number. If all that a submission waits for has been submitted before it, it goes to
// the driver at once: what is in another queue of the driver is waited for there, by that queue's
// semaphore and the number; what is in the same one comes before by the barrier with which each
// recording begins. For other waits (host events, submissions that wait for such) the host waits
// first.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "context.h"
#include "recording.h"
#include "stria/sdk/event.h"

namespace stria::vulkan {

class Queue;

// The event of a submission, or of a part of one.
class CommandEvent final : public sdk::Event {
 public:
  // `of_all`: of the whole submission, else of a part.
  CommandEvent(Queue& queue, bool of_all);
  bool is_work() const override { return true; }
  // Without a limit the calling thread ends the submission itself, and those before it.
  bool wait(uint64_t timeout_ns) override;
  sdk::Ref<sdk::Event> make_end() override;

  // Says that somebody wants to be told of its end, and does not wait for it.
  void expect_end() const;

  Queue& queue() const { return queue_; }
  // What the queue's semaphore counts up to; 0 until the driver has the submission, and for ever if
  // it never gets it.
  uint64_t value() const { return value_.load(std::memory_order_acquire); }
  void set_value(uint64_t value) { value_.store(value, std::memory_order_release); }

 private:
  Queue& queue_;
  const bool of_all_;
  std::atomic<uint64_t> value_{0};
};

// The end of such an event (sdk::Event::make_end): what comes after it waits in the driver, too.
class EndEvent final : public sdk::Event {
 public:
  EndEvent(const sdk::Host& host, sdk::Ref<CommandEvent> of) : Event(host), of_(std::move(of)) {}
  bool is_work() const override { return true; }
  bool wait(uint64_t timeout_ns) override;
  const CommandEvent& of() const { return *of_; }

 private:
  const sdk::Ref<CommandEvent> of_;
};

// What is submitted as one; lives until it has ended.
struct Submission {
  Queue& queue;
  sdk::Ref<sdk::Tracker> tracker;
  // Makes the recording when it is time to submit it, and throws sdk::Error if that fails. Holds
  // everything that the commands use.
  std::function<sdk::Ref<Recording>()> record;
  std::vector<sdk::Ref<sdk::Event>> waits;
  std::vector<sdk::Ref<CommandEvent>> each;  // one per command; none: nobody asks
  size_t commands = 1;
  sdk::Ref<CommandEvent> done;  // of all
  sdk::Ref<Recording> recording = {};
  uint64_t given = 0;              // up to this number of the queue the driver has it; 0: nothing
  sdk::Outcome refused = nullptr;  // why the driver has not got it, or not all of it
};

// Starts what `record` makes, `commands` commands, when `waits` are over. `tracker` counts it until
// the returned event is done. `each`, if it is not null, gets one event per command; then the
// recording has a mark before the first command and one behind each, otherwise one before all and
// one behind all. Throws if the device is lost.
//
// The driver runs all of a submission or loses the device, or refuses it, or a part of it where it
// has several. What it has run then is no harm: whoever comes after the submission fails.
sdk::Ref<sdk::Event> start(Queue& queue, const sdk::Ref<sdk::Tracker>& tracker,
                           std::function<sdk::Ref<Recording>()> record, size_t commands,
                           sdk::Waits waits, std::vector<sdk::Ref<sdk::Event>>* each = nullptr);

}  // namespace stria::vulkan
