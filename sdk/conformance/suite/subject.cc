// SPDX-License-Identifier: Apache-2.0
#include "suite/subject.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <exception>
#include <mutex>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/boundary/received.h"
#include "stria/hal/boundary/sized.h"
#include "stria/hal/isolation/isolate.h"
#include "stria/sdk/sanitizer.h"
#include "suite/case.h"
#include "suite/checked_tables.h"

namespace stria::conformance {

HostSays::HostSays()
    : abi{sizeof abi, nullptr, STRIA_ABI_MAJOR, STRIA_ABI_OLDEST_MINOR, STRIA_ABI_MINOR},
      stripe{sizeof stripe, nullptr, STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR, STRIA_STRIPE_MINOR},
      info{} {
  info.size = sizeof info;
  info.abi = &abi;
  info.stripe = &stripe;
  info.sanitizer = sdk::kSanitizer;
  info.page_size = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  info.build = hal::to_c("stria conform");
}

Subject::Subject(SubjectOptions options)
    : options_(std::move(options)), manifest_(hal::read_manifest(options_.directory)) {
  if (!manifest_.ok()) manifest_ = with_rule(manifest_.status(), Rule::manifest);
}

Subject::~Subject() = default;

std::filesystem::path Subject::library() const {
  return manifest_.ok() ? options_.directory / manifest_->library : std::filesystem::path();
}

Status Subject::failure(Slot slot, stria_error* error) {
  if (!error) return Status();
  return with_rule(
      hal::take_error(error, hal::Reader::author).with_context(std::string(name_of(slot))),
      rule_of(slot));
}

namespace {

// What event.on_done says of an event that is done: it calls back before it returns.
struct Called {
  bool was_called = false;
  bool is_well = false;
};
Called call_of(const stria_event_table& table, stria_event* event) {
  // A plugin that calls later, or twice, must find it then.
  static std::mutex mutex;
  static std::deque<Called> all;
  const std::lock_guard lock(mutex);
  Called& called = all.emplace_back();
  const auto callback = [](void* state, const stria_error* error) {
    *static_cast<Called*>(state) = {true, error == nullptr};
  };
  const Status asked = hal::take_error(table.on_done(event, callback, &called));
  return asked.ok() ? called : Called();
}

// What another slot says against the one that says that the event failed, or is late; "" if none.
std::string objection(const stria_event_table& table, stria_event* event, Slot slot, bool is_late) {
  if (slot == Slot::event_status) {
    const Called called = call_of(table, event);
    return called.was_called && called.is_well ? "event.on_done says that it is well" : "";
  }
  if (!is_late) return "";
  uint8_t is_done = 0;
  if (!hal::take_error(table.query(event, &is_done)).ok() || is_done != 1) return "";
  // It may have become done since.
  return hal::take_error(table.wait(event, 0)).code() == StatusCode::deadline_exceeded
             ? "event.query says that it is done"
             : "";
}

}  // namespace

Status Subject::of_event(const stria_event_table& table, const Event& event, Slot slot,
                         stria_error* error) {
  if (!error) return Status();
  const Status failed =
      hal::take_error(error, hal::Reader::author).with_context(std::string(name_of(slot)));
  const bool is_late = failed.code() == StatusCode::deadline_exceeded;
  if (const std::string but = objection(table, event.get(), slot, is_late); !but.empty())
    return with_rule(Status(failed.code(), failed.message() + "; " + but), rule_of(slot));
  // How the work ended is what event.status says.
  if (slot == Slot::event_wait && !is_late) return with_rule(failed, rule_of(slot));
  switch (event.maker()) {
    case Slot::count: return with_rule(failed, rule_of(slot));
    case Slot::compiler_build:
      if (!is_late) return with_rule(failed, Rule::builds_or_refuses);
      break;
    case Slot::event_signal: return with_rule(failed, rule_of(Slot::event_signal));
    case Slot::kernel_run:
    case Slot::executor_submit:
    case Slot::executor_copy:
    case Slot::executor_fill:
      if (is_late) return with_rule(failed, Rule::begins);
      break;
    default: break;
  }
  return with_rule(failed, is_late ? Rule::ends : rule_of(event.maker()));
}

Status Subject::load() {
  if (object_) return Status();
  STRIA_RETURN_IF_ERROR(manifest_.status());
  object_ = ::dlopen(library().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object_)
    return make_error(StatusCode::unavailable, "cannot load '{}': {}", library().string(),
                      hal::one_line(::dlerror()));
  query_ = reinterpret_cast<stria_plugin_query_function>(::dlsym(object_, "stria_plugin_query"));
  if (!query_)
    return make_error(StatusCode::incompatible, "'{}' has no symbol stria_plugin_query",
                      library().string());
  return Status();
}

Status Subject::ask() {
  if (asked_) return Status();
  STRIA_RETURN_IF_ERROR(options_.isolated ? manifest_.status() : load());
  const HostSays host;
  stria_plugin_info info{};
  info.size = sizeof info;
  stria_error* error = nullptr;
  try {
    error = options_.isolated ? hal::query_isolated(*manifest_, &host.info, &info)
                              : query_(&host.info, &info);
  } catch (const std::exception& thrown) {
    return broken_rule(Rule::no_exception, "stria_plugin_query lets an exception out ({})",
                       thrown.what());
  } catch (...) {
    return broken_rule(Rule::no_exception, "stria_plugin_query lets an exception out");
  }
  if (error) return hal::take_error(error, hal::Reader::author).with_context("stria_plugin_query");
  own_tables_ = hal::normalise(info);
  table_sizes_ = hal::sizes_of(info);
  abi_minor_ = info.abi_minor;
  get_extension_ = STRIA_SIZED(info, get_extension, nullptr);
  tables_ = checked(own_tables_, *options_.record);
  asked_ = true;
  return Status();
}

const void* Subject::extension(std::string_view name, uint32_t version) const {
  return get_extension_ ? get_extension_(hal::to_c(name), version) : nullptr;
}

Status Subject::begin() {
  if (driver_) return Status();
  STRIA_RETURN_IF_ERROR(ask());
  if (!host_) host_ = std::make_unique<TestHost>();
  STRIA_ASSIGN(driver_, make_driver(*host_));
  return Status();
}

Status Subject::open() {
  if (device_) return Status();
  STRIA_RETURN_IF_ERROR(begin());
  STRIA_ASSIGN(const std::vector<hal::DeviceInfo> all, list(driver_.get()));
  for (const hal::DeviceInfo& info : all)
    if (options_.device_id.empty() ? info.available : info.id == options_.device_id) {
      STRIA_ASSIGN(device_, open_device(driver_.get(), info.id));
      device_info_ = info;
      const std::string text = hal::one_line(shown_name(info.id + ": " + info.name, 250));
      std::memcpy(options_.record->device, text.c_str(), text.size() + 1);
      return Status();
    }
  return make_error(StatusCode::unavailable, "driver.enumerate lists no device that is available");
}

Status Subject::end() {
  device_.reset();
  driver_.reset();
  if (!host_) return Status();
  const std::string taken = host_->taken(2000);
  if (taken.empty()) return Status();
  return broken_rule(Rule::leaves_nothing,
                     "after driver.shutdown the plugin still holds {} of the host's", taken);
}

Result<std::filesystem::path> Subject::scratch() {
  const std::filesystem::path folder =
      options_.scratch / fmt::format("{}.{}", ::getpid(), next_scratch_++);
  std::error_code error;
  scratches_.push_back(folder);
  std::filesystem::create_directories(folder, error);
  if (error)
    return make_error(StatusCode::unavailable, "no folder '{}': {}", folder.string(),
                      error.message());
  return folder;
}

void Subject::remove_scratch() {
  // What cannot be removed now goes with the process's folder, or with the run's.
  std::error_code error;
  for (const std::filesystem::path& folder : scratches_) std::filesystem::remove_all(folder, error);
  scratches_.clear();
}

// ---- single slots

namespace {

Status gave_nothing(Slot slot) {
  return broken_rule(rule_of(slot), "{} says that it succeeded and gives nothing", name_of(slot));
}

}  // namespace

Result<Driver> Subject::make_driver(TestHost& host, std::string_view options) const {
  const std::string directory = options_.directory.string();
  stria_driver_options given{};
  given.size = sizeof given;
  given.directory = hal::to_c(directory);
  given.options = hal::to_c(options);
  given.services = &host.services();
  hal::IsolateOptions isolate;
  hal::IsolateExtension extension;
  if (options_.isolated) {
    isolate.program = hal::find_isolated();
    isolate.step_limit = scaled(isolate.step_limit);
    isolate.work_limit = scaled(isolate.work_limit);
    isolate.check_trust = false;  // a group of cases is about that
    extension.options = &isolate;
    given.next = &extension;
  }
  stria_driver* driver = nullptr;
  STRIA_SLOT(*this, driver, create, &given, &driver);
  if (!driver) return gave_nothing(Slot::driver_create);
  return Driver(driver, tables_.driver.shutdown);
}

Result<std::vector<hal::DeviceInfo>> Subject::list(stria_driver* driver) const {
  hal::Received<hal::DeviceInfo> got;
  STRIA_SLOT(*this, driver, enumerate, driver, hal::Received<hal::DeviceInfo>::sink, &got);
  if (!got.fault.ok()) return got.fault.with_context("driver.enumerate");
  return std::move(got.items);
}

Result<Device> Subject::open_device(stria_driver* driver, std::string_view id,
                                    std::string_view options) const {
  stria_device* device = nullptr;
  STRIA_SLOT(*this, driver, open, driver, hal::to_c(id), hal::to_c(options), &device);
  if (!device) return gave_nothing(Slot::driver_open);
  return Device(device, tables_.device.release);
}

Result<Executor> Subject::make_executor(std::string_view options) const {
  stria_executor* executor = nullptr;
  STRIA_SLOT(*this, device, create_executor, device(), hal::to_c(options), &executor);
  if (!executor) return gave_nothing(Slot::device_create_executor);
  return Executor(executor, tables_.executor.release);
}

Result<Compiler> Subject::make_compiler() const {
  stria_compiler* compiler = nullptr;
  STRIA_SLOT(*this, device, create_compiler, device(), &compiler);
  if (!compiler) return gave_nothing(Slot::device_create_compiler);
  return Compiler(compiler, tables_.compiler.release);
}

Result<Buffer> Subject::allocate(uint64_t bytes, std::string_view memory) const {
  stria_buffer_params params{};
  params.size = sizeof params;
  params.bytes = bytes;
  params.memory = hal::to_c(memory);
  stria_buffer* buffer = nullptr;
  STRIA_SLOT(*this, device, allocate, device(), &params, &buffer);
  if (!buffer) return gave_nothing(Slot::device_allocate);
  return Buffer(buffer, tables_.buffer.release);
}

Result<Event> Subject::host_event() const {
  stria_event* event = nullptr;
  STRIA_SLOT(*this, device, create_event, device(), &event);
  if (!event) return gave_nothing(Slot::device_create_event);
  return Event(event, tables_.event.release, Slot::event_signal);
}

Status Subject::signal(const Event& event, const Status& failure) const {
  stria_error* error = failure.ok() ? nullptr : hal::to_error(failure);
  stria_error* refused = tables_.event.signal(event.get(), error);
  if (error) error->release(error);
  return Subject::failure(Slot::event_signal, refused);
}

Result<Event> Subject::copy(const Executor& on, const Buffer& source, uint64_t source_offset,
                            const Buffer& target, uint64_t target_offset, uint64_t bytes,
                            std::span<stria_event* const> waits) const {
  stria_event* done = nullptr;
  STRIA_SLOT(*this, executor, copy, on.get(), source.get(), source_offset, target.get(),
             target_offset, bytes, waits.data(), waits.size(), &done);
  if (!done) return gave_nothing(Slot::executor_copy);
  return Event(done, tables_.event.release, Slot::executor_copy);
}

Result<Event> Subject::fill(const Executor& on, const Buffer& target, uint64_t offset,
                            uint64_t bytes, std::span<const std::byte> pattern,
                            std::span<stria_event* const> waits) const {
  stria_event* done = nullptr;
  STRIA_SLOT(*this, executor, fill, on.get(), target.get(), offset, bytes, pattern.data(),
             pattern.size(), waits.data(), waits.size(), &done);
  if (!done) return gave_nothing(Slot::executor_fill);
  return Event(done, tables_.event.release, Slot::executor_fill);
}

Status Subject::wait(const Event& event, int limit_ms) const {
  STRIA_RETURN_IF_ERROR(
      of_event(tables_.event, event, Slot::event_wait,
               tables_.event.wait(event.get(), static_cast<uint64_t>(limit_ms) * 1'000'000)));
  return of_event(tables_.event, event, Slot::event_status, tables_.event.status(event.get()));
}

Result<bool> Subject::is_done(const Event& event) const {
  uint8_t done = 2;
  STRIA_SLOT(*this, event, query, event.get(), &done);
  if (done > 1)
    return broken_rule(Rule::boolean, "event.query says {}, which is neither 0 nor 1", int{done});
  return done == 1;
}

Status Subject::write(const Buffer& buffer, uint64_t offset,
                      std::span<const std::byte> bytes) const {
  void* memory = nullptr;
  stria_event* ready = nullptr;
  STRIA_SLOT(*this, buffer, map_discard, buffer.get(), offset, bytes.size(), nullptr, 0, &memory,
             &ready);
  if (!ready) return gave_nothing(Slot::buffer_map_discard);
  const Event mapped(ready, tables_.event.release, Slot::buffer_map_discard);
  const Status status = wait(mapped);
  if (status.ok() && !bytes.empty()) {
    if (!memory) return gave_nothing(Slot::buffer_map_discard);
    std::memcpy(memory, bytes.data(), bytes.size());
  }
  stria_event* ended = nullptr;
  STRIA_SLOT(*this, buffer, unmap, buffer.get(), memory, &ended);
  if (!ended) return gave_nothing(Slot::buffer_unmap);
  const Event unmapped(ended, tables_.event.release, Slot::buffer_unmap);
  STRIA_RETURN_IF_ERROR(status);
  return wait(unmapped);
}

Result<Bytes> Subject::read(const Buffer& buffer, uint64_t offset, uint64_t bytes) const {
  void* memory = nullptr;
  stria_event* ready = nullptr;
  STRIA_SLOT(*this, buffer, map_current, buffer.get(), offset, bytes, nullptr, 0, &memory, &ready);
  if (!ready) return gave_nothing(Slot::buffer_map_current);
  const Event mapped(ready, tables_.event.release, Slot::buffer_map_current);
  const Status status = wait(mapped);
  Bytes out(bytes);
  if (status.ok() && bytes > 0) {
    if (!memory) return gave_nothing(Slot::buffer_map_current);
    std::memcpy(out.data(), memory, bytes);
  }
  stria_event* ended = nullptr;
  STRIA_SLOT(*this, buffer, unmap, buffer.get(), memory, &ended);
  if (!ended) return gave_nothing(Slot::buffer_unmap);
  const Event unmapped(ended, tables_.event.release, Slot::buffer_unmap);
  STRIA_RETURN_IF_ERROR(status);
  STRIA_RETURN_IF_ERROR(wait(unmapped));
  return out;
}

// ---- bytes

Bytes pattern(size_t count, uint32_t seed) {
  Bytes out(count);
  uint32_t x = seed * 2654435761u + 12345u;
  for (std::byte& b : out) {
    x = x * 1664525u + 1013904223u;
    b = static_cast<std::byte>(x >> 24);
  }
  return out;
}

std::string difference(std::span<const std::byte> got, std::span<const std::byte> expected) {
  if (got.size() != expected.size())
    return fmt::format("{} bytes, not {}", got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i])
      return fmt::format("byte {} of {} is {}, not {}", i, got.size(), std::to_integer<int>(got[i]),
                         std::to_integer<int>(expected[i]));
  return "";
}

}  // namespace stria::conformance
