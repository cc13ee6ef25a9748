// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace stria::opencl {
namespace {

class CommandEvent final : public sdk::Event {
 public:
  explicit CommandEvent(Context& context) : Event(context.host()), context_(context) {}
  ~CommandEvent() override {
    if (cl_event handle = this->handle()) context_.cl().clReleaseEvent(handle);
  }
  bool is_work() const override { return true; }

  Context& context() const { return context_; }
  // The driver's event, null until the driver has the command.
  cl_event handle() const { return handle_.load(std::memory_order_acquire); }
  void set_handle(cl_event handle) { handle_.store(handle, std::memory_order_release); }

 private:
  Context& context_;
  std::atomic<cl_event> handle_{nullptr};
};

// A command on its way. Lives until its event is done.
struct InFlight {
  sdk::Ref<CommandEvent> event;
  Command command;
  sdk::Ref<sdk::Tracker> tracker;
  std::vector<sdk::Ref<sdk::Event>> waits;  // that the driver waits for

  // Ends the command. What it held goes before the tracker knows, so that whoever waits for no work
  // to be in flight may end the context.
  static void end(InFlight* self, const sdk::Outcome& outcome, uint64_t begin_ns = 0,
                  uint64_t end_ns = 0) {
    sdk::Ref<sdk::Tracker> tracker = std::move(self->tracker);
    sdk::Ref<CommandEvent> event = std::move(self->event);
    delete self;
    event->signal(outcome, begin_ns, end_ns);
    event = {};
    tracker->remove();
  }
};

// The command failed, or something it waited for did: the first cause is what dependants are told.
void end_failed(InFlight* self, sdk::Outcome own) {
  struct Ending {
    InFlight* self;
    sdk::Outcome own;
  };
  std::vector<sdk::Event*> waits;
  for (const auto& wait : self->waits) waits.push_back(wait.get());
  const sdk::Host& host = self->event->context().host();
  // The driver may tell of this command before it tells of those it waited for.
  sdk::when_done(host, host.tracker(), {waits.data(), waits.size()})
      ->on_done(
          [](void* state, const stria_error* error) {
            auto* ending = static_cast<Ending*>(state);
            const sdk::Outcome outcome = error ? sdk::outcome_of(error) : ending->own;
            InFlight* self = ending->self;
            delete ending;
            InFlight::end(self, outcome);
          },
          new Ending{self, std::move(own)});
}

void CL_CALLBACK on_complete(cl_event handle, cl_int status, void* state) {
  auto* self = static_cast<InFlight*>(state);
  Context& context = self->event->context();
  if (status < 0) {
    end_failed(self, std::make_shared<sdk::Failure>(
                         failure_of(status, self->command.what, context.name())));
    return;
  }
  cl_ulong begin = 0, end = 0;
  const OpenCl& cl = context.cl();
  const bool known = cl.clGetEventProfilingInfo(handle, CL_PROFILING_COMMAND_START, sizeof begin,
                                                &begin, nullptr) == CL_SUCCESS &&
                     cl.clGetEventProfilingInfo(handle, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                                nullptr) == CL_SUCCESS;
  if (!known || end < begin) begin = end = 0;
  InFlight::end(self, nullptr, begin, end);
}

// Keeps what a command holds until the process ends.
void keep_for_ever(Command command) {
  struct Kept {
    std::mutex mutex;
    std::vector<Command> commands;  // guarded by mutex
  };
  static Kept* kept = new Kept;
  std::lock_guard<std::mutex> lock(kept->mutex);
  kept->commands.push_back(std::move(command));
}

// Ends a command that the driver has and will not tell of. What the command holds, the device may
// still use: only when all of the queue is done may it go. On a worker, as waiting takes long and
// no callback of the driver may do it.
void end_unheard(InFlight* self, sdk::Outcome own) {
  struct Unheard {
    InFlight* self;
    sdk::Outcome own;
  };
  const sdk::Host& host = self->event->context().host();
  auto finish = [](void* state) {
    const std::unique_ptr<Unheard> unheard(static_cast<Unheard*>(state));
    Command& command = unheard->self->command;
    Context& context = unheard->self->event->context();
    // Where not even that works, nobody knows when the device is done: better a leak, which the
    // host reports, than memory that is written after its end.
    if (context.cl().clFinish(command.queue) != CL_SUCCESS) keep_for_ever(command);
    end_failed(unheard->self, std::move(unheard->own));
  };
  host.post(finish, new Unheard{self, std::move(own)});
}

// Gives the command to the driver. Takes over `self`.
void submit(InFlight* self) {
  Context& context = self->event->context();
  std::vector<cl_event> list;
  for (const auto& wait : self->waits) list.push_back(static_cast<CommandEvent&>(*wait).handle());
  cl_event handle = nullptr;
  cl_int code = self->command.enqueue(static_cast<cl_uint>(list.size()),
                                      list.empty() ? nullptr : list.data(), &handle);
  auto failure = [&](const char* what) {
    return std::make_shared<sdk::Failure>(failure_of(code, what, context.name()));
  };
  if (code != CL_SUCCESS) return end_failed(self, failure(self->command.what));
  self->event->set_handle(handle);
  const cl_command_queue queue = self->command.queue;
  const sdk::Ref<CommandEvent> keep = self->event;
  code = context.cl().clSetEventCallback(handle, CL_COMPLETE, on_complete, self);
  // From here on `self` belongs to the callback.
  if (code == CL_SUCCESS)
    context.cl().clFlush(queue);
  else
    end_unheard(self, failure("clSetEventCallback"));
}

}  // namespace

sdk::Ref<sdk::Event> start(Context& context, const sdk::Ref<sdk::Tracker>& tracker, Command command,
                           sdk::Waits waits) {
  auto event = sdk::make<CommandEvent>(context);
  auto flight = std::make_unique<InFlight>(InFlight{event, std::move(command), tracker, {}});
  bool at_once = true;
  for (uint64_t i = 0; i < waits.count && at_once; ++i) {
    auto* other = dynamic_cast<CommandEvent*>(waits.events[i]);
    const bool ours = other && &other->context() == &context && other->handle();
    if (waits.events[i]->done())
      at_once = !waits.events[i]->outcome();
    else if (ours)
      flight->waits.push_back(sdk::Ref<sdk::Event>(other));
    else
      at_once = false;
  }
  tracker->add();
  if (at_once) {
    submit(flight.release());
    return event;
  }
  flight->waits.clear();
  // On a worker: the thread that ends the last wait may be the driver's own, which must not call it
  // back.
  InFlight* raw = flight.release();
  sdk::Ref<sdk::Event> ready =
      sdk::schedule(context.host(), context.host().tracker(), waits, [raw] { submit(raw); });
  ready->on_done(
      [](void* state, const stria_error* error) {
        // Submitted, unless a wait failed: then the work did not run.
        if (error) InFlight::end(static_cast<InFlight*>(state), sdk::outcome_of(error));
      },
      raw);
  return event;
}

}  // namespace stria::opencl
