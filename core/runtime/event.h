// SPDX-License-Identifier: Apache-2.0
// Something that a device will have done, or failed at, once: every asynchronous function returns
// one.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"

namespace stria {

inline constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

// One kernel of a run.
struct KernelTime {
  std::string name;
  uint64_t nanoseconds = 0;  // from start to end of the kernel itself; 0: not known
  std::string interpreted;   // why the host interprets it; empty: the plugin's own code runs
};

// A handle; safe from any thread. Dropping it neither waits for the work nor stops it. A failure
// travels, unchanged, to all work that waits for it.
class STRIA_API Event {
 public:
  Event() = default;  // no event: counts as done and well wherever events are waited for
  bool valid() const { return state_ != nullptr; }

  // Waits until the work is done and gives its outcome; for a run, which kernel of which program
  // failed, if CompileOptions::watch_kernels was on. deadline_exceeded if it is still open after
  // `timeout_ns` nanoseconds.
  Status wait(uint64_t timeout_ns = kForever) const;
  bool is_done() const;
  // The outcome; failed_precondition while the work is open.
  Status status() const;
  // Calls `callback` once with ok or the cause of a failure: at once if the work is done, else
  // later, from any thread. The callback must not wait for events and must not throw. Further
  // callbacks that are due on its thread wait until it has returned.
  Status on_done(std::function<void(const Status&)> callback) const;

  // Nanoseconds from start to end of the work itself; 0 if the device does not know it, or not of
  // all kernels of a run. failed_precondition while it is open.
  Result<uint64_t> duration_ns() const;
  // The times of a run's kernels, in launch order; empty for other work, and unless
  // CompileOptions::watch_kernels was on. failed_precondition while it is open.
  Result<std::vector<KernelTime>> kernel_times() const;

  // Ends an event of Device::create_event: well, or with `outcome`. failed_precondition if it has
  // ended or is not one of those.
  Status signal(const Status& outcome = Status()) const;

 private:
  friend struct Inside;
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stria
