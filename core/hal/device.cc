// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/device.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "stria/hal/boundary/small_array.h"
#include "stria/hal/device_state.h"
#include "stria/hal/guard/timed_call.h"

namespace stria::hal {
namespace {

// Owns one handle of a noun and gives it back.
template <Noun kNoun, typename Handle>
struct Owned {
  std::shared_ptr<DeviceState> device;
  Handle* handle;
  void (*release)(Handle*);
  const char* slot;

  Owned(std::shared_ptr<DeviceState> owner, Handle* object, void (*function)(Handle*),
        const char* name)
      : device(std::move(owner)), handle(object), release(function), slot(name) {
    device->plugin->count(kNoun);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { device->plugin->release(kNoun, slot, release, handle); }
};

Status no_object(const char* noun) {
  return make_error(StatusCode::failed_precondition, "there is no {} to use", noun);
}

// The C form of launches' arguments, in a row.
class ArgumentArray {
 public:
  explicit ArgumentArray(size_t count) : values_(count), pointers_(count) {}
  ArgumentArray(const ArgumentArray&) = delete;
  // Those of the next launch.
  const stria_argument* const* add(std::span<const Argument> arguments) {
    const size_t first = count_;
    for (const Argument& argument : arguments) {
      values_[count_] = {sizeof(stria_argument), nullptr, argument.buffer.handle(),
                         argument.offset};
      pointers_[count_] = &values_[count_];
      ++count_;
    }
    return pointers_.data() + first;
  }

