// SPDX-License-Identifier: Apache-2.0
// The host's side of the services table: what plugins may ask of us. The parts that this room
// cannot know (interpreting Stripe, a cache, where log lines go) are functions that the owner
// brings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/info.h"
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

enum class LogLevel : int32_t { debug = 0, info = 1, warning = 2, error = 3 };

// Each may be empty: then the service answers unimplemented (log: drops the line; cache: never
// hits). All are called from any thread.
struct HostFunctions {
  std::function<void(LogLevel, std::string_view)> log;
  std::function<Result<std::unique_ptr<InterpretedProgram>>(std::string_view stripe)> interpret;
  std::function<Result<std::optional<std::string>>(std::string_view key)> cache_get;
  std::function<Status(std::string_view key, std::string_view value)> cache_put;
};

// Cores this process may use: its affinity mask, limited by its control group's quota. At least 1.
unsigned usable_cores();

class Host {
 public:
  // `threads` 0: usable_cores().
  explicit Host(HostFunctions functions, unsigned threads = 0);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Valid as long as this object.
  const stria_host_services& services() const;
  const HostFunctions& functions() const;
  // Threads that parallel_for uses at most.
  unsigned concurrency() const;
  // Waits until no posted task is queued or running.
  void quiesce() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stria::hal
