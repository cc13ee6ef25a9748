// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/timed_call.h"

#include <system_error>
#include <utility>

#include "stria/hal/boundary/error.h"
#include "stria/hal/guard/signal_stack.h"
#include "stria/hal/guard/watchdog.h"

namespace stria::hal {

TimedCall::TimedCall(std::function<Status()> work) : start_(Clock::now()) {
  std::packaged_task<Status()> task([work = std::move(work)] {
    const SignalStack stack;
    const Watchdog::Pause has_its_own_limit;
    return work();
  });
  result_ = task.get_future();
  try {
    thread_ = std::thread(std::move(task));
  } catch (const std::system_error& error) {
    std::promise<Status> failed;
    result_ = failed.get_future();
    failed.set_value(
        make_error(StatusCode::unavailable, "cannot start a thread: {}", error.what()));
  }
}

TimedCall::~TimedCall() {
  if (!thread_.joinable()) return;
  // A thread that has done its work is waited for: it may still be leaving the plugin's code.
  if (!result_.valid() || result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    thread_.join();
  else
    thread_.detach();
}

bool TimedCall::done_within(std::chrono::nanoseconds limit) {
  // A limit beyond the clock's range is none.
  const Clock::time_point now = Clock::now();
  if (limit > Clock::time_point::max() - now) {
    result_.wait();
    return true;
  }
  return result_.wait_until(start_ + limit) == std::future_status::ready;
}

Status TimedCall::outcome(std::chrono::nanoseconds limit, std::string_view what) {
  if (!done_within(limit))
    return make_error(StatusCode::deadline_exceeded,
                      "{} has not returned within the limit of {} ms", what,
                      std::chrono::duration_cast<std::chrono::milliseconds>(limit).count());
  Status status;
  try {
    status = result_.get();
  } catch (const std::future_error&) {  // its thread ended before the work did
    status = make_error(kPluginFault, "{}: it ended the thread that called it", what);
  }
  if (thread_.joinable()) thread_.join();
  return status;
}

}  // namespace stria::hal