 private:
  SmallArray<stria_argument> values_;
  SmallArray<const stria_argument*> pointers_;
  size_t count_ = 0;
};

}  // namespace

struct Kernel::State : Owned<Noun::kernel, stria_kernel> {
  using Owned::Owned;
  KernelInfo info;
};
struct Library::State : Owned<Noun::library, stria_library> {
  using Owned::Owned;
  mutable std::mutex mutex;
  mutable std::optional<std::vector<KernelInfo>> kernels;  // once the build is done
};
struct Compiler::State : Owned<Noun::compiler, stria_compiler> {
  using Owned::Owned;
};
struct Executor::State : Owned<Noun::executor, stria_executor> {
  using Owned::Owned;
};

// ---- Kernel

const KernelInfo& Kernel::info() const {
  STRIA_CHECK(state_, "info of a kernel that was not prepared");
  return state_->info;
}

stria_kernel* Kernel::handle() const { return state_ ? state_->handle : nullptr; }

Status Kernel::check(std::span<const Argument> arguments) const {
  if (!state_) return no_object("kernel");
  const KernelInfo& info = state_->info;
  if (arguments.size() != info.arguments.size())
    return invalid_argument("kernel '{}' takes {} arguments, not {}", info.name,
                            info.arguments.size(), arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    const ArgumentInfo& wanted = info.arguments[i];
    uint64_t size = argument.buffer.size();
    if (!argument.buffer.valid())
      return invalid_argument("argument '{}' of kernel '{}' has no buffer", wanted.name, info.name);
    if (argument.offset > size || wanted.bytes > size - argument.offset)
      return invalid_argument(
          "argument '{}' of kernel '{}' needs {} bytes from offset {} of a buffer of {} bytes",
          wanted.name, info.name, wanted.bytes, argument.offset, size);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentInfo& output = info.arguments[i];
    if (output.direction == Direction::in) break;  // outputs come first
    uint64_t begin = arguments[i].offset, end = begin + output.bytes;
    for (size_t j = 0; j < arguments.size(); ++j) {
      const ArgumentInfo& other = info.arguments[j];
      if (j == i || !(arguments[i].buffer == arguments[j].buffer)) continue;
      if (begin >= arguments[j].offset + other.bytes || arguments[j].offset >= end) continue;
      bool allowed = false;
      for (uint32_t position : output.may_overlap) allowed = allowed || position == j;
      if (!allowed && output.bytes > 0 && other.bytes > 0)
        return invalid_argument("output '{}' of kernel '{}' overlaps argument '{}' in memory",
                                output.name, info.name, other.name);
    }
  }
  return Status();
}

Result<Event> Kernel::run(std::span<const Argument> arguments, Waits waits) const {
  STRIA_RETURN_IF_ERROR(check(arguments));
  STRIA_ASSIGN(WaitList list, WaitList::make(state_->device, waits));
  ArgumentArray array(arguments.size());
  stria_event* done = nullptr;
  const PluginState& plugin = *state_->device->plugin;
  STRIA_RETURN_IF_ERROR(plugin.call("kernel.run", plugin.tables.kernel.run, state_->handle,
                                    array.add(arguments), uint64_t{arguments.size()}, list.data(),
                                    list.size(), &done));
  if (!done) return plugin.gave_nothing("kernel.run");
  return Event(state_->device, done, "kernel.run");
}

// ---- Library

Result<const std::vector<KernelInfo>*> Library::kept_kernels() const {
  if (!state_) return no_object("library");
  std::lock_guard lock(state_->mutex);
  if (!state_->kernels) {
    const PluginState& plugin = *state_->device->plugin;
    STRIA_ASSIGN(
        state_->kernels,
        plugin.received<KernelInfo>("library.kernels", plugin.tables.library.kernels,
                                    Received<KernelInfo>::sink<stria_kernel_info>, state_->handle));
  }
  return &*state_->kernels;
}

Result<std::vector<KernelInfo>> Library::kernels() const {
  STRIA_ASSIGN(const std::vector<KernelInfo>* kernels, kept_kernels());
  return *kernels;
}

Result<std::vector<NamedText>> Library::source() const {
  if (!state_) return no_object("library");
  const PluginState& plugin = *state_->device->plugin;
  return plugin.received<NamedText>("library.source", plugin.tables.library.source,
                                    Received<NamedText>::text_sink, state_->handle);
}

// ---- Compiler

Result<Build> Compiler::build(std::string_view stripe, std::string_view options,
                              Waits waits) const {
  if (!state_) return no_object("compiler");
  const PluginState& plugin = *state_->device->plugin;
  STRIA_RETURN_IF_ERROR(plugin.usable());
  STRIA_ASSIGN(WaitList list, WaitList::make(state_->device, waits));
  stria_build_params params{};
  params.size = sizeof params;
  params.stripe = to_c(stripe);
  params.options = to_c(options);
  stria_library* library = nullptr;
  stria_event* done = nullptr;
  STRIA_RETURN_IF_ERROR(plugin.call("compiler.build", plugin.tables.compiler.build, state_->handle,
                                    static_cast<const stria_build_params*>(&params), list.data(),
                                    list.size(), &library, &done));
  Build build;
  if (library)
    build.library.state_ = std::make_shared<const Library::State>(
        state_->device, library, plugin.tables.library.release, "library.release");
  if (done) build.done = Event(state_->device, done, "compiler.build");
  if (!library || !done) return plugin.gave_nothing("compiler.build");
  return build;
}

Result<std::string> Compiler::transform(std::string_view stripe, std::string_view pass,
                                        std::string_view options,
                                        std::vector<NamedText>* notes) const {
  if (!state_) return no_object("compiler");
  const PluginState& plugin = *state_->device->plugin;
  STRIA_ASSIGN(std::vector<NamedText> texts,
               plugin.received<NamedText>("compiler.transform", plugin.tables.compiler.transform,
                                          Received<NamedText>::text_sink, state_->handle,
                                          to_c(stripe), to_c(pass), to_c(options)));
  std::optional<std::string> changed;
  for (NamedText& text : texts) {
    if (text.name == "stripe")
      changed = std::move(text.text);
    else if (notes)
      notes->push_back(std::move(text));
  }
  if (!changed) return plugin.gave_nothing("compiler.transform");
  return std::move(*changed);
}

// ---- Executor

Result<Kernel> Executor::prepare(const Library& library, size_t index) const {
  if (!state_) return no_object("executor");
  if (!library.state_) return no_object("library");
  if (library.state_->device != state_->device)
    return invalid_argument("the library was built for another device than the executor's");
  // Programs have thousands of kernels: a copy of all for each would be slow.
  STRIA_ASSIGN(const std::vector<KernelInfo>* kernels, library.kept_kernels());
  if (index >= kernels->size())
    return make_error(StatusCode::out_of_range, "kernel {} of a library of {}", index,
                      kernels->size());
  const PluginState& plugin = *state_->device->plugin;
  stria_kernel* handle = nullptr;
  STRIA_RETURN_IF_ERROR(plugin.call("executor.prepare", plugin.tables.executor.prepare,
                                    state_->handle, library.state_->handle, uint64_t{index},
                                    &handle));
  if (!handle) return plugin.gave_nothing("executor.prepare");
  auto state = std::make_shared<Kernel::State>(state_->device, handle, plugin.tables.kernel.release,
                                               "kernel.release");
  state->info = (*kernels)[index];
  Kernel kernel;
  kernel.state_ = std::move(state);
  return kernel;
}

Result<Event> Executor::submit(std::span<const Launch> launches, Waits waits,
                               std::vector<Event>* each) const {
  if (!state_) return no_object("executor");
  const PluginState& plugin = *state_->device->plugin;
  size_t argument_count = 0;
  for (const Launch& launch : launches) argument_count += launch.arguments.size();
  ArgumentArray arguments(argument_count);
  SmallArray<stria_launch> values(launches.size());
  SmallArray<const stria_launch*> pointers(launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    const Launch& launch = launches[i];
    STRIA_RETURN_IF_ERROR(launch.kernel.check(launch.arguments));
    for (uint32_t earlier : launch.after)
      if (earlier >= i)
        return invalid_argument("launch {} of a batch waits for launch {}, which is not earlier", i,
                                earlier);
    values[i] = {sizeof(stria_launch),    nullptr,
                 launch.kernel.handle(),  arguments.add(launch.arguments),
                 launch.arguments.size(), launch.after.data(),
                 launch.after.size()};
    pointers[i] = &values[i];
  }
  STRIA_ASSIGN(WaitList list, WaitList::make(state_->device, waits));
  std::vector<stria_event*> handles(each ? launches.size() : 0);
  stria_event* done = nullptr;
  const stria_launch* const* batch = pointers.data();
  STRIA_RETURN_IF_ERROR(plugin.call("executor.submit", plugin.tables.executor.submit,
                                    state_->handle, batch, uint64_t{launches.size()}, list.data(),
                                    list.size(), each ? handles.data() : nullptr, &done));
  // All are owned before anything is said against one of them: none is leaked.
  auto owned = [&](stria_event* handle) {
    return handle ? Event(state_->device, handle, "executor.submit") : Event();
  };
  bool complete = done != nullptr;
  Event all = owned(done);
  if (each) {
    each->clear();
    for (stria_event* handle : handles) {
      complete = complete && handle;
      each->push_back(owned(handle));
    }
  }
  if (!complete) return plugin.gave_nothing("executor.submit");
  return all;
}

namespace {

Status check_range(const Buffer& buffer, uint64_t offset, uint64_t bytes) {
  if (!buffer.valid()) return no_object("buffer");
  if (offset > buffer.size() || bytes > buffer.size() - offset)
    return make_error(StatusCode::out_of_range, "{} bytes from offset {} of a buffer of {} bytes",
                      bytes, offset, buffer.size());
  return Status();
}

}  // namespace

Result<Event> Executor::copy(const Buffer& source, uint64_t source_offset, const Buffer& target,
                             uint64_t target_offset, uint64_t bytes, Waits waits) const {
  if (!state_) return no_object("executor");
  STRIA_RETURN_IF_ERROR(check_range(source, source_offset, bytes));
  STRIA_RETURN_IF_ERROR(check_range(target, target_offset, bytes));
  if (source == target && bytes > 0 && source_offset < target_offset + bytes &&
      target_offset < source_offset + bytes)
    return invalid_argument("a copy of {} bytes from offset {} to {} of one buffer overlaps itself",
                            bytes, source_offset, target_offset);
  const PluginState& plugin = *state_->device->plugin;
  STRIA_ASSIGN(WaitList list, WaitList::make(state_->device, waits));
  stria_event* done = nullptr;
  STRIA_RETURN_IF_ERROR(plugin.call("executor.copy", plugin.tables.executor.copy, state_->handle,
                                    source.handle(), source_offset, target.handle(), target_offset,
                                    bytes, list.data(), list.size(), &done));
  if (!done) return plugin.gave_nothing("executor.copy");
  return Event(state_->device, done, "executor.copy");
}

Result<Event> Executor::fill(const Buffer& target, uint64_t offset, uint64_t bytes,
                             std::span<const std::byte> pattern, Waits waits) const {
  if (!state_) return no_object("executor");
  STRIA_RETURN_IF_ERROR(check_range(target, offset, bytes));
  size_t size = pattern.size();
  if (size == 0 || size > 16 || (size & (size - 1)) != 0)
    return invalid_argument("a fill pattern has 1, 2, 4, 8 or 16 bytes, not {}", size);
  if (bytes % size != 0)
    return invalid_argument("{} bytes are no multiple of the fill pattern's {}", bytes, size);
  const PluginState& plugin = *state_->device->plugin;
  STRIA_ASSIGN(WaitList list, WaitList::make(state_->device, waits));
  stria_event* done = nullptr;
  STRIA_RETURN_IF_ERROR(plugin.call(
      "executor.fill", plugin.tables.executor.fill, state_->handle, target.handle(), offset, bytes,
      static_cast<const void*>(pattern.data()), uint64_t{size}, list.data(), list.size(), &done));
  if (!done) return plugin.gave_nothing("executor.fill");
  return Event(state_->device, done, "executor.fill");
}

std::shared_ptr<DeviceState> Executor::device() const { return state_ ? state_->device : nullptr; }
stria_executor* Executor::handle() const { return state_ ? state_->handle : nullptr; }

Status Executor::flush() const {
  if (!state_) return no_object("executor");
  const PluginState& plugin = *state_->device->plugin;
  return plugin.call("executor.flush", plugin.tables.executor.flush, state_->handle);
}

Status Executor::drain(uint64_t timeout_ns) const {
  if (!state_) return no_object("executor");
  const PluginState& plugin = *state_->device->plugin;
  Status waited = plugin.call("executor.drain", plugin.tables.executor.drain, state_->handle,
                              std::min(timeout_ns, plugin.services->host().wait_limit_ns()));
  return plugin.after_wait("the work of an executor", timeout_ns, std::move(waited));
}

// ---- Device

const DeviceInfo& Device::info() const {
  STRIA_CHECK(state_, "info of a device that was not opened");
  return state_->info;
}

const std::string& Device::plugin_id() const {
  STRIA_CHECK(state_, "plugin of a device that was not opened");
  return state_->plugin->manifest.id;
}

Result<Compiler> Device::create_compiler() const {
  if (!state_) return no_object("device");
  auto compiler = std::make_shared<Compiler>();
  TimedCall call([device = state_, compiler]() -> Status {
    const PluginState& plugin = *device->plugin;
    stria_compiler* handle = nullptr;
    STRIA_RETURN_IF_ERROR(plugin.call(
        "device.create_compiler", plugin.tables.device.create_compiler, device->handle, &handle));
    if (!handle) return plugin.gave_nothing("device.create_compiler");
    compiler->state_ = std::make_shared<const Compiler::State>(
        device, handle, plugin.tables.compiler.release, "compiler.release");
    return Status();
  });
  const PluginState& plugin = *state_->plugin;
  STRIA_RETURN_IF_ERROR(call.outcome(
      plugin.time_limit, fmt::format("plugin {}: device.create_compiler", plugin.manifest.id)));
  return std::move(*compiler);
}

Result<Executor> Device::create_executor(std::string_view options) const {
  if (!state_) return no_object("device");
  const PluginState& plugin = *state_->plugin;
  stria_executor* handle = nullptr;
  STRIA_RETURN_IF_ERROR(plugin.call("device.create_executor", plugin.tables.device.create_executor,
                                    state_->handle, to_c(options), &handle));
  if (!handle) return plugin.gave_nothing("device.create_executor");
  Executor executor;
  executor.state_ = std::shared_ptr<const Executor::State>(
      new Executor::State(state_, handle, plugin.tables.executor.release, "executor.release"),
      DeleteOutsideCallbacks());
  return executor;
}

Result<Buffer> Device::allocate(uint64_t bytes, std::string_view memory,
                                std::shared_ptr<const void> companion) const {
  if (!state_) return no_object("device");
  const PluginState& plugin = *state_->plugin;
  stria_buffer_params params{};
  params.size = sizeof params;
  params.bytes = bytes;
  params.memory = to_c(memory);
  stria_buffer* handle = nullptr;
  STRIA_RETURN_IF_ERROR(plugin.call("device.allocate", plugin.tables.device.allocate,
                                    state_->handle,
                                    static_cast<const stria_buffer_params*>(&params), &handle));
  if (!handle) return plugin.gave_nothing("device.allocate");
  return Buffer(state_, handle, bytes, std::move(companion));
}

Result<Event> Device::create_event(const char* slot) const {
  if (!state_) return no_object("device");
  return hal::create_event(state_, slot);
}

}  // namespace stria::hal
