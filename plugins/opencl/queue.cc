// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stria::opencl {
namespace {

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

// The first failure of events in list order, null if all went well. Waits for all of them.
sdk::Outcome first_failure(const std::vector<sdk::Event*>& events) {
  sdk::Outcome first;
  for (sdk::Event* event : events) {
    event->wait(UINT64_MAX);
    if (!first) first = event->outcome();
  }
  return first;
}

}  // namespace

Queue::~Queue() {
  // A driver whose device hangs may not come back from that.
  if (!context_.lost()) context_.cl().clReleaseCommandQueue(handle_);
}

const char* Queue::name() const {
  if (&context_.transfer_queue() == this) return "queue 'transfer'";
  return in_order_ ? "queue 'in order'" : "queue 'out of order'";
}

void Queue::end_as_one(Batch& batch) {
  sdk::Outcome outcome;
  sdk::Times times;
  if (cl_event handle = batch.done->handle())
    outcome = wait_for(batch.commands.data(), batch.commands.size(),
                       batch.first ? batch.first : handle, handle, times);
  if (outcome && give_again(batch, outcome)) {
    outcome = nullptr;
    if (cl_event handle = batch.done->handle())
      outcome = wait_for(batch.commands.data(), batch.commands.size(),
                         batch.first ? batch.first : handle, handle, times);
  }
  if (batch.first && !context_.lost()) context_.cl().clReleaseEvent(batch.first);
  if (!outcome)
    for (const sdk::Outcome& refused : batch.refusals)
      if (!outcome) outcome = refused;
  // It may have run after a wait that has failed.
  std::vector<sdk::Event*> waits;
  for (const auto& wait : batch.waits()) waits.push_back(wait.get());
  if (sdk::Outcome cause = first_failure(waits)) outcome = std::move(cause);
  if (!batch.done->handle() && !outcome) outcome = context_.lost();
  for (Command& command : batch.commands) command.release();
  if (outcome) times = {};
  batch.done->signal(std::move(outcome), times.begin_ns, times.end_ns);
}

void Queue::end(Batch& batch) {
  if (batch.each.empty()) return end_as_one(batch);
  for (size_t n = 0; n < batch.commands.size(); ++n) {
    auto& event = static_cast<CommandEvent&>(*batch.each[n]);
    Command& command = batch.commands[n];
    sdk::Outcome outcome = batch.refusals.empty() ? nullptr : batch.refusals[n];
    sdk::Times times;
    if (cl_event handle = event.handle()) outcome = wait_for(&command, 1, handle, handle, times);
    if (n == 0 && outcome && event.handle() && give_again(batch, outcome)) {
      outcome = batch.refusals[0];
      if (event.handle()) outcome = wait_for(&command, 1, event.handle(), event.handle(), times);
    }
    // Whoever failed because of a wait tells of that. A queue in order may have run it all the
    // same.
    if (!event.handle() || outcome || in_order_) {
      if (sdk::Outcome cause = first_failure(batch.waits_of(n))) outcome = std::move(cause);
      if (!event.handle() && !outcome) outcome = context_.lost();
    }
    command.release();
    if (outcome) times = {};
    event.signal(std::move(outcome), times.begin_ns, times.end_ns);
  }
  if (batch.done.get() == batch.each[0].get()) return;
  sdk::Outcome outcome;
  for (const auto& event : batch.each)
    if (!outcome) outcome = event->outcome();
  const sdk::Times times = outcome ? sdk::Times{} : sdk::times_of(batch.each);
  batch.done->signal(std::move(outcome), times.begin_ns, times.end_ns);
}

bool Queue::has_not_run(const Batch& batch) const {
  std::vector<cl_event> events;
  for (const auto& event : batch.each)
    events.push_back(static_cast<const CommandEvent&>(*event).handle());
  if (batch.each.empty()) events = {batch.first, batch.done->handle()};
  return std::all_of(events.begin(), events.end(), [this](cl_event event) {
    cl_int status = CL_QUEUED;
    return event &&
           context_.cl().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                        &status, nullptr) == CL_SUCCESS &&
           status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  });
}

