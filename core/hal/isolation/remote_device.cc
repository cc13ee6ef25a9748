// SPDX-License-Identifier: Apache-2.0
// The tables of drivers, devices, compilers and libraries: each slot is a message.
#include <fmt/format.h>

#include <algorithm>

#include "stria/experimental.h"
#include "stria/hal/isolation/remote.h"
#include "stria/sdk/info.h"

namespace stria::hal::isolation {

using sdk::slot;
using sdk::view_of;
using Number = Connection::SlotNumber;

std::vector<sdk::Ref<Connection>> RemoteDriver::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<sdk::Ref<Connection>> all = std::exchange(busy_, {});
  if (idle_) all.push_back(std::exchange(idle_, {}));
  return all;
}

sdk::Ref<Connection> RemoteDriver::take() {
  sdk::Ref<Connection> waiting;
  std::vector<sdk::Ref<Connection>> over;
  {
    const std::lock_guard lock(mutex_);
    waiting = std::exchange(idle_, {});
    if (waiting && waiting->lost()) over.push_back(std::exchange(waiting, {}));
    for (sdk::Ref<Connection>& connection : busy_)
      if (!connection->has_work()) over.push_back(std::exchange(connection, {}));
    busy_.erase(std::remove_if(busy_.begin(), busy_.end(),
                               [](const sdk::Ref<Connection>& connection) { return !connection; }),
                busy_.end());
  }
  for (const sdk::Ref<Connection>& connection : over) connection->end();
  if (waiting) return waiting;
  return Connection::start(*host, how, plugin, directory, options);
}

void RemoteDriver::give_back(sdk::Ref<Connection> connection) {
  if (!connection->lost()) {
    const std::lock_guard lock(mutex_);
    if (connection->has_work()) {
      busy_.push_back(std::move(connection));
      return;
    }
    std::swap(connection, idle_);
  }
  if (connection) connection->end();
}

Ids ids_of(stria_event* const* events, uint64_t count) {
  Ids out(count);
  for (uint64_t i = 0; i < count; ++i) out[i] = as<RemoteEvent>(events[i]).id();
  return out;
}

std::shared_ptr<const std::vector<KernelInfo>> RemoteLibrary::kernels() {
  const std::lock_guard lock(mutex_);
  if (kernels_) return kernels_;
  ListKernels message;
  message.library = id;
  auto made = std::make_shared<std::vector<KernelInfo>>();
  for (KernelFields& from : connection->ask(message, Limit::step).all) {
    KernelInfo& to = made->emplace_back();
    to.name = std::move(from.name);
    to.part = from.part;
    to.statement = from.statement;
    to.arguments.assign(from.arguments.begin(), from.arguments.end());
    to.interpreted = std::move(from.interpreted);
  }
  return kernels_ = std::move(made);
}

