// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/isolation/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "stria/experimental.h"
#include "stria/hal/guard/signal_stack.h"
#include "stria/hal/host/thread_pool.h"
#include "stria/hal/isolation/isolate.h"

namespace stria::hal::isolation {
namespace {

// Bit n: the plugin has the n-th slot of slots.def.
uint64_t slots_of(const Tables& tables) {
  stria_plugin_info nothing{};
  nothing.size = sizeof nothing;
  const Tables missing = normalise(nothing);
  uint64_t bits = 0;
  int n = 0;
#define SLOT(table, slot) bits |= uint64_t{tables.table.slot != missing.table.slot} << n++;
#include "stria/hal/boundary/slots.def"
  return bits;
}

}  // namespace

Server::Server(HostFunctions functions, int socket, int heap)
    : channel_(socket), heap_descriptor_(heap), functions_(std::move(functions)) {
  the_ = this;
  functions_.log = [this](LogLevel level, std::string_view text) {
    Log line;
    line.level = static_cast<int32_t>(level);
    line.text = text;
    channel_.send(encoded(line));
  };
}

void Server::serve() {
  try {
    std::thread([this] {
      const SignalStack stack;
      stand_by();
    }).detach();
  } catch (const std::system_error&) {
    // Without it nobody helps.
  }
  receive();
  stand_by();
}

void Server::receive() {
  // Who asks for one thing soon asks for the next; and says soon whether it waits.
  constexpr std::chrono::microseconds kMoment{50}, kSoon{5};
  try {
    while (next_messages(kMoment, false)) {
      do {
        handles_ = std::this_thread::get_id();
        while (const std::optional<Message> message = channel_.next()) handle(*message);
        handles_ = std::thread::id();
      } while (!tasks_.empty() && !waited_for_ && next_messages(kSoon, true));
      if (waited_for_ && stands_by_) {
        post_tasks(1);
        if (!help()) return;
      } else {
        post_tasks(0);
        if (waited_for_) drop(std::exchange(waited_for_, nullptr));
      }
    }
  } catch (const Malformed& error) {
    give_up(std::string("the host sends what is no message: ") + error.what());
  }
  ::_exit(0);
}

bool Server::next_messages(std::chrono::microseconds moment, bool briefly) {
  static const bool may_look = usable_cores() > 1;
  const auto end = Clock::now() + moment;
  while (may_look) {
    const Channel::Fill got = channel_.fill(false);
    if (got != Channel::Fill::nothing) return got == Channel::Fill::some;
    if (Clock::now() >= end) break;
  }
  return !briefly && channel_.fill(true) != Channel::Fill::gone;
}

void Server::post_tasks(size_t kept) {
  for (; tasks_.size() > kept; tasks_.pop_back())
    host_->pool().post(tasks_.back().run, tasks_.back().state);
}

bool Server::help() {
  uint64_t number = 0;
  {
    const std::lock_guard lock(role_mutex_);
    helping_since_ = last_help_ = Clock::now();
    number = ++helps_;
    if (sleeps_) role_changed_.notify_one();
  }
  // From here on these are another thread's, if that takes over.
  const std::shared_ptr<Watched> event = std::exchange(waited_for_, nullptr);
  const std::vector<Task> tasks = std::exchange(tasks_, {});
  for (const Task& task : tasks) task.run(task.state);
  const auto is_open = [&] {
    const std::lock_guard lock(mutex_);
    return watched_.count(static_cast<uintptr_t>(event->id)) > 0;
  };
  if (is_open()) {
    try {
      call("event.wait", state_->tables.event.wait, event->handle, UINT64_MAX);
    } catch (const sdk::Error&) {
      // What became of it, its callback tells.
    }
  }
  drop(event);
  const std::lock_guard lock(role_mutex_);
  if (helps_ != number) return false;
  helping_since_.reset();
  return true;
}

void Server::stand_by() {
  // Who helps is back after most kernels; messages that come meanwhile wait so long.
  constexpr std::chrono::milliseconds kPatience{1};
  // While one helps again and again, this thread looks by itself: to wake it costs more.
  constexpr std::chrono::milliseconds kActive{20};
  while (true) {
    {
      std::unique_lock lock(role_mutex_);
      stands_by_ = true;
      while (!helping_since_ || Clock::now() - *helping_since_ < kPatience) {
        sleeps_ = !helping_since_ && Clock::now() - last_help_ > kActive;
        if (sleeps_)
          role_changed_.wait(lock);
        else
          role_changed_.wait_for(lock, kPatience);
      }
      helping_since_.reset();
      ++helps_;
      stands_by_ = false;
      sleeps_ = false;
    }
    receive();
  }
}

void Server::give_up(const std::string& why) {
  Fault fault;
  fault.text = why;
  channel_.send(encoded(fault));
  channel_.wait_for_room(0);
  ::_exit(1);
}

void Server::handle(const Message& message) {
  const auto kind = static_cast<Kind>(message.header.kind);
  if (!state_ && kind != Kind::hello)
    throw Malformed(fmt::format("{} comes before the hello", slot_of(kind)));
  switch (kind) {
    case Kind::hello: return answer<Hello>(message, [this](const Hello& m) { return hello(m); });
    case Kind::ping: return answer<Ping>(message, [](const Ping&) {});
    case Kind::enumerate:
      return answer_later<Enumerate>(message, [this](const Enumerate&) { return enumerate(); });
    case Kind::open: return answer_later<Open>(message, [this](const Open& m) { return open(m); });
    case Kind::close: return answer_later<Close>(message, [this](const Close& m) { close(m); });
    case Kind::shutdown:
      return answer_later<Shutdown>(message, [this](const Shutdown&) {
        if (const Status ended = plugin_.shutdown(); !ended.ok()) fail_with(ended);
      });
    case Kind::estimate:
      return answer_later<Estimate>(message, [this](const Estimate& m) { return estimate(m); });
    case Kind::build: return build(decoded<Build>(message.body));
    case Kind::kernels:
      return answer<ListKernels>(message, [this](const ListKernels& m) { return kernels(m); });
    case Kind::release: return release(decoded<Release>(message.body));
    case Kind::bytes: return take_bytes(decoded<Bytes>(message.body));
    default: return handle_work(message);
  }
}

// ---- driver

Hello::Answer Server::hello(const Hello& message) {
  if (state_) throw Malformed("a second hello");
  Hello::Answer answer;
  if ((message.features & kSharedMemory) != 0 &&
      heap_.attach(heap_descriptor_, message.heap_bytes).ok()) {
    answer.features = kSharedMemory;
    functions_.allocate = [this](uint64_t bytes, uint64_t alignment) {
      return heap_.allocate(bytes, alignment);
    };
    functions_.free = [this](void* memory) { heap_.free(memory); };
  } else {
    heap_.drop();
  }
  LoadOptions options;
  options.driver_options = message.options;
  options.check_trust = message.check_trust;
  options.time_limit = std::chrono::milliseconds(message.step_limit_ms);
  options.reader = hal::Reader::author;  // whom it is for, the host decides
  functions_.take_task = [this](void (*task)(void*), void* state) {
    if (handles_ != std::this_thread::get_id() || !stands_by_) return false;
    tasks_.push_back({task, state});
    return true;
  };
  host_ = std::make_shared<Host>(functions_, message.threads);
  LoadResult loaded = load_plugin(message.directory, host_, options);
  if (!loaded.status().ok()) fail_with(loaded.status());
  plugin_ = loaded.plugin;
  state_ = plugin_.state().get();
  answer.slots = slots_of(state_->tables);
  return answer;
}

Devices Server::enumerate() {
  Received<DeviceInfo> got;
  call("driver.enumerate", state_->tables.driver.enumerate, state_->driver,
       Received<DeviceInfo>::sink<stria_device_info>, &got);
  Devices out;
  for (DeviceInfo& info : all_of(got)) out.all.push_back({std::move(info)});
  return out;
}

DeviceFields Server::open(const Open& message) {
  const Tables& tables = state_->tables;
  stria_device* device = nullptr;
  call("driver.open", tables.driver.open, state_->driver, to_c(message.id), to_c(message.options),
       &device);
  given("driver.open", device);
  try {
    Received<DeviceInfo> got;
    call("device.info", tables.device.info, device, Received<DeviceInfo>::sink<stria_device_info>,
         &got);
    std::vector<DeviceInfo> infos = all_of(got);
    given("device.info", infos.size() == 1 ? device : nullptr);
    made(message.device, Noun::device, device);
    return {std::move(infos[0])};
  } catch (const sdk::Error&) {
    call("device.release", tables.device.release, device);
    throw;
  }
}

void Server::close(const Close& message) {
  auto* const device = objects_.get<stria_device>(message.device, Noun::device);
  (void)objects_.take(message.device);
  call("device.release", state_->tables.device.release, device);
}

Estimate::Answer Server::estimate(const Estimate& message) {
  auto* const device = objects_.get<stria_device>(message.device, Noun::device);
  const auto* table = static_cast<const stria_estimate_table*>(
      plugin_.extension(STRIA_ESTIMATE, STRIA_ESTIMATE_VERSION));
  if (!table || table->size < sizeof *table || !table->estimate)
    throw sdk::Error(STRIA_UNIMPLEMENTED, "the plugin has no table " STRIA_ESTIMATE);
  stria_build_params program{};
  program.size = sizeof program;
  program.stripe = to_c(message.stripe);
  program.options = to_c(message.options);
  stria_estimate out{};
  out.size = sizeof out;
  call("estimate.estimate", table->estimate, device,
       static_cast<const stria_build_params*>(&program), &out);
  return {out.time_ns,     out.low_time_ns, out.high_time_ns,
          out.prologue_ns, out.energy_pj,   out.build_ns};
}

// ---- compiler and library

void Server::build(const Build& message) {
  try {
    auto* const compiler = objects_.get<stria_compiler>(message.compiler, Noun::compiler);
    const std::vector<stria_event*> waits = waits_of(message.waits);
    stria_build_params params{};
    params.size = sizeof params;
    params.stripe = to_c(message.stripe);
    params.options = to_c(message.options);
    stria_library* library = nullptr;
    stria_event* done = nullptr;
    call("compiler.build", state_->tables.compiler.build, compiler,
         static_cast<const stria_build_params*>(&params), waits.data(), uint64_t{waits.size()},
         &library, &done);
    given("compiler.build", done);
    made(message.library, Noun::library, given("compiler.build", library));
    watch(message.done, done);
  } catch (const sdk::Error& error) {
    objects_.add(message.library, {Noun::library, nullptr, error.outcome()});
    fail(message.done, error.outcome());
  }
}

Kernels Server::kernels(const ListKernels& message) {
  Received<KernelInfo> got;
  call("library.kernels", state_->tables.library.kernels,
       objects_.get<stria_library>(message.library, Noun::library),
       Received<KernelInfo>::sink<stria_kernel_info>, &got);
  Kernels out;
  for (KernelInfo& from : all_of(got)) {
    KernelFields& to = out.all.emplace_back();
    to.name = std::move(from.name);
    to.part = from.part;
    to.statement = from.statement;
    for (ArgumentInfo& argument : from.arguments) to.arguments.push_back({std::move(argument)});
    to.interpreted = std::move(from.interpreted);
  }
  return out;
}

// ---- any object

void Server::release(const Release& message) {
  const Objects::Object object = objects_.take(message.object);
  if (!object.handle) return;
  const Tables& tables = state_->tables;
  switch (object.noun) {
    case Noun::device: throw Malformed("a device is closed, not released");
    case Noun::compiler:
      return call("compiler.release", tables.compiler.release,
                  static_cast<stria_compiler*>(object.handle));
    case Noun::library:
      return call("library.release", tables.library.release,
                  static_cast<stria_library*>(object.handle));
    case Noun::kernel:
      return call("kernel.release", tables.kernel.release,
                  static_cast<stria_kernel*>(object.handle));
    case Noun::executor:
      return call("executor.release", tables.executor.release,
                  static_cast<stria_executor*>(object.handle));
    case Noun::buffer:
      return call("buffer.release", tables.buffer.release,
                  static_cast<stria_buffer*>(object.handle));
    case Noun::event: return release_event(message.object, object);
  }
}

}  // namespace stria::hal::isolation

namespace stria::hal {

int run_isolated(HostFunctions functions) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Where memory runs out, it is this process that goes.
  if (const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    (void)!::write(file, "1000", 4);
    ::close(file);
  }
  // What the application has left open is not ours.
  ::close_range(isolation::kHeap + 1, ~0U, 0);
  // Out of the way of plugins that close what they did not open; not for what they start.
  constexpr int kHigh = 200;
  const int socket = ::fcntl(isolation::kSocket, F_DUPFD_CLOEXEC, kHigh);
  if (socket < 0) return 1;
  ::close(isolation::kSocket);
  // Not destroyed: threads of the plugin's may use it to the end.
  auto& server = *new isolation::Server(std::move(functions), socket, isolation::kHeap);
  server.serve();
}

}  // namespace stria::hal