bool Queue::give_again(Batch& batch, const sdk::Outcome& failure) {
  if (failure->native_code != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) return false;
  std::vector<sdk::Event*> waits;
  for (const auto& wait : batch.waits()) waits.push_back(wait.get());
  if (context_.lost() || first_failure(waits)) return false;
  const std::lock_guard<std::mutex> lock(giving());
  if (context_.cl().clFinish(handle_) != CL_SUCCESS || !has_not_run(batch)) return false;
  std::vector<Batch*> all = {&batch};
  if (in_order_)
    for (sdk::Submission* submission : later()) {
      auto* const next = static_cast<Batch*>(submission);
      if (next->refusals.empty()) continue;  // the driver has never had it
      if (!has_not_run(*next)) return false;
      all.push_back(next);
    }
  for (Batch* each : all) {
    each->give();
    each->publish();
  }
  return true;
}

cl_int Queue::status_after_wait(cl_event event, size_t count) {
  const OpenCl& cl = context_.cl();
  cl_int status = CL_QUEUED;
  auto look = [&] {
    if (cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                          nullptr) != CL_SUCCESS)
      status = CL_QUEUED;
    return status <= CL_COMPLETE;
  };
  if (context_.lost()) return CL_QUEUED;
  const auto limit = limit_of(count);
  if (limit.count() == 0) {
    // Of a failed command it says that it failed. Where it could not wait, finishing may do.
    if (cl.clWaitForEvents(1, &event) != CL_SUCCESS && !look()) cl.clFinish(handle_);
    look();
    return status;
  }
  // The driver knows no wait with a limit. Short work is looked at again and again, long work less
  // often, by a tenth of what it has taken.
  const auto begin = std::chrono::steady_clock::now();
  while (!look() && !context_.lost()) {
    const auto taken = std::chrono::steady_clock::now() - begin;
    // In milliseconds: the limit of many commands may be too long for a number of nanoseconds.
    if (std::chrono::duration_cast<std::chrono::milliseconds>(taken) >= limit) break;
    std::this_thread::sleep_for(
        std::min<std::chrono::nanoseconds>(taken / 10, context_.hang_limit() / 10));
  }
  return status;
}

sdk::Outcome Queue::wait_for(Command* commands, size_t count, cl_event first, cl_event event,
                             sdk::Times& times) {
  const Command& command = commands[count - 1];
  const OpenCl& cl = context_.cl();
  const cl_int status = status_after_wait(event, count);
  if (status == CL_COMPLETE) {
    cl_ulong begin = 0, end = 0;
    const bool known = cl.clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof begin,
                                                  &begin, nullptr) == CL_SUCCESS &&
                       cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                                  nullptr) == CL_SUCCESS;
    if (known && end >= begin) times = {begin, end};
    return nullptr;
  }
  if (status < 0) {
    auto failure = std::make_shared<sdk::Failure>(
        failure_of(status, command.describe() + " in " + name(), context_.name()));
    // A failed wait is no failure of the device.
    if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) return failure;
    // A device that is well finishes the rest.
    const cl_int code = cl.clFinish(handle_);
    if (code == CL_SUCCESS) return failure;
    context_.lose(failure->message + ", then clFinish: " + name_of_code(code));
  } else if (!context_.lost()) {
    const auto limit = limit_of(count);
    context_.lose(command.describe() + " in " + name() +
                  (count > 1 ? ", the last of " + std::to_string(count) + " commands," : "") +
                  " has not ended" +
                  (limit.count() > 0 ? " after " + std::to_string(limit.count()) + " ms"
                                     : " where the driver says that waiting is over"));
  }
  // What the commands hold, the device may still use.
  for (size_t n = 0; n < count; ++n) keep_for_ever(std::move(commands[n]));
  return context_.lost();
}

}  // namespace stria::opencl