namespace {

void send(const DeviceInfo& from, stria_device_sink sink, void* state) {
  sdk::DeviceInfo info;
  info.id = from.id;
  info.name = from.name;
  info.kind = from.kind;
  info.vendor = from.vendor;
  info.available = from.available;
  info.reason = from.reason;
  info.memory_bytes = from.memory_bytes;
  info.properties = from.properties;
  sdk::send(info, sink, state);
}

void send(const Texts& texts, stria_text_sink sink, void* state) {
  for (const TextFields& text : texts.all) sink(state, sdk::to_c(text.name), sdk::to_c(text.text));
}

// ---- driver

const IsolateOptions* options_in(const void* chain) {
  for (auto* link = static_cast<const IsolateExtension*>(chain); link;
       link = static_cast<const IsolateExtension*>(link->next))
    if (link->size >= sizeof *link && view_of(link->name) == view_of(IsolateExtension().name))
      return link->options;
  return nullptr;
}

stria_error* create(const stria_driver_options* options, stria_driver** driver) {
  return slot([&] {
    const stria_driver_options given = sdk::whole(options);
    if (!given.services)
      throw sdk::Error(STRIA_INCOMPATIBLE, "the host gives the driver no services");
    auto made = std::make_unique<RemoteDriver>();
    made->host = std::make_unique<sdk::Host>(*given.services);
    made->directory = view_of(given.directory);
    made->plugin = std::filesystem::path(made->directory).filename().string();
    made->options = view_of(given.options);
    if (const IsolateOptions* how = options_in(given.next)) made->how = *how;
    if (made->how.program.empty()) made->how.program = find_isolated();
    if (made->how.program.empty())
      throw sdk::Error(STRIA_UNAVAILABLE,
                       "no process for the plugin: there is no stria_isolated in ../lib/stria of "
                       "the executable or of libstria");
    // Loads the plugin: what is wrong with it is said here.
    made->give_back(made->take());
    *driver = reinterpret_cast<stria_driver*>(made.release());
  });
}

stria_error* enumerate(stria_driver* driver, stria_device_sink sink, void* state) {
  return slot([&] {
    auto& self = as<RemoteDriver>(driver);
    const sdk::Ref<Connection> connection = self.take();
    Devices devices;
    try {
      devices = connection->ask(Enumerate(), Limit::step);
    } catch (...) {
      self.give_back(connection);
      throw;
    }
    self.give_back(connection);
    for (const DeviceInfo& info : devices.all) send(info, sink, state);
  });
}

stria_error* open(stria_driver* driver, stria_string id, stria_string options,
                  stria_device** device) {
  return slot([&] {
    auto& self = as<RemoteDriver>(driver);
    auto made = sdk::make<RemoteDevice>();
    made->driver = &self;
    made->connection = self.take();
    made->id = made->connection->new_id();
    Open message;
    message.device = made->id;
    message.id = view_of(id);
    message.options = view_of(options);
    try {
      made->info = made->connection->ask(message, Limit::step);
    } catch (...) {
      self.give_back(made->connection);
      throw;
    }
    *device = give<stria_device>(std::move(made));
  });
}

void shutdown(stria_driver* driver) {
  auto* self = &as<RemoteDriver>(driver);
  for (const sdk::Ref<Connection>& connection : self->take_all()) connection->end();
  delete self;
}

// ---- device

stria_error* info(stria_device* device, stria_device_sink sink, void* state) {
  return slot([&] { send(as<RemoteDevice>(device).info, sink, state); });
}

stria_error* create_compiler(stria_device* device, stria_compiler** compiler) {
  return slot([&] {
    auto& self = as<RemoteDevice>(device);
    auto made = sdk::make<RemoteCompiler>(self.connection);
    CreateCompiler message;
    message.device = self.id;
    message.compiler = made->id;
    self.connection->ask(message, Limit::step);
    made->made = true;
    *compiler = give<stria_compiler>(std::move(made));
  });
}

stria_error* create_executor(stria_device* device, stria_string options,
                             stria_executor** executor) {
  return slot([&] {
    auto& self = as<RemoteDevice>(device);
    auto made = sdk::make<RemoteExecutor>(self.connection);
    CreateExecutor message;
    message.device = self.id;
    message.executor = made->id;
    message.options = view_of(options);
    self.connection->ask(message, Limit::step);
    made->made = true;
    *executor = give<stria_executor>(std::move(made));
  });
}

stria_error* allocate(stria_device* device, const stria_buffer_params* params,
                      stria_buffer** buffer) {
  return slot([&] {
    auto& self = as<RemoteDevice>(device);
    const stria_buffer_params given = sdk::whole(params);
    auto made = sdk::make<RemoteBuffer>(self.connection);
    made->bytes = given.bytes;
    Allocate message;
    message.device = self.id;
    message.buffer = made->id;
    message.bytes = given.bytes;
    message.memory = view_of(given.memory);
    self.connection->ask(message, Limit::work);
    made->made = true;
    *buffer = give<stria_buffer>(std::move(made));
  });
}

stria_error* create_event(stria_device* device, stria_event** event) {
  return slot([&] {
    auto& self = as<RemoteDevice>(device);
    self.connection->check_slot(Number::device_create_event, "device.create_event");
    Begun made(*self.connection, Kind::create_event);
    CreateEvent message;
    message.device = self.id;
    message.event = made.id();
    self.connection->tell(message);
    *event = made.take();
  });
}

void release_device(stria_device* device) {
  auto self = sdk::Ref<RemoteDevice>::adopt(&as<RemoteDevice>(device));
  Close message;
  message.device = self->id;
  try {
    self->connection->ask(message, Limit::step);
  } catch (const sdk::Error&) {
    // The process is lost, and the device with it.
  }
  self->driver->give_back(self->connection);
}

// ---- compiler and library

stria_error* build(stria_compiler* compiler, const stria_build_params* params,
                   stria_event* const* waits, uint64_t wait_count, stria_library** library,
                   stria_event** done) {
  return slot([&] {
    auto& self = as<RemoteCompiler>(compiler);
    self.connection->check_slot(Number::compiler_build, "compiler.build");
    const stria_build_params given = sdk::whole(params);
    auto made = sdk::make<RemoteLibrary>(self.connection);
    Build message;
    message.compiler = self.id;
    message.library = made->id;
    message.stripe = view_of(given.stripe);
    message.options = view_of(given.options);
    message.waits = ids_of(waits, wait_count);
    Begun event(*self.connection, Kind::build);
    message.done = event.id();
    self.connection->tell(message);
    made->made = true;
    *library = give<stria_library>(std::move(made));
    *done = event.take();
  });
}

stria_error* transform(stria_compiler* compiler, stria_string stripe, stria_string pass,
                       stria_string options, stria_text_sink sink, void* state) {
  return slot([&] {
    auto& self = as<RemoteCompiler>(compiler);
    Transform message;
    message.compiler = self.id;
    message.stripe = view_of(stripe);
    message.pass = view_of(pass);
    message.options = view_of(options);
    send(self.connection->ask(message, Limit::work), sink, state);
  });
}

stria_error* kernels(stria_library* library, stria_kernel_sink sink, void* state) {
  return slot([&] {
    for (const KernelInfo& info : *as<RemoteLibrary>(library).kernels())
      sdk::send_kernel(info, sink, state);
  });
}

stria_error* source(stria_library* library, stria_text_sink sink, void* state) {
  return slot([&] {
    auto& self = as<RemoteLibrary>(library);
    Source message;
    message.library = self.id;
    send(self.connection->ask(message, Limit::work), sink, state);
  });
}

// ---- estimate

stria_error* estimate(stria_device* device, const stria_build_params* program,
                      stria_estimate* out) {
  return slot([&] {
    auto& self = as<RemoteDevice>(device);
    const stria_build_params given = sdk::whole(program);
    Estimate message;
    message.device = self.id;
    message.stripe = view_of(given.stripe);
    message.options = view_of(given.options);
    const Estimate::Answer answer = self.connection->ask(message, Limit::work);
    stria_estimate made{};
    made.size = sizeof made;
    made.time_ns = answer.time_ns;
    made.low_time_ns = answer.low_time_ns;
    made.high_time_ns = answer.high_time_ns;
    made.prologue_ns = answer.prologue_ns;
    made.energy_pj = answer.energy_pj;
    made.build_ns = answer.build_ns;
    sdk::copy_out(made, out);
  });
}
constexpr stria_estimate_table kEstimateTable{sizeof(stria_estimate_table), nullptr, estimate};

}  // namespace

const void* find_extension(stria_string name, uint32_t version) {
  const bool known = view_of(name) == STRIA_ESTIMATE && version == STRIA_ESTIMATE_VERSION;
  return known ? &kEstimateTable : nullptr;
}

const stria_driver_table kDriverTable{
    sizeof(stria_driver_table), nullptr, create, enumerate, open, shutdown};
const stria_device_table kDeviceTable{sizeof(stria_device_table),
                                      nullptr,
                                      info,
                                      create_compiler,
                                      create_executor,
                                      allocate,
                                      create_event,
                                      release_device};
const stria_compiler_table kCompilerTable{sizeof(stria_compiler_table), nullptr, build, transform,
                                          drop<RemoteCompiler, stria_compiler>};
const stria_library_table kLibraryTable{sizeof(stria_library_table), nullptr, kernels, source,
                                        drop<RemoteLibrary, stria_library>};

}  // namespace stria::hal::isolation
