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

// The driver's events that command n has to name; false if one of its waits has failed.
bool wait_list(const Batch& batch, size_t n, const std::vector<char>& taken,
               std::vector<cl_event>& list) {
  list.clear();
  for (uint32_t earlier : batch.commands[n].after) {
    if (!taken[earlier]) return false;
    if (!batch.queue.in_order()) list.push_back(batch.handles[earlier]);
  }
  if (!batch.commands[n].after.empty()) return true;
  for (const auto& wait : batch.waits()) {
    if (wait->done()) {
      if (wait->outcome()) return false;
      continue;
    }
    bool end_only = false;
    const auto& event =
        static_cast<const CommandEvent&>(*sdk::SubmissionEvent::find(*wait, &end_only));
    if (end_only) continue;  // of this queue, which is in order
    if (!batch.queue.in_order() || &event.queue() != &batch.queue) list.push_back(event.handle());
  }
  return true;
}

// The driver's event of all commands; null if it has not taken all. One that all others come before
// stands for them.
cl_event event_of_all(const Batch& batch, const std::vector<char>& taken) {
  if (std::find(taken.begin(), taken.end(), 0) != taken.end()) return nullptr;
  std::vector<char> has_later(batch.handles.size(), 0);
  for (const Command& command : batch.commands)
    for (uint32_t earlier : command.after) has_later[earlier] = 1;
  std::vector<cl_event> last;
  for (size_t n = 0; n < batch.handles.size(); ++n)
    if (!has_later[n]) last.push_back(batch.handles[n]);
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
cl_event event_in_order(const Batch& batch) {
  if (batch.handles.back()) return batch.handles.back();
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

CommandEvent::CommandEvent(Queue& queue, bool of_batch) : SubmissionEvent(queue, of_batch) {}

const Queue& CommandEvent::queue() const {
  return static_cast<const Queue&>(SubmissionEvent::queue());
}

void CommandEvent::set_handle(cl_event handle) {
  if (cl_event before = handle_.exchange(handle, std::memory_order_acq_rel))
    earlier_.push_back(before);
}

CommandEvent::~CommandEvent() {
  for (cl_event handle : earlier_) queue().context().cl().clReleaseEvent(handle);
  if (cl_event handle = this->handle()) queue().context().cl().clReleaseEvent(handle);
}

bool Batch::can_wait_for(const sdk::SubmissionEvent& event, bool end_only) const {
  const Queue& other = static_cast<const CommandEvent&>(event).queue();
  return end_only ? queue.in_order() && &other == &queue : &other.context() == &queue.context();
}

sdk::Outcome Batch::give() {
  Context& context = queue.context();
  const size_t count = commands.size();
  const bool each_has_one = !each.empty();
  std::vector<char> taken(count, 0);
  std::vector<cl_event> list;
  handles.assign(count, nullptr);
  refusals.assign(count, nullptr);
  for (size_t n = 0; n < count; ++n) {
    if (!wait_list(*this, n, taken, list)) continue;
    const Command& command = commands[n];
    if ((refusals[n] = injected(*this, command))) continue;
    const bool has_one = each_has_one || n == 0 || n + 1 == count;
    cl_event& handle = handles[n];
    try {
      const cl_int code =
          command.enqueue(queue.handle(), static_cast<cl_uint>(list.size()),
                          list.empty() ? nullptr : list.data(), has_one ? &handle : nullptr);
      if (code != CL_SUCCESS) check(code, command.what, context.name());
      taken[n] = 1;
    } catch (const sdk::Error& error) {
      handle = nullptr;
      refusals[n] = error.outcome();
    }
  }
  handle_of_all = nullptr;
  if (!each_has_one) {
    if (first) context.cl().clReleaseEvent(first);
    first = handles[0];
    handle_of_all = event_in_order(*this);
  } else if (count > 1) {
    handle_of_all = event_of_all(*this, taken);
  }
  context.cl().clFlush(queue.handle());
  return nullptr;
}

void Batch::publish() {
  for (size_t n = 0; n < each.size(); ++n) command_event(each[n]).set_handle(handles[n]);
  if (handle_of_all) done->set_handle(handle_of_all);
}

void Batch::end() { queue.end(*this); }

std::vector<sdk::Event*> Batch::waits_of(size_t n) const {
  std::vector<sdk::Event*> out;
  for (uint32_t earlier : commands[n].after) out.push_back(each[earlier].get());
  if (out.empty())
    for (const auto& wait : waits()) out.push_back(wait.get());
  return out;
}

sdk::Ref<sdk::Event> start(Queue& queue, const sdk::Ref<sdk::Tracker>& tracker,
                           std::vector<Command> commands, sdk::Waits waits,
                           std::vector<sdk::Ref<sdk::Event>>* each) {
  Context& context = queue.context();
  context.check_not_lost();
  auto batch = std::make_unique<Batch>(queue, std::move(commands));
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
  // Mappings end where nobody waits for them.
  queue.start(std::move(batch), tracker, waits, &queue == &context.transfer_queue());
  return done;
}

}  // namespace stria::opencl
