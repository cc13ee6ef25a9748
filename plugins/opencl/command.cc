// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <memory>
#include <utility>

#include "queue.h"

namespace stria::opencl {
namespace {

CommandEvent& command_event(const sdk::Ref<sdk::Event>& event) {
  return static_cast<CommandEvent&>(*event);
}

// The driver's events that command n has to name; false if one of its waits has failed.
bool wait_list(const Batch& batch, size_t n, const std::vector<cl_event>& handles,
               std::vector<cl_event>& list) {
  list.clear();
  for (uint32_t earlier : batch.commands[n].after) {
    if (!handles[earlier]) return false;
    if (!batch.queue.in_order()) list.push_back(handles[earlier]);
  }
  if (!batch.commands[n].after.empty()) return true;
  for (const auto& wait : batch.waits) {
    if (wait->done()) {
      if (wait->outcome()) return false;
      continue;
    }
    const CommandEvent& event = command_event(wait);
    if (!batch.queue.in_order() || &event.queue() != &batch.queue) list.push_back(event.handle());
  }
  return true;
}

// The driver's event of all commands; null if it has not taken all. One that all others come before
// stands for them.
cl_event event_of_all(const Batch& batch, const std::vector<cl_event>& handles) {
  std::vector<char> has_later(handles.size(), 0);
  for (const Command& command : batch.commands)
    for (uint32_t earlier : command.after) has_later[earlier] = 1;
  std::vector<cl_event> last;
  for (size_t n = 0; n < handles.size(); ++n) {
    if (!handles[n]) return nullptr;
    if (!has_later[n]) last.push_back(handles[n]);
  }
  const OpenCl& cl = batch.queue.context().cl();
  if (last.size() == 1) return cl.clRetainEvent(last[0]) == CL_SUCCESS ? last[0] : nullptr;
  cl_event all = nullptr;
  // Without it whoever comes after the batch waits for it on the host.
  if (cl.clEnqueueMarkerWithWaitList(batch.queue.handle(), static_cast<cl_uint>(last.size()),
                                     last.data(), &all) != CL_SUCCESS)
    return nullptr;
  return all;
}

// Gives the commands to the driver, which has all that the batch waits for and that is not done.
void submit(std::unique_ptr<Batch> batch) {
  Queue& queue = batch->queue;
  Context& context = queue.context();
  const size_t count = batch->commands.size();
  std::vector<cl_event> handles(count), list;
  batch->refused.resize(count);
  for (size_t n = 0; n < count; ++n) {
    if (!wait_list(*batch, n, handles, list)) continue;
    const Command& command = batch->commands[n];
    const cl_int code = command.enqueue(static_cast<cl_uint>(list.size()),
                                        list.empty() ? nullptr : list.data(), &handles[n]);
    if (code == CL_SUCCESS) continue;
    handles[n] = nullptr;
    batch->refused[n] =
        std::make_shared<sdk::Failure>(failure_of(code, command.what, context.name()));
  }
  const cl_event all = count > 1 ? event_of_all(*batch, handles) : nullptr;
  context.cl().clFlush(queue.handle());
  std::vector<sdk::Ref<sdk::Event>> each = batch->each;
  const sdk::Ref<CommandEvent> done = batch->done;
  // Before others see the driver's events: what waits for them is ended after them.
  queue.push(std::move(batch), [&] {
    for (size_t n = 0; n < count; ++n) command_event(each[n]).set_handle(handles[n]);
    if (all) done->set_handle(all);
  });
}

// What the driver can wait for itself, or what is over and well.
bool known_to(const Context& context, const sdk::Event& event) {
  if (event.done()) return !event.outcome();
  const auto* command = dynamic_cast<const CommandEvent*>(&event);
  return command && &command->queue().context() == &context && command->handle();
}

}  // namespace

CommandEvent::CommandEvent(Queue& queue) : Event(queue.context().host()), queue_(queue) {}

CommandEvent::~CommandEvent() {
  if (cl_event handle = this->handle()) queue_.context().cl().clReleaseEvent(handle);
}

bool CommandEvent::wait(uint64_t timeout_ns) {
  const Context& context = queue_.context();
  cl_event handle = this->handle();
  if (handle && !done() && timeout_ns == UINT64_MAX && context.hang_limit().count() == 0)
    (void)context.cl().clWaitForEvents(1, &handle);
  return Event::wait(timeout_ns);
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
  for (size_t n = 0; n < batch->commands.size(); ++n)
    batch->each.push_back(sdk::make<CommandEvent>(queue));
  batch->done = batch->commands.size() == 1 ? sdk::Ref<CommandEvent>(&command_event(batch->each[0]))
                                            : sdk::make<CommandEvent>(queue);
  if (each) *each = batch->each;
  const sdk::Ref<sdk::Event> done = batch->done;
  std::vector<sdk::Event*> on_host;
  for (uint64_t i = 0; i < waits.count; ++i) {
    batch->waits.push_back(sdk::Ref<sdk::Event>(waits.events[i]));
    if (!known_to(context, *waits.events[i])) on_host.push_back(waits.events[i]);
  }
  tracker->add();
  if (on_host.empty()) {
    submit(std::move(batch));
    return done;
  }
  const sdk::Host& host = context.host();
  sdk::when_done(host, host.tracker(), {on_host.data(), on_host.size()})
      ->on_done(
          [](void* state, const stria_error* error) {
            std::unique_ptr<Batch> batch(static_cast<Batch*>(state));
            // What has failed waits its turn to say so: a chain of such would be a recursion here.
            if (error || batch->queue.context().lost())
              batch->queue.push(std::move(batch));
            else
              submit(std::move(batch));
          },
          batch.release());
  return done;
}

}  // namespace stria::opencl
