// SPDX-License-Identifier: Apache-2.0
// An open device and what it makes: compilers, libraries, executors, kernels. All are copyable
// handles onto plugin objects; each keeps its device open, and the device keeps its plugin.
// Functions may be called from any thread. Every failure's message names the plugin and the slot it
// came from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/buffer.h"
#include "stria/hal/event.h"

namespace stria::hal {

// One argument of a launch: element 0 of the tensor lies `offset` bytes into the buffer.
struct Argument {
  Buffer buffer;
  uint64_t offset = 0;
};

class Kernel {
 public:
  Kernel() = default;
  const KernelInfo& info() const;
  // Starts the kernel after `waits` and returns at once. invalid_argument for a wrong number of
  // arguments, a range beyond a buffer, or an output that overlaps another argument unless the
  // library allows that pair.
  Result<Event> run(std::span<const Argument> arguments, Waits waits = {}) const;
  // The checks of `run` alone.
  Status check(std::span<const Argument> arguments) const;
  stria_kernel* handle() const;

 private:
  friend class Executor;
  struct State;
  std::shared_ptr<const State> state_;
};

// One launch of a batch.
struct Launch {
  Kernel kernel;
  std::vector<Argument> arguments;
  std::vector<uint32_t> after;  // positions of earlier launches of the batch that it waits for
};

class Library {
 public:
  Library() = default;
  // In launch order. failed_precondition before the build is done.
  Result<std::vector<KernelInfo>> kernels() const;
  // What was generated, for people.
  Result<std::vector<NamedText>> source() const;

 private:
  friend class Compiler;
  friend class Executor;
  struct State;
  // Lives as long as the library.
  Result<const std::vector<KernelInfo>*> kept_kernels() const;
  std::shared_ptr<const State> state_;
};

// A library and the event that says when it may be used.
struct Build {
  Library library;
  Event done;
};

class Compiler {
 public:
  Compiler() = default;
  // Returns at once. `options` is a JSON object.
  Result<Build> build(std::string_view stripe, std::string_view options = "{}",
                      Waits waits = {}) const;
  // The plugin's own pass `pass`: Stripe in, Stripe out. Further texts it gives go to `notes`.
  Result<std::string> transform(std::string_view stripe, std::string_view pass,
                                std::string_view options,
                                std::vector<NamedText>* notes = nullptr) const;

 private:
  friend class Device;
  struct State;
  std::shared_ptr<const State> state_;
};

class Executor {
 public:
  Executor() = default;
  // Readies one kernel of a library of the same device, whose build is done.
  Result<Kernel> prepare(const Library& library, size_t index) const;
  // A batch; the event is that of all of it. `each` gets one event per launch.
  Result<Event> submit(std::span<const Launch> launches, Waits waits = {},
                       std::vector<Event>* each = nullptr) const;
  Result<Event> copy(const Buffer& source, uint64_t source_offset, const Buffer& target,
                     uint64_t target_offset, uint64_t bytes, Waits waits = {}) const;
  // Repeats `pattern` (1, 2, 4, 8 or 16 bytes) over `bytes`, a multiple of its size.
  Result<Event> fill(const Buffer& target, uint64_t offset, uint64_t bytes,
                     std::span<const std::byte> pattern, Waits waits = {}) const;
  Status flush() const;
  // Until all work submitted so far is done; deadline_exceeded after `timeout_ns`.
  Status drain(uint64_t timeout_ns = kForever) const;

  // Null without an executor.
  std::shared_ptr<DeviceState> device() const;
  stria_executor* handle() const;

 private:
  friend class Device;
  struct State;
  std::shared_ptr<const State> state_;
};

class Device {
 public:
  Device() = default;
  bool valid() const { return state_ != nullptr; }
  // As the opened device says it.
  const DeviceInfo& info() const;
  const std::string& plugin_id() const;
  // deadline_exceeded as for Plugin::open.
  Result<Compiler> create_compiler() const;
  // `options` is a JSON object.
  Result<Executor> create_executor(std::string_view options = "{}") const;
  // Undefined contents; out_of_memory says how much was asked for. `memory` names a memory unit of
  // the hardware model, empty for the main one. `companion` lives as long as handles of the buffer
  // do.
  Result<Buffer> allocate(uint64_t bytes, std::string_view memory = "",
                          std::shared_ptr<const void> companion = nullptr) const;
  // An event that the host signals. `slot`, a literal: the call at whose end that comes, for
  // messages; null: the application signals it.
  Result<Event> create_event(const char* slot = nullptr) const;

  explicit Device(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}
  const std::shared_ptr<DeviceState>& state() const { return state_; }

 private:
  friend class Plugin;
  std::shared_ptr<DeviceState> state_;
};

}  // namespace stria::hal
