// SPDX-License-Identifier: Apache-2.0
// The whole of the C++ helper: derive from Driver (stria/sdk/device.h) and write, in one source
// file,
//
//   STRIA_PLUGIN(AcmeDriver, "acme", "1.0.0")
//
// This file makes the C tables from the classes: it catches what is thrown, stamps sizes and
// versions, and checks ranges, so that the classes need not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stria/plugin.h"
#include "stria/sdk/device.h"
#include "stria/sdk/error.h"
#include "stria/sdk/experimental.h"
#include "stria/sdk/handles.h"
#include "stria/sdk/sanitizer.h"

namespace stria::sdk {

// Tables of driver class D. All members are constants of static storage.
template <typename D>
struct Tables {
  // ---- driver
  static stria_error* create(const stria_driver_options* options, stria_driver** driver) {
    return slot([&] {
      const stria_driver_options given = whole(options);
      if (!given.services)
        throw Error(STRIA_INCOMPATIBLE, "the host offers no services to the plugin");
      auto handle = std::make_unique<DriverHandle>();
      handle->host = std::make_unique<Host>(*given.services);
      handle->driver =
          std::make_unique<D>(*handle->host, DriverOptions{std::string(view_of(given.directory)),
                                                           std::string(view_of(given.options))});
      *driver = reinterpret_cast<stria_driver*>(handle.release());
    });
  }
  static stria_error* enumerate(stria_driver* driver, stria_device_sink sink, void* state) {
    return slot([&] {
      for (const DeviceInfo& info : as<DriverHandle>(driver).driver->enumerate())
        send(info, sink, state);
    });
  }
  static stria_error* open(stria_driver* driver, stria_string id, stria_string options,
                           stria_device** device) {
    return slot([&] {
      Driver& self = *as<DriverHandle>(driver).driver;
      for (const DeviceInfo& info : self.enumerate()) {
        if (info.id != view_of(id)) continue;
        if (!info.available)
          throw Error(STRIA_UNAVAILABLE,
                      "device '" + info.id + "' is not available: " + info.reason);
        *device = give<stria_device>(self.open(info, view_of(options)));
        return;
      }
      throw Error(STRIA_NOT_FOUND, "no device with the id '" + std::string(view_of(id)) + "'");
    });
  }
  static void shutdown(stria_driver* driver) {
    auto* handle = &as<DriverHandle>(driver);
    handle->host->descriptor_waits().stop();
    // Work's last touch of what the driver owns comes a moment after its event is done.
    handle->host->tracker()->wait_for_none(UINT64_MAX);
    handle->driver.reset();
    delete handle;
  }

  // ---- device
  static stria_error* info(stria_device* device, stria_device_sink sink, void* state) {
    return slot([&] { send(as<Device>(device).info(), sink, state); });
  }
  static stria_error* create_compiler(stria_device* device, stria_compiler** compiler) {
    return slot([&] {
      // The compiler slot needs the host for its events: it travels in the handle.
      auto handle = make<CompilerHandle>();
      handle->device = Ref<Device>(&as<Device>(device));
      handle->compiler = handle->device->create_compiler();
      *compiler = give<stria_compiler>(std::move(handle));
    });
  }
  static stria_error* create_executor(stria_device* device, stria_string options,
                                      stria_executor** executor) {
    return slot([&] {
      *executor = give<stria_executor>(as<Device>(device).create_executor(view_of(options)));
    });
  }
  static stria_error* allocate(stria_device* device, const stria_buffer_params* params,
                               stria_buffer** buffer) {
    return slot([&] {
      const stria_buffer_params given = whole(params);
      *buffer = give<stria_buffer>(as<Device>(device).allocate(given.bytes, view_of(given.memory)));
    });
  }
  static stria_error* create_event(stria_device* device, stria_event** event) {
    return slot([&] { *event = give<stria_event>(make<HostEvent>(as<Device>(device).host())); });
  }

