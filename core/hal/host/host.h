// SPDX-License-Identifier: Apache-2.0
// What all plugins of a process share: worker threads, and the parts of the services (services.h)
// that this room cannot know (interpreting Stripe, a cache, where log lines go), which are
// functions that the owner brings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/log_level.h"
#include "stria/base/status.h"
#include "stria/hal/boundary/info.h"
#include "stria/plugin.h"

namespace stria::hal {

// A kernel readied by the interpreter. `run` may be called from several threads at once; arguments
// follow KernelInfo::arguments, each at element 0 of its tensor.
class InterpretedKernel {
 public:
  virtual ~InterpretedKernel() = default;
  virtual Status run(std::span<const stria_memory> arguments) const = 0;
};

// Device Stripe as the interpreter runs it: one kernel per statement of prologue and main.
class InterpretedProgram {
 public:
  virtual ~InterpretedProgram() = default;
  virtual const std::vector<KernelInfo>& kernels() const = 0;
  // The kernel may outlive the program. Thread-safe.
  virtual Result<std::unique_ptr<InterpretedKernel>> prepare(size_t index) const = 0;
};

using stria::LogLevel;

// Each may be empty: then the service answers unimplemented (log: drops the line; cache: never
// hits). All are called from any thread.
struct HostFunctions {
  std::function<void(LogLevel, std::string_view)> log;
  std::function<Result<std::unique_ptr<InterpretedProgram>>(std::string_view stripe)> interpret;
  std::function<Result<std::optional<std::string>>(std::string_view key)> cache_get;
  std::function<Status(std::string_view key, std::string_view value)> cache_put;
  // Where the memory comes from that plugins take; both or none: from the C library. What fails is
  // null.
  std::function<void*(uint64_t bytes, uint64_t alignment)> allocate;
  std::function<void(void* memory)> free;
  // Asked for each task that a plugin posts; true: whoever was asked runs task(state) soon, on any
  // thread. Else, or if empty, a worker thread does.
  std::function<bool(void (*task)(void* state), void* state)> take_task;
  // Told of a call into a plugin that takes longer than the wait limit: its id, the slot, and how
  // long it has been in it. The call goes on; nobody can end it but by ending the process. On a
  // thread of its own; must not drop the host's last reference.
  std::function<void(std::string_view plugin, std::string_view slot, double seconds)> on_hang;
};

class ThreadPool;
class Watchdog;

// Cores this process may use: its affinity mask, limited by its control group's quota. At least 1.
unsigned usable_cores();

class Host {
 public:
  // `threads` 0: $STRIA_THREADS, else usable_cores(); a variable that is no number of threads is
  // said in the log and ignored. No wait for an event or for all work of an executor takes longer
  // than `wait_limit_ns`, however long its caller would wait; functions.on_hang is told of each
  // call that does.
  explicit Host(HostFunctions functions, unsigned threads = 0, uint64_t wait_limit_ns = UINT64_MAX);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const HostFunctions& functions() const { return functions_; }
  ThreadPool& pool() const { return *pool_; }
  uint64_t wait_limit_ns() const { return wait_limit_ns_; }
  // Null without a wait limit, and without somebody to tell.
  const Watchdog* watchdog() const { return watchdog_.get(); }
  // Threads that parallel_for uses at most.
  unsigned concurrency() const;
  // Waits until no posted task is queued or running.
  void quiesce() const;

 private:
  const HostFunctions functions_;
  std::unique_ptr<ThreadPool> pool_;
  const uint64_t wait_limit_ns_;
  std::unique_ptr<Watchdog> watchdog_;
};

}  // namespace stria::hal
