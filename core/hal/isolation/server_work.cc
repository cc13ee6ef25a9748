// SPDX-License-Identifier: Apache-2.0
// The messages of executors, kernels, buffers and events, and how the host hears of an event's end.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "stria/hal/isolation/server.h"

namespace stria::hal::isolation {
namespace {

// So much of the bytes of mappings waits to be written before more is brought.
constexpr size_t kRoomBytes = size_t{16} << 20;
constexpr uint64_t kStagedAlignment = 4096;

// The C form of arguments.
class Arguments {
 public:
  Arguments(const Objects& objects, const std::vector<ArgumentField>& fields)
      : values_(fields.size()), pointers_(fields.size()) {
    for (size_t i = 0; i < fields.size(); ++i) {
      values_[i] = {sizeof(stria_argument), nullptr,
                    objects.get<stria_buffer>(fields[i].buffer, Noun::buffer), fields[i].offset};
      pointers_[i] = &values_[i];
    }
  }
  const stria_argument* const* data() const { return pointers_.data(); }
  uint64_t size() const { return pointers_.size(); }

 private:
  std::vector<stria_argument> values_;
  std::vector<const stria_argument*> pointers_;
};

}  // namespace

void Server::handle_work(const Message& message) {
  const Tables& tables = state_->tables;
  switch (static_cast<Kind>(message.header.kind)) {
    case Kind::create_compiler:
      return answer<CreateCompiler>(message, [&](const CreateCompiler& m) {
        stria_compiler* compiler = nullptr;
        call("device.create_compiler", tables.device.create_compiler,
             objects_.get<stria_device>(m.device, Noun::device), &compiler);
        made(m.compiler, Noun::compiler, given("device.create_compiler", compiler));
      });
    case Kind::create_executor:
      return answer<CreateExecutor>(message, [&](const CreateExecutor& m) {
        stria_executor* executor = nullptr;
        call("device.create_executor", tables.device.create_executor,
             objects_.get<stria_device>(m.device, Noun::device), to_c(m.options), &executor);
        made(m.executor, Noun::executor, given("device.create_executor", executor));
      });
    case Kind::allocate:
      return answer_later<Allocate>(message, [this, &tables](const Allocate& m) {
        stria_buffer_params params{};
        params.size = sizeof params;
        params.bytes = m.bytes;
        params.memory = to_c(m.memory);
        stria_buffer* buffer = nullptr;
        call("device.allocate", tables.device.allocate,
             objects_.get<stria_device>(m.device, Noun::device),
             static_cast<const stria_buffer_params*>(&params), &buffer);
        made(m.buffer, Noun::buffer, given("device.allocate", buffer));
      });
    case Kind::create_event: {
      const auto m = decoded<CreateEvent>(message.body);
      try {
        stria_event* event = nullptr;
        call("device.create_event", tables.device.create_event,
             objects_.get<stria_device>(m.device, Noun::device), &event);
        objects_.add(m.event, {Noun::event, given("device.create_event", event), nullptr, true});
      } catch (const sdk::Error& error) {
        objects_.add(m.event, {Noun::event, nullptr, error.outcome(), true});
      }
      return;
    }
    case Kind::transform:
      return answer_later<Transform>(message, [this, &tables](const Transform& m) {
        return texts("compiler.transform", tables.compiler.transform,
                     objects_.get<stria_compiler>(m.compiler, Noun::compiler), to_c(m.stripe),
                     to_c(m.pass), to_c(m.options));
      });
    case Kind::source:
      return answer_later<Source>(message, [this, &tables](const Source& m) {
        return texts("library.source", tables.library.source,
                     objects_.get<stria_library>(m.library, Noun::library));
      });
    case Kind::prepare:
      return answer_later<Prepare>(message, [this, &tables](const Prepare& m) {
        stria_kernel* kernel = nullptr;
        call("executor.prepare", tables.executor.prepare,
             objects_.get<stria_executor>(m.executor, Noun::executor),
             objects_.get<stria_library>(m.library, Noun::library), m.index, &kernel);
        made(m.kernel, Noun::kernel, given("executor.prepare", kernel));
      });
    case Kind::submit: return submit(decoded<Submit>(message.body));
    case Kind::run:
      return begin<Run>(message, [&](const Run& m) {
        const Arguments arguments(objects_, m.arguments);
        const std::vector<stria_event*> waits = waits_of(m.waits);
        stria_event* done = nullptr;
        call("kernel.run", tables.kernel.run, objects_.get<stria_kernel>(m.kernel, Noun::kernel),
             arguments.data(), arguments.size(), waits.data(), uint64_t{waits.size()}, &done);
        return given("kernel.run", done);
      });
    case Kind::copy:
      return begin<Copy>(message, [&](const Copy& m) {
        const std::vector<stria_event*> waits = waits_of(m.waits);
        stria_event* done = nullptr;
        call("executor.copy", tables.executor.copy,
             objects_.get<stria_executor>(m.executor, Noun::executor),
             objects_.get<stria_buffer>(m.source, Noun::buffer), m.source_offset,
             objects_.get<stria_buffer>(m.target, Noun::buffer), m.target_offset, m.bytes,
             waits.data(), uint64_t{waits.size()}, &done);
        return given("executor.copy", done);
      });
    case Kind::fill:
      return begin<Fill>(message, [&](const Fill& m) {
        const std::vector<stria_event*> waits = waits_of(m.waits);
        stria_event* done = nullptr;
        call("executor.fill", tables.executor.fill,
             objects_.get<stria_executor>(m.executor, Noun::executor),
             objects_.get<stria_buffer>(m.target, Noun::buffer), m.offset, m.bytes,
             static_cast<const void*>(m.pattern.data()), uint64_t{m.pattern.size()}, waits.data(),
             uint64_t{waits.size()}, &done);
        return given("executor.fill", done);
      });
    case Kind::flush:
      return answer<Flush>(message, [&](const Flush& m) {
        call("executor.flush", tables.executor.flush,
             objects_.get<stria_executor>(m.executor, Noun::executor));
      });
    case Kind::drain:
      return answer_later<Drain>(message, [this, &tables](const Drain& m) {
        call("executor.drain", tables.executor.drain,
             objects_.get<stria_executor>(m.executor, Noun::executor), m.timeout_ns);
      });
    case Kind::map: return answer<Map>(message, [this](const Map& m) { return map(m); });
    case Kind::unmap: return begin<Unmap>(message, [this](const Unmap& m) { return unmap(m); });
    case Kind::signal: {
      const auto m = decoded<Signal>(message.body);
      const std::unique_ptr<sdk::SharedError> error =
          m.failure ? std::make_unique<sdk::SharedError>(m.failure) : nullptr;
      try {
        call("event.signal", tables.event.signal, objects_.get<stria_event>(m.event, Noun::event),
             static_cast<const stria_error*>(error.get()));
      } catch (const sdk::Error&) {
        // What waits for an event that could not be made has failed with that.
      }
      return;
    }
    case Kind::wait: return wait(decoded<Wait>(message.body));
    case Kind::end:
      return begin<End>(message, [&](const End& m) {
        stria_event* done = nullptr;
        call("event.end", tables.event.end, objects_.get<stria_event>(m.event, Noun::event), &done);
        return given("event.end", done);
      });
    default: break;
  }
  throw Malformed(fmt::format("a message of kind {}, which no plugin takes", message.header.kind));
}

std::vector<stria_event*> Server::waits_of(const Ids& ids) const {
  std::vector<stria_event*> out(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) out[i] = objects_.get<stria_event>(ids[i], Noun::event);
  return out;
}

// ---- executor

void Server::submit(const Submit& message) {
  try {
    auto* const executor = objects_.get<stria_executor>(message.executor, Noun::executor);
    const std::vector<stria_event*> waits = waits_of(message.waits);
    std::deque<Arguments> arguments;
    std::vector<stria_launch> launches(message.launches.size());
    std::vector<const stria_launch*> pointers(launches.size());
    for (size_t i = 0; i < launches.size(); ++i) {
      const LaunchFields& from = message.launches[i];
      const Arguments& own = arguments.emplace_back(objects_, from.arguments);
      launches[i] = {
          sizeof(stria_launch), nullptr,    objects_.get<stria_kernel>(from.kernel, Noun::kernel),
          own.data(),           own.size(), from.after.data(),
          from.after.size()};
      pointers[i] = &launches[i];
    }
    const bool with_each = !message.launches.empty() && message.launches[0].done != 0;
    std::vector<stria_event*> each(with_each ? launches.size() : 0);
    stria_event* done = nullptr;
    const stria_launch* const* batch = pointers.data();
    call("executor.submit", state_->tables.executor.submit, executor, batch,
         uint64_t{launches.size()}, waits.data(), uint64_t{waits.size()},
         with_each ? each.data() : nullptr, &done);
    given("executor.submit", done);
    for (stria_event* one : each) given("executor.submit", one);
    for (size_t i = 0; i < each.size(); ++i) watch(message.launches[i].done, each[i]);
    watch(message.done, done);
  } catch (const sdk::Error& error) {
    for (const LaunchFields& launch : message.launches)
      if (launch.done != 0) fail(launch.done, error.outcome());
    fail(message.done, error.outcome());
  }
}

// ---- buffer

Map::Answer Server::map(const Map& message) {
  const stria_buffer_table& table = state_->tables.buffer;
  struct Way {
    std::string_view slot;
    decltype(table.map_current) function;
  };
  const Way ways[] = {{"buffer.map_current", table.map_current},
                      {"buffer.map_discard", table.map_discard},
                      {"buffer.map_read", table.map_read}};
  const auto mode = static_cast<size_t>(message.mode);
  if (mode >= std::size(ways)) throw Malformed(fmt::format("{} is no way to map", mode));
  const auto mapping = std::make_shared<Mapping>();
  mapping->buffer = objects_.get<stria_buffer>(message.buffer, Noun::buffer);
  mapping->bytes = message.bytes;
  mapping->mode = message.mode;
  const std::vector<stria_event*> waits = waits_of(message.waits);
  void* memory = nullptr;
  stria_event* done = nullptr;
  call(ways[mode].slot, ways[mode].function, mapping->buffer, message.offset, message.bytes,
       waits.data(), uint64_t{waits.size()}, &memory, &done);
  given(ways[mode].slot, done);
  if (message.bytes > 0) given(ways[mode].slot, memory);
  mapping->memory = static_cast<std::byte*>(memory);
  const bool seen = message.bytes == 0 || heap_.holds(memory, message.bytes);
  mapping->travels = !heap_.valid();
  if (heap_.valid() && !seen) {
    mapping->staged = static_cast<std::byte*>(heap_.allocate(message.bytes, kStagedAlignment));
    if (!mapping->staged)
      give_up(fmt::format("no shared memory for a mapping of {} bytes", message.bytes));
  }
  if (!mappings_.emplace(message.mapping, mapping).second)
    throw Malformed(fmt::format("there is a mapping {} already", message.mapping));
  std::function<void(const sdk::Outcome&)> bring;
  if (mapping->staged || mapping->travels)
    bring = [this, mapping, id = message.mapping](const sdk::Outcome& failure) {
      mapping->failed = failure != nullptr;
      if (!failure && mapping->mode != MapMode::discard) fetch(id, *mapping);
    };
  watch(message.done, done, std::move(bring));
  const void* const place = mapping->staged ? mapping->staged : memory;
  return {heap_.valid(), heap_.valid() && message.bytes > 0 ? heap_.place_of(place) : 0};
}

void Server::fetch(Id id, const Mapping& mapping) {
  if (mapping.staged) {
    std::memcpy(mapping.staged, mapping.memory, mapping.bytes);
    return;
  }
  for (uint64_t at = 0; at < mapping.bytes; at += kPieceBytes) {
    Bytes piece;
    piece.mapping = id;
    piece.offset = at;
    piece.data.assign(reinterpret_cast<const char*>(mapping.memory) + at,
                      std::min(kPieceBytes, mapping.bytes - at));
    channel_.send(encoded(piece));
    channel_.wait_for_room(kRoomBytes);
  }
}

void Server::take_bytes(const Bytes& piece) {
  const auto it = mappings_.find(piece.mapping);
  const uint64_t bytes = piece.data.size();
  if (it == mappings_.end() || !it->second->travels || piece.offset > it->second->bytes ||
      bytes > it->second->bytes - piece.offset)
    throw Malformed(fmt::format("{} bytes at offset {} of mapping {}, which has no room for them",
                                bytes, piece.offset, piece.mapping));
  if (!it->second->failed) std::memcpy(it->second->memory + piece.offset, piece.data.data(), bytes);
}

stria_event* Server::unmap(const Unmap& message) {
  const auto node = mappings_.extract(message.mapping);
  if (!node) throw Malformed(fmt::format("there is no mapping {}", message.mapping));
  const Mapping& mapping = *node.mapped();
  // Here, and not on a worker: what comes next may wait for the event.
  if (mapping.staged && mapping.mode != MapMode::read && !mapping.failed)
    std::memcpy(mapping.memory, mapping.staged, mapping.bytes);
  heap_.free(mapping.staged);
  stria_event* done = nullptr;
  call("buffer.unmap", state_->tables.buffer.unmap, mapping.buffer,
       static_cast<void*>(mapping.memory), &done);
  return given("buffer.unmap", done);
}

// ---- event

void Server::watch(Id id, stria_event* event,
                   std::function<void(const sdk::Outcome&)> before_done) {
  const auto watched = std::make_shared<Watched>();
  watched->id = id;
  watched->handle = event;
  watched->before_done = std::move(before_done);
  objects_.add(id, {Noun::event, event, nullptr});
  {
    const std::lock_guard lock(mutex_);
    watched_.emplace(id, watched);
    unreleased_.emplace(id, watched);
  }
  const auto still_open = [this, id] {
    const std::lock_guard lock(mutex_);
    return watched_.erase(id) > 0;
  };
  try {
    call("event.on_done", state_->tables.event.on_done, event, &Server::on_event_done,
         reinterpret_cast<void*>(static_cast<uintptr_t>(id)));
  } catch (const sdk::Error& error) {
    if (!still_open()) return;
    if (error.outcome()->code != STRIA_UNIMPLEMENTED) return event_done(watched, error.outcome());
    // It does not tell: somebody waits.
    workers_.run([this, watched] {
      sdk::Outcome outcome;
      try {
        call("event.wait", state_->tables.event.wait, watched->handle, UINT64_MAX);
        call("event.status", state_->tables.event.status, watched->handle);
      } catch (const sdk::Error& failed) {
        outcome = failed.outcome();
      }
      event_done(watched, outcome);
    });
  }
}

// Called by the plugin, from any thread. One that calls twice finds no ticket.
void Server::on_event_done(void* state, const stria_error* error) {
  Server& self = *the_;
  std::shared_ptr<Watched> watched;
  {
    const std::lock_guard lock(self.mutex_);
    const auto node = self.watched_.extract(reinterpret_cast<uintptr_t>(state));
    if (!node) return;
    watched = node.mapped();
  }
  self.event_done(watched, sdk::outcome_of(error));
}

void Server::event_done(const std::shared_ptr<Watched>& event, sdk::Outcome outcome) {
  const auto tell = [this, event, outcome] {
    if (event->before_done) event->before_done(outcome);
    Done done;
    done.event = event->id;
    done.failure = outcome;
    if (!outcome) {
      try {
        call("event.duration_ns", state_->tables.event.duration_ns, event->handle,
             &done.duration_ns);
      } catch (const sdk::Error&) {
        done.duration_ns = 0;  // not known
      }
    }
    channel_.send(encoded(done));
    drop(event);
  };
  // A callback returns soon.
  event->before_done ? workers_.run(tell) : tell();
}

void Server::drop(const std::shared_ptr<Watched>& event) {
  if (--event->holders == 0) call("event.release", state_->tables.event.release, event->handle);
}

void Server::wait(const Wait& message) {
  std::shared_ptr<Watched> event;
  {
    const std::lock_guard lock(mutex_);
    const auto it = watched_.find(static_cast<uintptr_t>(message.event));
    if (it == watched_.end()) return;  // it is done
    event = it->second;
    ++event->holders;
  }
  // Of several that are waited for, one.
  if (waited_for_) drop(waited_for_);
  waited_for_ = std::move(event);
}

void Server::fail(Id event, const sdk::Outcome& failure) {
  objects_.add(event, {Noun::event, nullptr, failure});
  Done done;
  done.event = event;
  done.failure = failure;
  channel_.send(encoded(done));
}

void Server::release_event(Id id, const Objects::Object& object) {
  if (!object.is_host_event) {
    // The end of the event still needs the handle.
    const std::lock_guard lock(mutex_);
    const auto node = unreleased_.extract(id);
    if (!node || --node.mapped()->holders > 0) return;
  }
  call("event.release", state_->tables.event.release, static_cast<stria_event*>(object.handle));
}

}  // namespace stria::hal::isolation
