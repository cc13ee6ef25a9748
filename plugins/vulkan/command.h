// SPDX-License-Identifier: Apache-2.0
// Work on its way to a queue of the driver, and the events that stand for it.
//
// Each of our queues counts its submissions on a timeline semaphore of its own, so an event is a
// queue and a number. What is in another queue of the driver is waited for there, by that queue's
// semaphore and the number; what is in the same one comes before by the barrier with which each
// recording begins.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "context.h"
#include "recording.h"
#include "stria/sdk/submission_queue.h"

namespace stria::vulkan {

class Queue;

// The event of a submission, or of a part of one.
class CommandEvent final : public sdk::SubmissionEvent {
 public:
  // `of_all`: of the whole submission, else of a part.
  CommandEvent(Queue& queue, bool of_all);
  Queue& queue() const;
  bool submitted() const override { return value() > 0; }
  // What the queue's semaphore counts up to; 0 until the driver has the submission, and for ever if
  // it never gets it.
  uint64_t value() const { return value_.load(std::memory_order_acquire); }
  void set_value(uint64_t value) { value_.store(value, std::memory_order_release); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct Submission final : sdk::Submission {
  Submission(Queue& queue, std::function<sdk::Ref<Recording>()> record, size_t commands)
      : queue(queue), record(std::move(record)), commands(commands) {}
  bool can_wait_for(const sdk::SubmissionEvent& event, bool end_only) const override;
  void prepare() override;
  sdk::Outcome give() override;
  void publish() override;
  sdk::Object* subject() const override;
  void end() override;

  Queue& queue;
  // Makes the recording when it is time to submit it, and throws sdk::Error if that fails. Holds
  // everything that the commands use.
  std::function<sdk::Ref<Recording>()> record;
  size_t commands;
  std::vector<sdk::Ref<CommandEvent>> each = {};  // one per command; none: nobody asks
  sdk::Ref<CommandEvent> done = {};               // of all
  sdk::Ref<Recording> recording = {};
  uint64_t given = 0;  // up to this number of the queue the driver has it; 0: nothing
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