  // ---- compiler, library
  struct CompilerHandle : Object {
    Ref<Device> device;
    Ref<Compiler> compiler;
  };
  static stria_error* build(stria_compiler* compiler, const stria_build_params* params,
                            stria_event* const* waits, uint64_t wait_count, stria_library** library,
                            stria_event** done) {
    return slot([&] {
      auto& self = as<CompilerHandle>(compiler);
      const Host& host = self.device->host();
      const stria_build_params given = whole(params);
      auto handle = make<LibraryHandle>();
      auto event = schedule(host, host.tracker(), waits_of(waits, wait_count),
                            [handle, device = self.device, compiler = self.compiler,
                             stripe = std::string(view_of(given.stripe)),
                             options = std::string(view_of(given.options))] {
                              handle->library = compiler->compile(stripe, options);
                              if (!handle->library)
                                throw Error(STRIA_INTERNAL, "the compiler made no library");
                            });
      handle->done = event;
      *library = give<stria_library>(std::move(handle));
      *done = give<stria_event>(std::move(event));
    });
  }
  static stria_error* transform(stria_compiler* compiler, stria_string stripe, stria_string pass,
                                stria_string options, stria_text_sink sink, void* state) {
    return slot([&] {
      for (const NamedText& text : as<CompilerHandle>(compiler).compiler->transform(
               view_of(stripe), view_of(pass), view_of(options)))
        sink(state, to_c(text.name), to_c(text.text));
    });
  }
  static Library& built(stria_library* library) {
    auto& handle = as<LibraryHandle>(library);
    if (!handle.done->done())
      throw Error(STRIA_FAILED_PRECONDITION, "the library is still being built");
    if (handle.done->outcome()) throw Error(handle.done->outcome());
    return *handle.library;
  }
  static stria_error* kernels(stria_library* library, stria_kernel_sink sink, void* state) {
    return slot([&] {
      for (const KernelInfo& info : built(library).kernels()) send_kernel(info, sink, state);
    });
  }
  static stria_error* source(stria_library* library, stria_text_sink sink, void* state) {
    return slot([&] {
      for (const NamedText& text : built(library).source())
        sink(state, to_c(text.name), to_c(text.text));
    });
  }

