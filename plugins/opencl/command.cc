// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "queue.h"

namespace stria::opencl {
namespace {

CommandEvent& command_event(const sdk::Ref<sdk::Event>& event) {
  return static_cast<CommandEvent&>(*event);
}

// What has become of a batch's commands in the driver.
struct Submitted {
  std::vector<char> taken;
  std::vector<cl_event> handles;  // null where the driver has been asked for none
};

// The driver's events that command n has to name; false if one of its waits has failed.
bool wait_list(const Batch& batch, size_t n, const Submitted& submitted,
               std::vector<cl_event>& list) {
  list.clear();
  for (uint32_t earlier : batch.commands[n].after) {
    if (!submitted.taken[earlier]) return false;
    if (!batch.queue.in_order()) list.push_back(submitted.handles[earlier]);
  }
  if (!batch.commands[n].after.empty()) return true;
  for (const auto& wait : batch.waits) {
    if (wait->done()) {
      if (wait->outcome()) return false;
      continue;
    }
    if (dynamic_cast<const EndEvent*>(wait.get())) continue;  // of this queue, which is in order
    const CommandEvent& event = command_event(wait);
    if (!batch.queue.in_order() || &event.queue() != &batch.queue) list.push_back(event.handle());
  }
  return true;
}

// The driver's event of all commands; null if it has not taken all. One that all others come before
// stands for them.
cl_event event_of_all(const Batch& batch, const Submitted& submitted) {
  if (std::find(submitted.taken.begin(), submitted.taken.end(), 0) != submitted.taken.end())
    return nullptr;
  std::vector<char> has_later(submitted.handles.size(), 0);
  for (const Command& command : batch.commands)
    for (uint32_t earlier : command.after) has_later[earlier] = 1;
  std::vector<cl_event> last;
  for (size_t n = 0; n < submitted.handles.size(); ++n)
    if (!has_later[n]) last.push_back(submitted.handles[n]);
  const OpenCl& cl = batch.queue.context().cl();
  if (last.size() == 1) return cl.clRetainEvent(last[0]) == CL_SUCCESS ? last[0] : nullptr;
  cl_event all = nullptr;
  // Without it whoever comes after the batch waits for it on the host.
  if (cl.clEnqueueMarkerWithWaitList(batch.queue.handle(), static_cast<cl_uint>(last.size()),
                                     last.data(), &all) != CL_SUCCESS)
    return nullptr;
  return all;
}

// The same of commands in order that have no events of their own, and of those that the driver has
// taken if it has not taken all; null if it gives none.
cl_event event_in_order(const Batch& batch, const Submitted& submitted) {
  if (submitted.handles.back()) return submitted.handles.back();
  cl_event all = nullptr;
  // It comes after whatever the queue has.
  const cl_int code = batch.queue.context().cl().clEnqueueMarkerWithWaitList(batch.queue.handle(),
                                                                             0, nullptr, &all);
  return code == CL_SUCCESS ? all : nullptr;
}

// Why the driver does not get the command: a test wants it so (sdk/fault_injection.h), or the
// device is lost.
sdk::Outcome injected(Batch& batch, const Command& command) {
  Context& context = batch.queue.context();
  if (sdk::Outcome lost = context.lost()) return lost;
  const sdk::InjectedFault fault = context.faults().next();
  if (fault == sdk::InjectedFault::none) return nullptr;
  const std::string what = command.describe() + " in " + batch.queue.name();
  if (fault == sdk::InjectedFault::fail)
    return std::make_shared<sdk::Failure>(failure_of(CL_OUT_OF_RESOURCES, what, context.name()));
  context.lose(what + ": " + name_of_code(CL_OUT_OF_RESOURCES));
  return context.lost();
}

// Gives the batch to the driver and hands it on to the queue.
void submit(std::unique_ptr<Batch> batch, bool soon) {
  Queue& queue = batch->queue;
  const std::lock_guard<std::mutex> lock(queue.giving());
  const std::function<void()> tell = give(*batch);
  // Before others see the driver's events: what waits for them is ended after them.
  queue.push(std::move(batch), soon, tell);
}

// The host is to see the end of `event` without waiting for it.
void expect_end(sdk::Event& event) {
  if (auto* end = dynamic_cast<EndEvent*>(&event))
    end->of().expect_end();
  else if (auto* command = dynamic_cast<CommandEvent*>(&event))
    command->expect_end();
}

// What the driver can wait for itself with commands in `queue`, or what is over and well.
bool known_to(const Queue& queue, const sdk::Event& event) {
  if (event.done()) return !event.outcome();
  if (const auto* end = dynamic_cast<const EndEvent*>(&event))
    return queue.in_order() && &end->of().queue() == &queue && end->of().handle();
  const auto* command = dynamic_cast<const CommandEvent*>(&event);
  return command && &command->queue().context() == &queue.context() && command->handle();
}

}  // namespace

std::string Command::describe() const {
  const auto* launch = std::get_if<KernelLaunch>(&work);
  if (!launch) return what;
  return std::string(what) + " of '" + static_cast<const QueuedKernel&>(*launch->kernel).symbol() +
         "'";
}

cl_int Command::enqueue(cl_command_queue queue, cl_uint count, const cl_event* waits,
                        cl_event* event) const {
  if (const auto* function = std::get_if<Enqueue>(&work)) return (*function)(count, waits, event);
  const auto& [kernel, arguments] = std::get<KernelLaunch>(work);
  static_cast<const QueuedKernel&>(*kernel).enqueue(queue, arguments, count, waits, event);
  return CL_SUCCESS;
}

CommandEvent::CommandEvent(Queue& queue, bool of_batch)
    : Event(queue.context().host()), queue_(queue), of_batch_(of_batch) {}

void CommandEvent::set_handle(cl_event handle) {
  if (cl_event before = handle_.exchange(handle, std::memory_order_acq_rel))
    earlier_.push_back(before);
}

CommandEvent::~CommandEvent() {
  for (cl_event handle : earlier_) queue_.context().cl().clReleaseEvent(handle);
  if (cl_event handle = this->handle()) queue_.context().cl().clReleaseEvent(handle);
}

bool CommandEvent::wait(uint64_t timeout_ns) {
  if (done()) return true;
  // Of a command within a batch this thread would come back with the batch's end; the driver's wait
  // has no limit.
  if (of_batch_ && timeout_ns == UINT64_MAX && handle())
    queue_.end_until(*this);
  else
    queue_.hurry();
  return Event::wait(timeout_ns);
}

void CommandEvent::expect_end() const {
  if (!done()) queue_.hurry();
}

bool EndEvent::wait(uint64_t timeout_ns) {
  // Done behind it: with a limit that is one wait, not two.
  if (timeout_ns == UINT64_MAX)
    of_->wait(timeout_ns);
  else
    of_->expect_end();
  return Event::wait(timeout_ns);
}

sdk::Ref<sdk::Event> CommandEvent::make_end() {
  auto end = sdk::make<EndEvent>(host(), sdk::Ref<CommandEvent>(this));
  on_done(
      [](void* state, const stria_error*) {
        sdk::Ref<EndEvent>::adopt(static_cast<EndEvent*>(state))->signal();
      },
      sdk::Ref<EndEvent>(end).detach());
  return end;
}

std::function<void()> give(Batch& batch) {
  Queue& queue = batch.queue;
  Context& context = queue.context();
  const size_t count = batch.commands.size();
  const bool each_has_one = !batch.each.empty();
  Submitted submitted{std::vector<char>(count, 0), std::vector<cl_event>(count, nullptr)};
  std::vector<cl_event> list;
  batch.refused.assign(count, nullptr);
  for (size_t n = 0; n < count; ++n) {
    if (!wait_list(batch, n, submitted, list)) continue;
    const Command& command = batch.commands[n];
    if ((batch.refused[n] = injected(batch, command))) continue;
    const bool has_one = each_has_one || n == 0 || n + 1 == count;
    cl_event& handle = submitted.handles[n];
    try {
      const cl_int code =
          command.enqueue(queue.handle(), static_cast<cl_uint>(list.size()),
                          list.empty() ? nullptr : list.data(), has_one ? &handle : nullptr);
      if (code != CL_SUCCESS) check(code, command.what, context.name());
      submitted.taken[n] = 1;
    } catch (const sdk::Error& error) {
      handle = nullptr;
      batch.refused[n] = error.outcome();
    }
  }
  cl_event all = nullptr;
  if (!each_has_one) {
    if (batch.first) context.cl().clReleaseEvent(batch.first);
    batch.first = submitted.handles[0];
    all = event_in_order(batch, submitted);
  } else if (count > 1) {
    all = event_of_all(batch, submitted);
  }
  context.cl().clFlush(queue.handle());
  return [each = batch.each, done = batch.done, handles = std::move(submitted.handles), all] {
    for (size_t n = 0; n < each.size(); ++n) command_event(each[n]).set_handle(handles[n]);
    if (all) done->set_handle(all);
  };
}

std::vector<sdk::Event*> Batch::waits_of(size_t n) const {
  std::vector<sdk::Event*> out;
  for (uint32_t earlier : commands[n].after) out.push_back(each[earlier].get());
  if (out.empty())
    for (const auto& wait : waits) out.push_back(wait.get());
  return out;
}

sdk::Ref<sdk::Event> start(Queue& queue, const sdk::Ref<sdk::Tracker>& tracker,
                           std::vector<Command> commands, sdk::Waits waits,
                           std::vector<sdk::Ref<sdk::Event>>* each) {
  Context& context = queue.context();
  context.check_not_lost();
  auto batch = std::make_unique<Batch>(Batch{queue, tracker, std::move(commands), {}, {}, {}});
  size_t after_count = 0;
  for (const Command& command : batch->commands) after_count += command.after.size();
  batch->after.reserve(after_count);  // so that it stays where it is
  for (Command& command : batch->commands) {
    const size_t first = batch->after.size();
    batch->after.insert(batch->after.end(), command.after.begin(), command.after.end());
    command.after = {batch->after.data() + first, command.after.size()};
  }
  const bool alone = batch->commands.size() == 1;
  if (each || alone || !queue.in_order() || context.event_each())
    for (size_t n = 0; n < batch->commands.size(); ++n)
      batch->each.push_back(sdk::make<CommandEvent>(queue, alone));
  batch->done = alone ? sdk::Ref<CommandEvent>(&command_event(batch->each[0]))
                      : sdk::make<CommandEvent>(queue, true);
  if (each) *each = batch->each;
  const sdk::Ref<sdk::Event> done = batch->done;
  std::vector<sdk::Event*> on_host;
  for (uint64_t i = 0; i < waits.count; ++i) {
    batch->waits.push_back(sdk::Ref<sdk::Event>(waits.events[i]));
    if (!known_to(queue, *waits.events[i])) on_host.push_back(waits.events[i]);
  }
  tracker->add();
  if (on_host.empty()) {
    // Mappings end where nobody waits for them.
    submit(std::move(batch), &queue == &context.transfer_queue());
    return done;
  }
  for (sdk::Event* wait : on_host) expect_end(*wait);
  const sdk::Host& host = context.host();
  sdk::when_done(host, host.tracker(), {on_host.data(), on_host.size()})
      ->on_done(
          [](void* state, const stria_error* error) {
            std::unique_ptr<Batch> batch(static_cast<Batch*>(state));
            // What has failed waits its turn to say so: a chain of such would be a recursion here.
            if (error || batch->queue.context().lost())
              batch->queue.push(std::move(batch), true, [] {});
            else
              submit(std::move(batch), true);
          },
          batch.release());
  return done;
}

}  // namespace stria::opencl
