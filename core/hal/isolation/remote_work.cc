// SPDX-License-Identifier: Apache-2.0
// The tables of executors, kernels, buffers and events: each slot is a message, and what it begins
// an event that the process ends.
#include <fmt/format.h>

#include <algorithm>

#include "stria/hal/isolation/remote.h"

namespace stria::hal::isolation {

using sdk::slot;
using sdk::view_of;
using Number = Connection::SlotNumber;

namespace {

// ---- what is wrong is said at once: the process could only fail the event

void check_range(uint64_t size, uint64_t offset, uint64_t bytes, std::string_view what) {
  if (offset <= size && bytes <= size - offset) return;
  throw sdk::Error(
      STRIA_INVALID_ARGUMENT,
      fmt::format("{}: {} bytes at offset {} of a buffer of {} bytes", what, bytes, offset, size));
}

std::vector<ArgumentField> arguments_of(const RemoteKernel& kernel,
                                        const stria_argument* const* arguments, uint64_t count) {
  const KernelInfo& info = kernel.info();
  if (count != info.arguments.size())
    throw sdk::Error(STRIA_INVALID_ARGUMENT, fmt::format("kernel '{}' takes {} arguments, not {}",
                                                         info.name, info.arguments.size(), count));
  std::vector<ArgumentField> out(count);
  for (uint64_t i = 0; i < count; ++i) {
    const stria_argument given = sdk::whole(arguments[i]);
    const auto* buffer = reinterpret_cast<const RemoteBuffer*>(given.buffer);
    if (!buffer)
      throw sdk::Error(STRIA_INVALID_ARGUMENT,
                       fmt::format("argument '{}' of kernel '{}' has no buffer",
                                   info.arguments[i].name, info.name));
    const uint64_t bytes = info.arguments[i].bytes;
    if (given.offset > buffer->bytes || bytes > buffer->bytes - given.offset)
      check_range(buffer->bytes, given.offset, bytes,
                  fmt::format("argument '{}' of kernel '{}'", info.arguments[i].name, info.name));
    out[i].buffer = buffer->id;
    out[i].offset = given.offset;
  }
  return out;
}

LaunchFields launch_of(const stria_launch& given, Id executor, uint64_t position) {
  const auto& kernel = as<RemoteKernel>(given.kernel);
  if (kernel.executor != executor)
    throw sdk::Error(
        STRIA_INVALID_ARGUMENT,
        fmt::format("kernel '{}' was prepared by another executor", kernel.info().name));
  LaunchFields out;
  out.kernel = kernel.id;
  out.arguments = arguments_of(kernel, given.arguments, given.argument_count);
  if (given.after_count > 0) out.after.assign(given.after, given.after + given.after_count);
  for (const uint32_t earlier : out.after)
    if (earlier >= position)
      throw sdk::Error(STRIA_INVALID_ARGUMENT,
                       fmt::format("launch {} waits for launch {}", position, earlier));
  return out;
}

// ---- executor

stria_error* prepare(stria_executor* executor, stria_library* library, uint64_t index,
                     stria_kernel** kernel) {
  return slot([&] {
    auto& self = as<RemoteExecutor>(executor);
    auto& from = as<RemoteLibrary>(library);
    auto made = sdk::make<RemoteKernel>(self.connection);
    made->executor = self.id;
    made->all = from.kernels();
    made->index = index;
    if (index >= made->all->size())
      throw sdk::Error(STRIA_INVALID_ARGUMENT,
                       fmt::format("kernel {} of a library with {}", index, made->all->size()));
    Prepare message;
    message.executor = self.id;
    message.library = from.id;
    message.kernel = made->id;
    message.index = index;
    self.connection->ask(message, Limit::work);
    made->made = true;
    *kernel = give<stria_kernel>(std::move(made));
  });
}

stria_error* submit(stria_executor* executor, const stria_launch* const* launches,
                    uint64_t launch_count, stria_event* const* waits, uint64_t wait_count,
                    stria_event** each, stria_event** done) {
  return slot([&] {
    auto& self = as<RemoteExecutor>(executor);
    self.connection->check_slot(Number::executor_submit, "executor.submit");
    Submit message;
    message.executor = self.id;
    message.launches.reserve(launch_count);
    for (uint64_t n = 0; n < launch_count; ++n)
      message.launches.push_back(launch_of(sdk::whole(launches[n]), self.id, n));
    message.waits = ids_of(waits, wait_count);
    std::deque<Begun> events;
    if (each)
      for (LaunchFields& launch : message.launches)
        launch.done = events.emplace_back(*self.connection, Kind::submit).id();
    Begun all(*self.connection, Kind::submit);
    message.done = all.id();
    self.connection->tell(message);
    for (uint64_t n = 0; n < events.size(); ++n) each[n] = events[n].take();
    *done = all.take();
  });
}

stria_error* copy(stria_executor* executor, stria_buffer* source, uint64_t source_offset,
                  stria_buffer* target, uint64_t target_offset, uint64_t bytes,
                  stria_event* const* waits, uint64_t wait_count, stria_event** done) {
  return slot([&] {
    auto& self = as<RemoteExecutor>(executor);
    self.connection->check_slot(Number::executor_copy, "executor.copy");
    const auto &from = as<RemoteBuffer>(source), &to = as<RemoteBuffer>(target);
    check_range(from.bytes, source_offset, bytes, "source of a copy");
    check_range(to.bytes, target_offset, bytes, "target of a copy");
    Copy message;
    message.executor = self.id;
    message.source = from.id;
    message.source_offset = source_offset;
    message.target = to.id;
    message.target_offset = target_offset;
    message.bytes = bytes;
    message.waits = ids_of(waits, wait_count);
    Begun event(*self.connection, Kind::copy);
    message.done = event.id();
    self.connection->tell(message);
    *done = event.take();
  });
}

stria_error* fill(stria_executor* executor, stria_buffer* target, uint64_t offset, uint64_t bytes,
                  const void* pattern, uint64_t pattern_size, stria_event* const* waits,
                  uint64_t wait_count, stria_event** done) {
  return slot([&] {
    auto& self = as<RemoteExecutor>(executor);
    self.connection->check_slot(Number::executor_fill, "executor.fill");
    const bool power =
        pattern_size > 0 && pattern_size <= 16 && (pattern_size & (pattern_size - 1)) == 0;
    if (!power || bytes % pattern_size != 0)
      throw sdk::Error(STRIA_INVALID_ARGUMENT,
                       fmt::format("a fill of {} bytes with a pattern of {}", bytes, pattern_size));
    const auto& to = as<RemoteBuffer>(target);
    check_range(to.bytes, offset, bytes, "target of a fill");
    Fill message;
    message.executor = self.id;
    message.target = to.id;
    message.offset = offset;
    message.bytes = bytes;
    message.pattern.assign(static_cast<const char*>(pattern), pattern_size);
    message.waits = ids_of(waits, wait_count);
    Begun event(*self.connection, Kind::fill);
    message.done = event.id();
    self.connection->tell(message);
    *done = event.take();
  });
}

stria_error* flush(stria_executor* executor) {
  return slot([&] {
    auto& self = as<RemoteExecutor>(executor);
    Flush message;
    message.executor = self.id;
    self.connection->ask(message, Limit::step);
  });
}

stria_error* drain_executor(stria_executor* executor, uint64_t timeout_ns) {
  return slot([&] {
    auto& self = as<RemoteExecutor>(executor);
    Drain message;
    message.executor = self.id;
    message.timeout_ns = timeout_ns;
    self.connection->ask(message, Limit::none);
  });
}

stria_error* run(stria_kernel* kernel, const stria_argument* const* arguments,
                 uint64_t argument_count, stria_event* const* waits, uint64_t wait_count,
                 stria_event** done) {
  return slot([&] {
    auto& self = as<RemoteKernel>(kernel);
    self.connection->check_slot(Number::kernel_run, "kernel.run");
    Run message;
    message.kernel = self.id;
    message.arguments = arguments_of(self, arguments, argument_count);
    message.waits = ids_of(waits, wait_count);
    Begun event(*self.connection, Kind::run);
    message.done = event.id();
    self.connection->tell(message);
    *done = event.take();
  });
}

// ---- buffer

template <MapMode kMode>
stria_error* map(stria_buffer* buffer, uint64_t offset, uint64_t bytes, stria_event* const* waits,
                 uint64_t wait_count, void** memory, stria_event** done) {
  return slot([&] {
    auto& self = as<RemoteBuffer>(buffer);
    if (kMode == MapMode::read)
      self.connection->check_slot(Number::buffer_map_read, "buffer.map_read");
    check_range(self.bytes, offset, bytes, "mapping");
    Map message;
    message.buffer = self.id;
    message.offset = offset;
    message.bytes = bytes;
    message.mode = kMode;
    message.waits = ids_of(waits, wait_count);
    Begun event(*self.connection, Kind::map);
    message.done = event.id();
    *memory = self.connection->map(std::move(message));
    *done = event.take();
  });
}

stria_error* unmap(stria_buffer* buffer, void* memory, stria_event** done) {
  return slot([&] {
    auto& self = as<RemoteBuffer>(buffer);
    Begun event(*self.connection, Kind::unmap);
    self.connection->unmap(self.id, memory, event.id());
    *done = event.take();
  });
}

// ---- event

stria_error* wait(stria_event* event, uint64_t timeout_ns) {
  return slot([&] {
    if (!as<RemoteEvent>(event).wait(timeout_ns))
      throw sdk::Error(STRIA_DEADLINE_EXCEEDED,
                       fmt::format("the event is still open after {} ns", timeout_ns));
  });
}

stria_error* query(stria_event* event, uint8_t* done) {
  *done = as<RemoteEvent>(event).done() ? 1 : 0;
  return nullptr;
}

RemoteEvent& done_one(stria_event* event) {
  auto& self = as<RemoteEvent>(event);
  if (!self.done()) throw sdk::Error(STRIA_FAILED_PRECONDITION, "the event is still open");
  return self;
}

stria_error* status(stria_event* event) {
  return slot([&] {
    if (const sdk::Outcome& outcome = done_one(event).outcome()) throw sdk::Error(outcome);
  });
}

stria_error* duration_ns(stria_event* event, uint64_t* nanoseconds) {
  return slot([&] { *nanoseconds = done_one(event).duration_ns(); });
}

stria_error* on_done(stria_event* event, void (*callback)(void*, const stria_error*), void* state) {
  return slot([&] { as<RemoteEvent>(event).on_done(callback, state); });
}

stria_error* signal(stria_event* event, const stria_error* error) {
  return slot([&] {
    auto& self = as<RemoteEvent>(event);
    if (!self.is_host_event())
      throw sdk::Error(STRIA_FAILED_PRECONDITION, "only host events can be signalled");
    if (!self.claim()) {
      self.connection().check();
      throw sdk::Error(STRIA_FAILED_PRECONDITION, "the event has been signalled before");
    }
    const sdk::Ref<RemoteEvent> keep(&self);
    const sdk::Outcome outcome = sdk::outcome_of(error);
    Signal message;
    message.event = self.id();
    message.failure = outcome;
    self.connection().forget_event(self.id());
    // What waits for it here hears of it whatever has become of the process.
    try {
      self.connection().tell(message);
    } catch (...) {
      self.signal(outcome);
      throw;
    }
    self.signal(outcome);
  });
}

void release_event(stria_event* event) {
  auto self = sdk::Ref<RemoteEvent>::adopt(&as<RemoteEvent>(event));
  // An open host event is over with its handle; the plugin's own go on.
  const bool cancelled = self->is_host_event() && !self->done();
  if (cancelled) self->connection().forget_event(self->id());
  self->connection().release(self->id(), cancelled);
}

stria_error* end(stria_event* event, stria_event** ended) {
  return slot([&] {
    auto& self = as<RemoteEvent>(event);
    self.connection().check_slot(Number::event_end, "event.end");
    Begun made(self.connection(), Kind::end);
    End message;
    message.event = self.id();
    message.done = made.id();
    self.connection().tell(message);
    *ended = made.take();
  });
}

}  // namespace

const stria_executor_table kExecutorTable{sizeof(stria_executor_table),
                                          nullptr,
                                          prepare,
                                          submit,
                                          copy,
                                          fill,
                                          flush,
                                          drain_executor,
                                          drop<RemoteExecutor, stria_executor>};
const stria_kernel_table kKernelTable{sizeof(stria_kernel_table), nullptr, run,
                                      drop<RemoteKernel, stria_kernel>};
const stria_buffer_table kBufferTable{
    sizeof(stria_buffer_table), nullptr, map<MapMode::current>,
    map<MapMode::discard>,      unmap,   drop<RemoteBuffer, stria_buffer>,
    map<MapMode::read>};
const stria_event_table kEventTable{sizeof(stria_event_table),
                                    nullptr,
                                    wait,
                                    query,
                                    status,
                                    duration_ns,
                                    on_done,
                                    signal,
                                    release_event,
                                    end};

}  // namespace stria::hal::isolation