  // ---- executor, kernel
  static stria_error* prepare(stria_executor* executor, stria_library* library, uint64_t index,
                              stria_kernel** kernel) {
    return slot([&] {
      Library& code = built(library);
      if (index >= code.kernels().size())
        throw Error(STRIA_INVALID_ARGUMENT, "kernel " + std::to_string(index) +
                                                " of a library with " +
                                                std::to_string(code.kernels().size()));
      auto handle = make<KernelHandle>();
      handle->executor = Ref<Executor>(&as<Executor>(executor));
      handle->kernel = code.prepare(index);
      handle->info = code.kernels()[index];
      *kernel = give<stria_kernel>(std::move(handle));
    });
  }
  static std::string name_of(const ArgumentInfo& argument, const KernelInfo& kernel) {
    return "argument '" + argument.name + "' of kernel '" + kernel.name + "'";
  }
  static std::vector<Argument> arguments_of(const KernelInfo& info,
                                            const stria_argument* const* arguments,
                                            uint64_t count) {
    if (count != info.arguments.size())
      throw Error(STRIA_INVALID_ARGUMENT, "kernel '" + info.name + "' takes " +
                                              std::to_string(info.arguments.size()) +
                                              " arguments, not " + std::to_string(count));
    std::vector<Argument> out(count);
    for (uint64_t i = 0; i < count; ++i) {
      const stria_argument given = whole(arguments[i]);
      auto* buffer = reinterpret_cast<Buffer*>(given.buffer);
      const ArgumentInfo& wanted = info.arguments[i];
      if (!buffer) throw Error(STRIA_INVALID_ARGUMENT, name_of(wanted, info) + " has no buffer");
      if (!has_range(*buffer, given.offset, wanted.bytes))
        check_range(*buffer, given.offset, wanted.bytes, name_of(wanted, info).c_str());
      out[i] = {Ref<Buffer>(buffer), given.offset};
    }
    return out;
  }
  static stria_error* submit(stria_executor* executor, const stria_launch* const* launches,
                             uint64_t launch_count, stria_event* const* waits, uint64_t wait_count,
                             stria_event** each, stria_event** done) {
    return slot([&] {
      auto& self = as<Executor>(executor);
      // All is checked before anything starts.
      std::vector<Launch> batch(launch_count);
      for (uint64_t n = 0; n < launch_count; ++n) {
        const stria_launch launch = whole(launches[n]);
        const auto& kernel = as<KernelHandle>(launch.kernel);
        if (kernel.executor.get() != &self)
          throw Error(STRIA_INVALID_ARGUMENT,
                      "kernel '" + kernel.info.name + "' was prepared by another executor");
        for (uint64_t a = 0; a < launch.after_count; ++a)
          if (launch.after[a] >= n)
            throw Error(STRIA_INVALID_ARGUMENT, "launch " + std::to_string(n) +
                                                    " waits for launch " +
                                                    std::to_string(launch.after[a]));
        batch[n] = {kernel.kernel,
                    arguments_of(kernel.info, launch.arguments, launch.argument_count),
                    launch.after, launch.after_count};
      }
      std::vector<Ref<Event>> events;
      Ref<Event> all =
          self.submit(std::move(batch), waits_of(waits, wait_count), each ? &events : nullptr);
      for (uint64_t n = 0; n < events.size(); ++n)
        each[n] = give<stria_event>(std::move(events[n]));
      *done = give<stria_event>(std::move(all));
    });
  }
  static stria_error* copy(stria_executor* executor, stria_buffer* source, uint64_t source_offset,
                           stria_buffer* target, uint64_t target_offset, uint64_t bytes,
                           stria_event* const* waits, uint64_t wait_count, stria_event** done) {
    return slot([&] {
      auto& from = as<Buffer>(source);
      auto& to = as<Buffer>(target);
      check_range(from, source_offset, bytes, "source of a copy");
      check_range(to, target_offset, bytes, "target of a copy");
      if (&from == &to && source_offset < target_offset + bytes &&
          target_offset < source_offset + bytes)
        throw Error(STRIA_INVALID_ARGUMENT, "source and target of a copy overlap");
      *done = give<stria_event>(as<Executor>(executor).copy({Ref<Buffer>(&from), source_offset},
                                                            {Ref<Buffer>(&to), target_offset},
                                                            bytes, waits_of(waits, wait_count)));
    });
  }
  static stria_error* fill(stria_executor* executor, stria_buffer* target, uint64_t offset,
                           uint64_t bytes, const void* pattern, uint64_t pattern_size,
                           stria_event* const* waits, uint64_t wait_count, stria_event** done) {
    return slot([&] {
      const bool power =
          pattern_size > 0 && pattern_size <= 16 && (pattern_size & (pattern_size - 1)) == 0;
      if (!power || bytes % pattern_size != 0)
        throw Error(STRIA_INVALID_ARGUMENT, "a fill of " + std::to_string(bytes) +
                                                " bytes with a pattern of " +
                                                std::to_string(pattern_size));
      auto& to = as<Buffer>(target);
      check_range(to, offset, bytes, "target of a fill");
      auto* first = static_cast<const std::byte*>(pattern);
      *done = give<stria_event>(as<Executor>(executor).fill(
          {Ref<Buffer>(&to), offset}, bytes, std::vector<std::byte>(first, first + pattern_size),
          waits_of(waits, wait_count)));
    });
  }
  static stria_error* flush(stria_executor* executor) {
    return slot([&] { as<Executor>(executor).flush(); });
  }
  static stria_error* drain(stria_executor* executor, uint64_t timeout_ns) {
    return slot([&] {
      if (!as<Executor>(executor).drain(timeout_ns))
        throw Error(STRIA_DEADLINE_EXCEEDED,
                    "work is still going on after " + std::to_string(timeout_ns) + " ns");
    });
  }
  static stria_error* run(stria_kernel* kernel, const stria_argument* const* arguments,
                          uint64_t argument_count, stria_event* const* waits, uint64_t wait_count,
                          stria_event** done) {
    return slot([&] {
      auto& self = as<KernelHandle>(kernel);
      *done = give<stria_event>(
          self.executor->launch(self.kernel, arguments_of(self.info, arguments, argument_count),
                                waits_of(waits, wait_count)));
    });
  }

