// SPDX-License-Identifier: Apache-2.0
// The boundary of a plugin that is made of the helper's defaults: an input is a list of calls with
// hostile sizes, offsets, orders and texts. What the contract of stria/plugin.h forbids (handles of
// another device, dangling handles) is not tried; everything else must be answered with a status.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "fuzzer.h"
#include "stria/hal/host/services.h"
#include "stria/sdk/plugin.h"

namespace {

using stria::Status;
using stria::hal::ArgumentInfo;
using stria::hal::Direction;

// ---- The plugin

class FuzzedDriver final : public stria::sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<stria::sdk::DeviceInfo> enumerate() override {
    stria::sdk::DeviceInfo limited, unlimited, absent;
    limited.id = "limited";
    limited.memory_bytes = 1 << 16;
    unlimited.id = "unlimited";
    absent.id = "absent";
    absent.available = false;
    absent.reason = "it is not there";
    return {limited, unlimited, absent};
  }
};
// ---- Its host: a program is a list of kernels, one letter each

// `b` takes no argument, `c` adds the first byte of its input to its output, `d` fails.
class ByteKernel final : public stria::hal::InterpretedKernel {
 public:
  explicit ByteKernel(char kind) : kind_(kind) {}
  Status run(std::span<const stria_memory> arguments) const override {
    if (kind_ == 'd') return stria::invalid_argument("kernel d fails");
    if (kind_ == 'c') {
      STRIA_CHECK(arguments.size() == 2, "{} arguments", arguments.size());
      static_cast<unsigned char*>(arguments[0].data)[0] +=
          static_cast<unsigned char*>(arguments[1].data)[0];
    }
    return Status();
  }

 private:
  char kind_;
};

class ByteProgram final : public stria::hal::InterpretedProgram {
 public:
  explicit ByteProgram(std::string_view text) {
    for (char kind : text) {
      stria::hal::KernelInfo info;
      info.name = std::string(1, kind);
      info.statement = kernels_.size();
      if (kind == 'c') {
        ArgumentInfo to, from;
        to.name = "to";
        to.direction = Direction::inout;
        from.name = "from";
        to.bytes = from.bytes = 1;
        info.arguments = {to, from};
      }
      kernels_.push_back(std::move(info));
    }
  }
  const std::vector<stria::hal::KernelInfo>& kernels() const override { return kernels_; }
  stria::Result<std::unique_ptr<stria::hal::InterpretedKernel>> prepare(
      size_t index) const override {
    return std::unique_ptr<stria::hal::InterpretedKernel>(
        std::make_unique<ByteKernel>(kernels_[index].name[0]));
  }

 private:
  std::vector<stria::hal::KernelInfo> kernels_;
};

stria::hal::HostFunctions host_functions() {
  stria::hal::HostFunctions functions;
  functions.interpret =
      [](std::string_view text) -> stria::Result<std::unique_ptr<stria::hal::InterpretedProgram>> {
    for (char kind : text)
      if (kind < 'b' || kind > 'd') return stria::invalid_argument("no kernel '{}'", kind);
    return std::unique_ptr<stria::hal::InterpretedProgram>(std::make_unique<ByteProgram>(text));
  };
  return functions;
}

// ---- What every answer must be

// True for success. A failure stands alone, says something, and is released.
bool succeeded(stria_error* error) {
  if (!error) return true;
  for (const stria_error* e = error; e; e = e->cause) {
    STRIA_CHECK(e->size >= sizeof(stria_error), "an error of {} bytes", e->size);
    STRIA_CHECK(e->code > STRIA_OK && e->code <= STRIA_INTERNAL, "code {}", e->code);
    const std::string message(stria::sdk::view_of(e->message));  // reads all of it
    STRIA_CHECK(message.find("unexpected exception") == std::string::npos, "{}", message);
    STRIA_CHECK(!e->message.size || e->message.data, "a message without text");
  }
  error->release(error);
  return false;
}

// ---- The input

