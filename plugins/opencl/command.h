// SPDX-License-Identifier: Apache-2.0
// Commands on their way to a queue of the driver, and the events that stand for them.
//
// Commands come in batches. A batch whose waits are all things that the driver already has goes to
// the driver at once, with their events as wait lists: chains of batches run without the host.
// Other waits (host events, batches that wait for such) are waited for by the host first.
//
// An event of the driver costs more than a small kernel: where nobody asks for the commands' own
// events and the queue keeps their order, only the first and the last command of a batch have one,
// unless a failure between them would be hidden (Context::event_each).
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "context.h"
#include "stria/sdk/event.h"
#include "stria/sdk/executor.h"

namespace stria::opencl {

class Queue;

// Gives a command to the driver: clEnqueue… with this wait list, NULL if `count` is 0. Holds
// everything that the command needs until it is done. Throws sdk::Error where it cannot even ask.
using Enqueue = std::function<cl_int(cl_uint count, const cl_event* waits, cl_event* event)>;

// A kernel of this plugin, as all are that its libraries make.
class QueuedKernel : public sdk::Kernel {
 public:
  // Gives it to the driver; throws sdk::Error where the driver refuses.
  virtual void enqueue(cl_command_queue queue, const std::vector<sdk::Argument>& arguments,
                       cl_uint count, const cl_event* waits, cl_event* event) const = 0;
};

// No Enqueue: that would be an allocation for each of a batch.
struct KernelLaunch {
  sdk::Ref<sdk::Kernel> kernel;  // a QueuedKernel
  std::vector<sdk::Argument> arguments;
};

struct Command {
  const char* what;  // "clEnqueueReadBuffer", for messages
  std::variant<Enqueue, KernelLaunch> work;
  // Positions of earlier commands of the batch to wait for; if there are none, it waits for what
  // the batch waits for. The caller's during start(), then the batch's.
  std::span<const uint32_t> after = {};

  // As Enqueue; a kernel goes to `queue`.
  cl_int enqueue(cl_command_queue queue, cl_uint count, const cl_event* waits,
                 cl_event* event) const;
  // Lets go of what it holds: it is not enqueued again.
  void release() { work = Enqueue(); }
};

// Done when a command or a batch is.
class CommandEvent final : public sdk::Event {
 public:
  // Of a whole batch, or of a command within one.
  CommandEvent(Queue& queue, bool of_batch);
  ~CommandEvent() override;
  bool is_work() const override { return true; }
  // Without a limit the calling thread ends the batch itself, and those before it.
  bool wait(uint64_t timeout_ns) override;
  sdk::Ref<sdk::Event> make_end() override;

  // Somebody is told of its end and does not wait for it.
  void expect_end() const;

  const Queue& queue() const { return queue_; }
  // The driver's event; null until the driver has the command, and for ever if it never gets it.
  cl_event handle() const { return handle_.load(std::memory_order_acquire); }
  // Takes over a reference. By one thread at a time; again only where the command is given again.
  // Who has asked for the earlier handle may use it as long as this event.
  void set_handle(cl_event handle);

 private:
  Queue& queue_;
  const bool of_batch_;
  std::atomic<cl_event> handle_{nullptr};
  std::vector<cl_event> earlier_;
};

// An end of such an event (sdk::Event::make_end). What comes after it in the same queue in order
// needs no wait: where the driver lets it fail because of what it follows, the queue gives it
// again.
class EndEvent final : public sdk::Event {
 public:
  EndEvent(const sdk::Host& host, sdk::Ref<CommandEvent> of) : Event(host), of_(std::move(of)) {}
  bool is_work() const override { return true; }
  bool wait(uint64_t timeout_ns) override;
  const CommandEvent& of() const { return *of_; }

 private:
  const sdk::Ref<CommandEvent> of_;
};

// Commands that are started together, until all are done.
struct Batch {
  Queue& queue;
  sdk::Ref<sdk::Tracker> tracker;
  std::vector<Command> commands;
  std::vector<sdk::Ref<sdk::Event>> waits;
  std::vector<sdk::Ref<sdk::Event>> each;  // CommandEvents, one per command; none: nobody asks
  sdk::Ref<CommandEvent> done;             // of all; that of the command if there is one only
  std::vector<sdk::Outcome> refused = {};  // per command: why the driver has not taken it
  cl_event first = nullptr;  // of the first command, where `each` is empty; released by the queue
  std::vector<uint32_t> after = {};  // of all commands, one after the other

  // What command n waits for, in list order. Only with `each`.
  std::vector<sdk::Event*> waits_of(size_t n) const;
};

// Gives the commands to the driver, which has all that the batch waits for and that is not done;
// says in `refused` what it does not take. Calls the result, which says the driver's events, once
// they may be seen.
std::function<void()> give(Batch& batch);

// Starts `commands`, at least one, when `waits` are over; counted in `tracker` until the event is
// done, which is when all of them are, with the failure of the first failed one. `each`, if it is
// not null, gets one event per command. Throws if the device is lost.
//
// On a queue in order some drivers let what follows a failed command fail too, others run it.
// Within a batch that is its failure: without `each` that of the last command is the batch's where
// the former holds, else each command has an event of its own (Context::event_each). A batch that
// has not run because of what came before it in the queue, and none of whose waits has failed, is
// given to the driver once more, unless something after it in the queue has run meanwhile: then it
// fails with what the driver says of it.
sdk::Ref<sdk::Event> start(Queue& queue, const sdk::Ref<sdk::Tracker>& tracker,
                           std::vector<Command> commands, sdk::Waits waits,
                           std::vector<sdk::Ref<sdk::Event>>* each = nullptr);

}  // namespace stria::opencl