  // ---- buffer
  static stria_error* map(stria_buffer* buffer, uint64_t offset, uint64_t bytes, MapMode mode,
                          stria_event* const* waits, uint64_t wait_count, void** memory,
                          stria_event** done) {
    return slot([&] {
      auto& self = as<Buffer>(buffer);
      check_range(self, offset, bytes, "mapping");
      Ref<Event> ready;
      *memory = self.map(offset, bytes, mode, waits_of(waits, wait_count), &ready);
      *done = give<stria_event>(std::move(ready));
    });
  }
  static stria_error* map_current(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                  stria_event* const* waits, uint64_t wait_count, void** memory,
                                  stria_event** done) {
    return map(buffer, offset, bytes, MapMode::current, waits, wait_count, memory, done);
  }
  static stria_error* map_discard(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                                  stria_event* const* waits, uint64_t wait_count, void** memory,
                                  stria_event** done) {
    return map(buffer, offset, bytes, MapMode::discard, waits, wait_count, memory, done);
  }
  static stria_error* map_read(stria_buffer* buffer, uint64_t offset, uint64_t bytes,
                               stria_event* const* waits, uint64_t wait_count, void** memory,
                               stria_event** done) {
    return map(buffer, offset, bytes, MapMode::read, waits, wait_count, memory, done);
  }
  static stria_error* unmap(stria_buffer* buffer, void* memory, stria_event** done) {
    return slot([&] { *done = give<stria_event>(as<Buffer>(buffer).unmap(memory)); });
  }

  // ---- event
  static stria_error* wait(stria_event* event, uint64_t timeout_ns) {
    return slot([&] {
      if (!as<Event>(event).wait(timeout_ns))
        throw Error(STRIA_DEADLINE_EXCEEDED,
                    "the event is still open after " + std::to_string(timeout_ns) + " ns");
    });
  }
  static stria_error* query(stria_event* event, uint8_t* done) {
    return slot([&] { *done = as<Event>(event).done(); });
  }
  static stria_error* status(stria_event* event) {
    return slot([&] {
      auto& self = as<Event>(event);
      if (!self.done()) throw Error(STRIA_FAILED_PRECONDITION, "the event is still open");
      if (self.outcome()) throw Error(self.outcome());
    });
  }
  static stria_error* duration_ns(stria_event* event, uint64_t* nanoseconds) {
    return slot([&] {
      auto& self = as<Event>(event);
      if (!self.done()) throw Error(STRIA_FAILED_PRECONDITION, "the event is still open");
      *nanoseconds = self.outcome() ? 0 : self.duration_ns();
    });
  }
  static stria_error* on_done(stria_event* event, void (*callback)(void*, const stria_error*),
                              void* state) {
    return slot([&] { as<Event>(event).on_done(callback, state); });
  }
  static stria_error* signal(stria_event* event, const stria_error* error) {
    return slot([&] {
      auto& self = as<Event>(event);
      if (self.is_work())
        throw Error(STRIA_FAILED_PRECONDITION, "only a host event can be signalled");
      if (!self.signal(outcome_of(error)))
        throw Error(STRIA_FAILED_PRECONDITION, "the event was signalled before");
    });
  }
  static stria_error* end(stria_event* event, stria_event** end) {
    return slot([&] { *end = give<stria_event>(as<Event>(event).make_end()); });
  }
  static void release_event(stria_event* event) {
    as<Event>(event).handle_released();
    as<Event>(event).drop_reference();
  }
  template <typename T, typename Handle>
  static void release(Handle* handle) {
    as<T>(handle).drop_reference();
  }