class Script {
 public:
  Script(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  uint8_t byte() { return empty() ? 0 : data_[at_++]; }
  size_t below(size_t limit) { return limit == 0 ? 0 : byte() % limit; }
  // A size or an offset: small, or next to a power of two.
  uint64_t number() {
    const uint8_t kind = byte();
    if (kind < 160) return kind;
    const uint64_t power = uint64_t{1} << (kind % 64);
    return power + byte() % 16 - 8;
  }
  stria_string text() {
    const size_t wanted = below(8);  // read before it is asked what is left
    const size_t size = std::min(wanted, size_ - at_);
    const stria_string out = {size ? reinterpret_cast<const char*>(data_ + at_) : nullptr, size};
    at_ += size;
    return out;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

template <typename T>
class Pool {
 public:
  explicit Pool(void (*release)(T*)) : release_(release) {}
  ~Pool() { clear(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  void add(T* handle) {
    STRIA_CHECK(handle != nullptr, "success without a handle");
    handles_.push_back(handle);
  }
  bool empty() const { return handles_.empty(); }
  T* pick(Script& script) const { return handles_[script.below(handles_.size())]; }
  void drop(Script& script) {
    if (empty()) return;
    const auto at = handles_.begin() + static_cast<ptrdiff_t>(script.below(handles_.size()));
    release_(*at);
    handles_.erase(at);
  }
  void clear() {
    for (T* handle : handles_) release_(handle);
    handles_.clear();
  }

 private:
  void (*release_)(T*);
  std::vector<T*> handles_;
};

// A slot's output parameter: unwritten after a failure.
template <typename T>
struct Out {
  static T* unwritten() { return reinterpret_cast<T*>(uintptr_t{0x5a5a5a5a}); }
  T* handle = unwritten();
  bool take(bool ok, Pool<T>& pool) {
    STRIA_CHECK(ok || handle == unwritten(), "a failure has written its output");
    if (ok) pool.add(handle);
    return ok;
  }
};

// A struct as a caller of another version makes it: exactly `size` bytes are there.
template <typename T>
class Sized {
 public:
  Sized(T value, uint64_t size) : bytes_(new char[size]) {
    value.size = size;
    std::memcpy(bytes_.get(), &value, size);
  }
  const T* get() const { return reinterpret_cast<const T*>(bytes_.get()); }

 private:
  std::unique_ptr<char[]> bytes_;
};
// Full, or cut behind any member from `least` on.
template <typename T>
Sized<T> maybe_cut(Script& script, const T& value, uint64_t least) {
  const uint64_t members = (sizeof(T) - least) / 8;
  const uint8_t kind = script.byte();
  return Sized<T>(value, kind < 200 ? sizeof(T) : sizeof(T) - 8 * (kind % (members + 1)));
}

using Table = stria::sdk::Tables<FuzzedDriver>;

struct Mapping {
  stria_buffer* buffer;
  char* memory;
  uint64_t bytes;
  stria_event* done;  // owned by the pool of events for as long as the mapping is there
};

// An opened device and everything made of it.
class World {
 public:
  World(stria_device* device, bool limited) : device_(device), limited_(limited) {}
  ~World() {
    mappings_.clear();
    kernels_.clear();
    libraries_.clear();
    executors_.clear();
    compilers_.clear();
    buffers_.clear();
    events_.clear();  // cancels what still waits for host events
    Table::device_table.release(device_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void step(Script& script) {
    switch (script.byte() % 20) {
      case 0: return create_event();
      case 1: return allocate(script);
      case 2: return map(script);
      case 3: return unmap();
      case 4: return copy(script);
      case 5: return fill(script);
      case 6: return build(script);
      case 7: return read_library(script);
      case 8: return prepare(script);
      case 9: return run(script);
      case 10: return submit(script);
      case 11: return look_at_event(script);
      case 12: return signal(script);
      case 13: return release(script);
      case 14: return create_compiler();
      case 15: return create_executor(script);
      case 16: return info();
      case 17: return transform(script);
      case 18: return drain(script);
      case 19: return write(script);
    }
  }

 private:
  using Events = std::array<stria_event*, 3>;
  uint64_t waits(Script& script, Events& list) {
    const uint64_t count = events_.empty() ? 0 : script.below(list.size() + 1);
    for (uint64_t i = 0; i < count; ++i) list[i] = events_.pick(script);
    return count;
  }

  void create_event() {
    Out<stria_event> event;
    event.take(succeeded(Table::device_table.create_event(device_, &event.handle)), events_);
  }
  void create_compiler() {
    Out<stria_compiler> compiler;
    compiler.take(succeeded(Table::device_table.create_compiler(device_, &compiler.handle)),
                  compilers_);
  }
  void create_executor(Script& script) {
    Out<stria_executor> executor;
    executor.take(
        succeeded(Table::device_table.create_executor(device_, script.text(), &executor.handle)),
        executors_);
  }
  void info() {
    int calls = 0;
    const auto sink = [](void* state, const stria_device_info*) { ++*static_cast<int*>(state); };
    STRIA_CHECK(succeeded(Table::device_table.info(device_, sink, &calls)) && calls == 1,
                "{} infos", calls);
  }
  void allocate(Script& script) {
    stria_buffer_params params{};
    params.bytes = script.number();
    // What a device without a limit would give for real.
    if (!limited_ && params.bytes < uint64_t{1} << 56) params.bytes %= 4096;
    params.memory = script.text();
    const Sized<stria_buffer_params> sent =
        maybe_cut(script, params, offsetof(stria_buffer_params, bytes) + 8);
    Out<stria_buffer> buffer;
    buffer.take(succeeded(Table::device_table.allocate(device_, sent.get(), &buffer.handle)),
                buffers_);
  }

  void map(Script& script) {
    if (buffers_.empty() || mappings_.size() > 8) return;
    Events list;
    stria_buffer* buffer = buffers_.pick(script);
    const uint64_t offset = script.number(), bytes = script.number(), count = waits(script, list);
    const auto& table = Table::buffer_table;
    const decltype(table.map_read) slots[] = {table.map_current, table.map_discard, table.map_read};
    const auto slot = slots[script.byte() % 3];
    void* memory = nullptr;
    Out<stria_event> done;
    if (done.take(succeeded(slot(buffer, offset, bytes, count ? list.data() : nullptr, count,
                                 &memory, &done.handle)),
                  events_))
      mappings_.push_back({buffer, static_cast<char*>(memory), bytes, done.handle});
  }
  void unmap() {
    if (mappings_.empty()) return;
    const Mapping mapping = mappings_.back();
    mappings_.pop_back();
    Out<stria_event> done;
    done.take(succeeded(Table::buffer_table.unmap(mapping.buffer, mapping.memory, &done.handle)),
              events_);
  }
  // Mapped memory is there from the first to the last byte.
  void write(Script& script) {
    if (mappings_.empty()) return;
    const Mapping& mapping = mappings_[script.below(mappings_.size())];
    if (succeeded(Table::event_table.status(mapping.done)) && mapping.bytes > 0) {
      mapping.memory[0] = 1;
      mapping.memory[mapping.bytes - 1] = 2;
    }
  }
  void copy(Script& script) {
    if (executors_.empty() || buffers_.empty()) return;
    Events list;
    stria_buffer* source = buffers_.pick(script);
    stria_buffer* target = buffers_.pick(script);
    const uint64_t from = script.number(), to = script.number(), bytes = script.number();
    const uint64_t count = waits(script, list);
    Out<stria_event> done;
    stria_executor* executor = executors_.pick(script);
    done.take(
        succeeded(Table::executor_table.copy(executor, source, from, target, to, bytes,
                                             count ? list.data() : nullptr, count, &done.handle)),
        events_);
  }
  void fill(Script& script) {
    if (executors_.empty() || buffers_.empty()) return;
    Events list;
    stria_buffer* target = buffers_.pick(script);
    const uint64_t offset = script.number(), bytes = script.number();
    const uint64_t pattern_size = script.number();
    // Only so much is read of a pattern that is not refused.
    const std::vector<char> pattern(std::min<uint64_t>(pattern_size, 16), 'p');
    const uint64_t count = waits(script, list);
    Out<stria_event> done;
    stria_executor* executor = executors_.pick(script);
    done.take(succeeded(Table::executor_table.fill(executor, target, offset, bytes, pattern.data(),
                                                   pattern_size, list.data(), count, &done.handle)),
              events_);
  }

  void build(Script& script) {
    if (compilers_.empty()) return;
    Events list;
    stria_build_params params{};
    params.stripe = script.text();
    params.options = script.text();
    const Sized<stria_build_params> sent =
        maybe_cut(script, params, offsetof(stria_build_params, stripe) + 16);
    const uint64_t count = waits(script, list);
    Out<stria_library> library;
    Out<stria_event> done;
    const bool ok = succeeded(Table::compiler_table.build(
        compilers_.pick(script), sent.get(), list.data(), count, &library.handle, &done.handle));
    library.take(ok, libraries_);
    done.take(ok, events_);
    // Mostly the build is over before the next call.
    if (ok && count == 0 && script.byte() < 250)
      STRIA_CHECK(succeeded(Table::event_table.wait(done.handle, UINT64_MAX)),
                  "an event never done");
  }
  void read_library(Script& script) {
    if (libraries_.empty()) return;
    stria_library* library = libraries_.pick(script);
    (void)succeeded(
        Table::library_table.kernels(library, [](void*, const stria_kernel_info*) {}, nullptr));
    (void)succeeded(
        Table::library_table.source(library, [](void*, stria_string, stria_string) {}, nullptr));
  }
  void transform(Script& script) {
    if (compilers_.empty()) return;
    stria_compiler* compiler = compilers_.pick(script);
    const stria_string stripe = script.text(), pass = script.text(), options = script.text();
    (void)succeeded(Table::compiler_table.transform(
        compiler, stripe, pass, options, [](void*, stria_string, stria_string) {}, nullptr));
  }
  void prepare(Script& script) {
    if (executors_.empty() || libraries_.empty()) return;
    stria_executor* executor = executors_.pick(script);
    stria_library* library = libraries_.pick(script);
    Out<stria_kernel> kernel;
    kernel.take(succeeded(Table::executor_table.prepare(executor, library, script.number(),
                                                        &kernel.handle)),
                kernels_);
  }

  struct Arguments {
    std::vector<Sized<stria_argument>> made;
    std::vector<const stria_argument*> list;
  };
  Arguments arguments(Script& script) {
    Arguments out;
    for (size_t count = script.below(4); count > 0; --count) {
      stria_argument argument{};
      argument.buffer = buffers_.empty() || script.byte() > 240 ? nullptr : buffers_.pick(script);
      argument.offset = script.number();
      out.made.push_back(maybe_cut(script, argument, offsetof(stria_argument, buffer) + 8));
      out.list.push_back(out.made.back().get());
    }
    return out;
  }
  void run(Script& script) {
    if (kernels_.empty()) return;
    Events list;
    const Arguments sent = arguments(script);
    const uint64_t count = waits(script, list);
    Out<stria_event> done;
    done.take(
        succeeded(Table::kernel_table.run(kernels_.pick(script), sent.list.data(), sent.list.size(),
                                          list.data(), count, &done.handle)),
        events_);
  }
  void submit(Script& script) {
    if (executors_.empty()) return;
    Events list;
    std::vector<Arguments> sent;
    std::vector<std::vector<uint32_t>> after;
    std::vector<Sized<stria_launch>> made;
    std::vector<const stria_launch*> launches;
    const size_t launch_count = kernels_.empty() ? 0 : script.below(5);
    sent.reserve(launch_count);
    after.reserve(launch_count);
    for (size_t n = 0; n < launch_count; ++n) {
      sent.push_back(arguments(script));
      after.emplace_back();
      for (size_t count = script.below(3); count > 0; --count)
        after.back().push_back(script.byte() > 250 ? UINT32_MAX : script.below(launch_count));
      stria_launch launch{};
      launch.kernel = kernels_.pick(script);
      launch.arguments = sent.back().list.data();
      launch.argument_count = sent.back().list.size();
      launch.after = after.back().data();
      launch.after_count = after.back().size();
      made.push_back(maybe_cut(script, launch, offsetof(stria_launch, kernel) + 8));
      launches.push_back(made.back().get());
    }
    const uint64_t count = waits(script, list);
    std::vector<stria_event*> each(launch_count, Out<stria_event>::unwritten());
    const bool wants_each = script.byte() % 2;
    stria_executor* executor = executors_.pick(script);
    Out<stria_event> done;
    const bool ok = done.take(succeeded(Table::executor_table.submit(
                                  executor, launches.data(), launch_count, list.data(), count,
                                  wants_each ? each.data() : nullptr, &done.handle)),
                              events_);
    for (stria_event* event : each) {
      STRIA_CHECK((ok && wants_each) || event == Out<stria_event>::unwritten(), "an unasked event");
      if (ok && wants_each) events_.add(event);
    }
  }
  void drain(Script& script) {
    if (executors_.empty()) return;
    (void)succeeded(Table::executor_table.flush(executors_.pick(script)));
    (void)succeeded(Table::executor_table.drain(executors_.pick(script), script.byte()));
  }

  void look_at_event(Script& script) {
    if (events_.empty()) return;
    stria_event* event = events_.pick(script);
    uint8_t done = 9;
    uint64_t nanoseconds = 9;
    stria_event* end = nullptr;
    switch (script.byte() % 6) {
      case 0: (void)succeeded(Table::event_table.wait(event, script.byte())); break;
      case 1:
        STRIA_CHECK(succeeded(Table::event_table.query(event, &done)) && done <= 1, "done {}",
                    done);
        break;
      case 2: (void)succeeded(Table::event_table.status(event)); break;
      case 3: (void)succeeded(Table::event_table.duration_ns(event, &nanoseconds)); break;
      case 4:
        (void)succeeded(Table::event_table.on_done(
            event,
            [](void*, const stria_error* error) {
              STRIA_CHECK(!error || error->code > STRIA_OK, "a failure without a code");
            },
            nullptr));
        break;
      case 5:
        if (succeeded(Table::event_table.end(event, &end))) events_.add(end);
        break;
    }
  }
  void signal(Script& script) {
    if (events_.empty()) return;
    stria_error error{};
    error.code = static_cast<stria_code>(script.byte()) - 100;
    error.message = script.text();
    error.native_message = script.text();
    error.release = [](stria_error*) {};
    const Sized<stria_error> sent = maybe_cut(script, error, offsetof(stria_error, code) + 8);
    const stria_error* cause = script.byte() % 2 ? sent.get() : nullptr;
    (void)succeeded(Table::event_table.signal(events_.pick(script), cause));
  }
  void release(Script& script) {
    switch (script.byte() % 6) {
      case 0: return libraries_.drop(script);
      case 1: return kernels_.drop(script);
      case 2: return executors_.drop(script);
      case 3: return compilers_.drop(script);
      // Handles that a mapping needs stay as long as it does.
      case 4: return mappings_.empty() ? buffers_.drop(script) : void();
      case 5: return mappings_.empty() ? events_.drop(script) : void();
    }
  }

  stria_device* device_;
  const bool limited_;
  std::vector<Mapping> mappings_;
  Pool<stria_compiler> compilers_{Table::compiler_table.release};
  Pool<stria_library> libraries_{Table::library_table.release};
  Pool<stria_executor> executors_{Table::executor_table.release};
  Pool<stria_kernel> kernels_{Table::kernel_table.release};
  Pool<stria_buffer> buffers_{Table::buffer_table.release};
  Pool<stria_event> events_{Table::event_table.release};
};

// The query as hosts of any version make it.
void query(Script& script) {
  stria_version_range abi{};
  abi.size = sizeof abi;
  abi.major = script.byte() % 2u;
  abi.minor_min = script.byte() % 4u;
  abi.minor_max = script.byte() % 4u;
  // Right where the ABI's is, so that one byte of the script decides about both: hosts of older
  // minors write the same Stripe, and newer ones as much newer Stripe.
  const auto stripe_minor = [](uint32_t minor) {
    return STRIA_STRIPE_MINOR + std::max<uint32_t>(minor, STRIA_ABI_MINOR) - STRIA_ABI_MINOR;
  };
  stria_version_range stripe = abi;
  stripe.major = abi.major - STRIA_ABI_MAJOR + STRIA_STRIPE_MAJOR;
  stripe.minor_min = stripe_minor(abi.minor_min);
  stripe.minor_max = stripe_minor(abi.minor_max);
  stria_host_info host{};
  host.size = sizeof host;
  host.abi = &abi;
  host.stripe = &stripe;
  const Sized<stria_host_info> sent = maybe_cut(script, host, offsetof(stria_host_info, abi));
  const uint64_t room =
      sizeof(stria_plugin_info) - script.byte() % (sizeof(stria_plugin_info) - 16 + 1) / 8 * 8;
  const std::unique_ptr<char[]> bytes(new char[room]());
  auto* plugin = reinterpret_cast<stria_plugin_info*>(bytes.get());
  plugin->size = room;
  (void)succeeded(stria_plugin_query(sent.get(), plugin));
}

}  // namespace

STRIA_PLUGIN(FuzzedDriver, "fuzzed", "1.0.0")

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static stria::hal::Services services(std::make_shared<stria::hal::Host>(host_functions(), 2));
  Script script(data, size);
  query(script);
  stria_driver_options options{};
  options.services = &services.table();
  options.options = script.text();
  const Sized<stria_driver_options> sent =
      maybe_cut(script, options, offsetof(stria_driver_options, directory));
  stria_driver* driver = nullptr;
  if (!succeeded(Table::driver_table.create(sent.get(), &driver))) return 0;
  (void)succeeded(
      Table::driver_table.enumerate(driver, [](void*, const stria_device_info*) {}, nullptr));
  stria_device* device = nullptr;
  const stria_string id = script.text(), device_options = script.text();
  STRIA_CHECK(!succeeded(Table::driver_table.open(driver, id, device_options, &device)),
              "a device that is not there");
  std::vector<std::unique_ptr<World>> worlds;
  for (const char* known : {"limited", "unlimited"}) {
    const stria_string name = {known, std::strlen(known)};
    STRIA_CHECK(succeeded(Table::driver_table.open(driver, name, {nullptr, 0}, &device)),
                "no device '{}'", known);
    worlds.push_back(std::make_unique<World>(device, worlds.empty()));
  }
  while (!script.empty()) worlds[script.byte() < 200 ? 0 : 1]->step(script);
  worlds.clear();
  Table::driver_table.shutdown(driver);
  return 0;
}
