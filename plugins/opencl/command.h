// SPDX-License-Identifier: Apache-2.0
// Commands on their way to a queue of the driver, and the events that stand for them.
//
// Commands come in batches, which go to the driver with the events of what they wait for as wait
// lists.
//
// An event of the driver costs more than a small kernel. If nobody asks for the commands' own
// events, and the queue keeps their order, only the first and the last command of a batch have one,
// unless a failure between them would be hidden (Context::event_each).
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "context.h"
#include "stria/sdk/executor.h"
#include "stria/sdk/submission_queue.h"

namespace stria::opencl {

class Queue;

// Gives a command to the driver: clEnqueue… with this wait list, NULL if `count` is 0. It holds
// everything that the command needs until the command is done. Throws sdk::Error if it cannot even
// ask the driver.
using Enqueue = std::function<cl_int(cl_uint count, const cl_event* waits, cl_event* event)>;

// A kernel of this plugin's libraries.
class QueuedKernel : public sdk::Kernel {
 public:
  virtual const std::string& symbol() const = 0;  // "k0_a", for messages
  // Gives the kernel to the driver; throws sdk::Error if the driver refuses.
  virtual void enqueue(cl_command_queue queue, const std::vector<sdk::Argument>& arguments,
                       cl_uint count, const cl_event* waits, cl_event* event) const = 0;
};

// A launch is not an Enqueue, which would be an allocation for each launch of a batch.
struct KernelLaunch {
  sdk::Ref<sdk::Kernel> kernel;  // a QueuedKernel
  std::vector<sdk::Argument> arguments;
};

struct Command {
  const char* what;  // "clEnqueueReadBuffer", for messages
  std::variant<Enqueue, KernelLaunch> work;
  // Positions of earlier commands of the batch to wait for; if there are none, the command waits
  // for what the batch waits for. The array is the caller's during start(), then the batch's.
  std::span<const uint32_t> after = {};

  // "clEnqueueNDRangeKernel of 'k0_a'".
  std::string describe() const;
  // Like Enqueue; a kernel goes to `queue`.
  cl_int enqueue(cl_command_queue queue, cl_uint count, const cl_event* waits,
                 cl_event* event) const;
  // Drops what the command holds: it is not enqueued again.
  void release() { work = Enqueue(); }
};

// The event of a command or of a batch.
class CommandEvent final : public sdk::SubmissionEvent {
 public:
  // `of_batch`: of a whole batch, else of a command within one.
  CommandEvent(Queue& queue, bool of_batch);
  ~CommandEvent() override;
  const Queue& queue() const;
  bool submitted() const override { return handle() != nullptr; }
  // The driver's event; null until the driver has the command, and for ever if it never gets it.
  cl_event handle() const { return handle_.load(std::memory_order_acquire); }
  // Takes over a reference. One thread at a time; again only if the command is given again. Whoever
  // got the earlier handle may use it as long as this event lives.
  void set_handle(cl_event handle);

 private:
  std::atomic<cl_event> handle_{nullptr};
  std::vector<cl_event> earlier_;
};

// Commands that are started together; lives until all are done.
struct Batch final : sdk::Submission {
  Batch(Queue& queue, std::vector<Command> commands)
      : queue(queue), commands(std::move(commands)) {}
  // What comes after an event's end in the same queue in order needs no wait. If the driver lets it
  // fail because of what it follows, the queue gives it again.
  bool can_wait_for(const sdk::SubmissionEvent& event, bool end_only) const override;
  // The driver already has everything open that the batch waits for. `refusals` gets what it does
  // not take: it counts as given all the same.
  sdk::Outcome give() override;
  void publish() override;
  void end() override;

  Queue& queue;
  std::vector<Command> commands;
  std::vector<sdk::Ref<sdk::Event>> each = {};  // CommandEvents, one per command; none: nobody asks
  sdk::Ref<CommandEvent> done = {};             // of all; if there is one command only, its event
  // Per command: why the driver has not taken it. Empty before give().
  std::vector<sdk::Outcome> refusals = {};
  // What give() has got: the driver's events of the commands, null where it has been asked for
  // none, and of all. The events above own them from publish() on.
  std::vector<cl_event> handles = {};
  cl_event handle_of_all = nullptr;
  cl_event first = nullptr;  // of the first command, if `each` is empty; the queue releases it
  std::vector<uint32_t> after = {};  // Command::after of all commands, one after the other

  // What command n waits for, in list order. Only with `each`.
  std::vector<sdk::Event*> waits_of(size_t n) const;
};

// Starts `commands`, at least one, when `waits` are over. `tracker` counts them until the returned
// event is done: then all commands are done, and the event has the failure of the first failed one.
// `each`, if it is not null, gets one event per command. Throws if the device is lost.
//
// On a queue in order, some drivers let what follows a failed command fail, too; others run it.
// Within a batch without `each`: with the former, the failure of the last command is the batch's;
// with the latter, each command has an event of its own (Context::event_each). A batch may not have
// run because of what came before it in the queue, while none of its waits has failed. Then it is
// given to the driver once more, unless something after it in the queue has run meanwhile: then it
// fails with what the driver says of it.
sdk::Ref<sdk::Event> start(Queue& queue, const sdk::Ref<sdk::Tracker>& tracker,
                           std::vector<Command> commands, sdk::Waits waits,
                           std::vector<sdk::Ref<sdk::Event>>* each = nullptr);

}  // namespace stria::opencl