  static constexpr stria_driver_table driver_table{
      sizeof(stria_driver_table), nullptr, create, enumerate, open, shutdown};
  static constexpr stria_device_table device_table{sizeof(stria_device_table),
                                                   nullptr,
                                                   info,
                                                   create_compiler,
                                                   create_executor,
                                                   allocate,
                                                   create_event,
                                                   release<Device, stria_device>};
  static constexpr stria_compiler_table compiler_table{sizeof(stria_compiler_table), nullptr, build,
                                                       transform,
                                                       release<CompilerHandle, stria_compiler>};
  static constexpr stria_library_table library_table{sizeof(stria_library_table), nullptr, kernels,
                                                     source, release<LibraryHandle, stria_library>};
  static constexpr stria_kernel_table kernel_table{sizeof(stria_kernel_table), nullptr, run,
                                                   release<KernelHandle, stria_kernel>};
  static constexpr stria_executor_table executor_table{
      sizeof(stria_executor_table),     nullptr, prepare, submit, copy, fill, flush, drain,
      release<Executor, stria_executor>};
  static constexpr stria_buffer_table buffer_table{
      sizeof(stria_buffer_table),    nullptr, map_current, map_discard, unmap,
      release<Buffer, stria_buffer>, map_read};
  static constexpr stria_event_table event_table{sizeof(stria_event_table),
                                                 nullptr,
                                                 wait,
                                                 query,
                                                 status,
                                                 duration_ns,
                                                 on_done,
                                                 signal,
                                                 release_event,
                                                 end};
};

#if defined(__OPTIMIZE__)
inline constexpr uint8_t kDebug = 0;
#else
inline constexpr uint8_t kDebug = 1;
#endif

inline std::string range_text(const stria_version_range& range) {
  return std::to_string(range.major) + "." + std::to_string(range.minor_min) + " to " +
         std::to_string(range.major) + "." + std::to_string(range.minor_max);
}

// The highest common minor; throws with both ranges if there is none.
inline uint32_t common_minor(const char* what, const stria_version_range& host,
                             const stria_version_range& plugin) {
  if (host.major == plugin.major && host.minor_min <= plugin.minor_max &&
      plugin.minor_min <= host.minor_max)
    return std::min(host.minor_max, plugin.minor_max);
  throw Error(STRIA_INCOMPATIBLE, std::string(what) + " versions do not meet: the host has " +
                                      range_text(host) + ", the plugin " + range_text(plugin));
}

template <typename D>
stria_error* query(const stria_host_info* host, stria_plugin_info* plugin, std::string_view id,
                   std::string_view version) {
  static constexpr stria_version_range abi{sizeof(stria_version_range), nullptr, STRIA_ABI_MAJOR,
                                           STRIA_ABI_OLDEST_MINOR, STRIA_ABI_MINOR};
  static constexpr stria_version_range stripe{sizeof(stria_version_range), nullptr,
                                              STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR,
                                              STRIA_STRIPE_MINOR};
  static constexpr std::string_view compiler = __VERSION__;
  stria_plugin_info out{};
  out.size = std::min<uint64_t>(plugin->size, sizeof out);
  out.abi = &abi;
  out.stripe = &stripe;
  out.sanitizer = kSanitizer;
  out.debug = kDebug;
  out.id = to_c(id);
  out.version = to_c(version);
  out.build = to_c(compiler);
  out.driver = &Tables<D>::driver_table;
  out.device = &Tables<D>::device_table;
  out.compiler = &Tables<D>::compiler_table;
  out.library = &Tables<D>::library_table;
  out.kernel = &Tables<D>::kernel_table;
  out.executor = &Tables<D>::executor_table;
  out.buffer = &Tables<D>::buffer_table;
  out.event = &Tables<D>::event_table;
  out.get_extension = D::extension;
  Outcome outcome = outcome_of_call([&] {
    const stria_host_info given = whole(host);
    if (!given.abi || !given.stripe)
      throw Error(STRIA_INCOMPATIBLE, "the host does not say which versions it speaks");
    out.abi_minor = common_minor("ABI", whole(given.abi), abi);
    out.stripe_minor = common_minor("Stripe text", whole(given.stripe), stripe);
  });
  // The host's `next` stays; `size` now says how far both sides know the struct.
  const void* next = plugin->next;
  std::memcpy(static_cast<void*>(plugin), &out, out.size);
  plugin->next = next;
  return to_error(outcome);
}

}  // namespace stria::sdk

// Exports the plugin: a class derived from stria::sdk::Driver with its constructor, the manifest's
// id and version.
#define STRIA_PLUGIN(DriverClass, id, version)                                         \
  extern "C" STRIA_EXPORT stria_error* stria_plugin_query(const stria_host_info* host, \
                                                          stria_plugin_info* plugin) { \
    return ::stria::sdk::query<DriverClass>(host, plugin, id, version);                \
  }
