// SPDX-License-Identifier: Apache-2.0
#include "suite/test_host.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "stria/hal/boundary/error.h"
#include "stria/runtime/host/host_functions.h"
#include "suite/patience.h"
#include "suite/rules.h"

namespace stria::conformance {
namespace {

// Lines of a plugin's log that are kept.
constexpr size_t kMaxLines = 1000;

// Which host a table of services belongs to. Never destroyed: a plugin's thread may still ask.
std::mutex& hosts_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::map<stria_host*, TestHost*>& hosts() {
  static auto* all = new std::map<stria_host*, TestHost*>;
  return *all;
}

// Of all hosts. Guarded by hosts_mutex().
std::string& misuse() {
  static auto* text = new std::string;
  return *text;
}

}  // namespace

struct TestHost::Slots {
  // Null after the host's end.
  static TestHost* of(stria_host* host) {
    const std::lock_guard lock(hosts_mutex());
    const auto it = hosts().find(host);
    return it == hosts().end() ? nullptr : it->second;
  }

  // Of those that go on as the product's own do.
  static TestHost* watched(stria_host* host, const char* service) {
    TestHost* self = of(host);
    if (!self) return nullptr;
    std::shared_ptr<const std::function<void(const char*)>> watcher;
    {
      const std::lock_guard lock(self->mutex_);
      watcher = self->watcher_;
    }
    if (watcher) (*watcher)(service);
    return self;
  }

  static void log(stria_host* host, stria_log_level level, stria_string message) {
    if (TestHost* self = watched(host, "log")) self->services_.table().log(host, level, message);
  }

  static void post(stria_host* host, void (*task)(void*), void* state) {
    TestHost* self = watched(host, "post");
    if (!self) return;
    self->note("post");
    self->services_.table().post(host, task, state);
  }

  static void parallel_for(stria_host* host, uint64_t count, uint64_t grain,
                           void (*body)(void*, uint64_t, uint64_t), void* state) {
    TestHost* self = of(host);
    if (!self) return;
    self->note("parallel_for");
    self->services_.table().parallel_for(host, count, grain, body, state);
  }

  static stria_error* program_create(stria_host* host, stria_string stripe,
                                     stria_host_program** program) {
    TestHost* self = of(host);
    if (!self) return hal::to_error(make_error(StatusCode::cancelled, "the host has ended"));
    self->note("program_create");
    return self->services_.table().program_create(host, stripe, program);
  }

  static stria_error* kernel_run(stria_host* host, stria_host_kernel* kernel,
                                 const stria_memory* arguments, uint64_t count) {
    TestHost* self = of(host);
    if (!self) return hal::to_error(make_error(StatusCode::cancelled, "the host has ended"));
    ++self->kernels_run_;
    self->note("kernel_run");
    return self->services_.table().kernel_run(host, kernel, arguments, count);
  }

  static void* allocate(stria_host* host, uint64_t bytes, uint64_t alignment) {
    TestHost* self = watched(host, "allocate");
    if (!self) return nullptr;
    self->note("allocate");
    if (int64_t left = self->allocations_left_; left > 0) {
      // The last one stays 1: from there on all fail.
      while (left > 1 && !self->allocations_left_.compare_exchange_weak(left, left - 1)) {
      }
      if (left == 1) {
        ++self->refused_;
        return nullptr;
      }
    }
    void* memory = self->services_.table().allocate(host, bytes, alignment);
    if (memory) {
      ++self->held_;
      const std::lock_guard lock(self->mutex_);
      self->blocks_[memory] = {bytes, alignment};
    }
    return memory;
  }

  static void free(stria_host* host, void* memory, uint64_t bytes, uint64_t alignment) {
    TestHost* self = watched(host, "free");
    if (!self || !memory) return;
    Block block{};
    {
      const std::lock_guard lock(self->mutex_);
      const auto it = self->blocks_.find(memory);
      if (it == self->blocks_.end())
        return misused("it gives back memory that it has not got from the host, or has given back");
      block = it->second;
      self->blocks_.erase(it);
    }
    --self->held_;
    if (bytes != block.bytes || alignment != block.alignment)
      misused(fmt::format("it gives back {} bytes of alignment {} as {} bytes of alignment {}",
                          block.bytes, block.alignment, bytes, alignment));
    self->services_.table().free(host, memory, block.bytes, block.alignment);
  }

  static void misused(std::string text) {
    const std::lock_guard lock(hosts_mutex());
    if (misuse().empty()) misuse() = mark_of(Rule::gives_back) + text;
  }

  static stria_error* refused() {
    return hal::to_error(make_error(StatusCode::unavailable, "the disk of the cache is full"));
  }
  static stria_error* cache_get(stria_host* host, stria_string key, stria_text_sink sink,
                                void* state) {
    TestHost* self = of(host);
    if (!self || self->cache_fails_) return refused();
    self->note("cache_get");
    return self->services_.table().cache_get(host, key, sink, state);
  }
  static stria_error* cache_put(stria_host* host, stria_string key, stria_string value) {
    TestHost* self = of(host);
    if (!self || self->cache_fails_) return refused();
    self->note("cache_put");
    return self->services_.table().cache_put(host, key, value);
  }
};

TestHost::TestHost(unsigned threads)
    : host_([&] {
        hal::HostFunctions functions;
        functions.interpret = interpret_for_plugin;
        functions.log = [this](LogLevel, std::string_view line) {
          const std::lock_guard lock(mutex_);
          if (log_.size() < kMaxLines) log_.emplace_back(line);
        };
        // A store as it is in a process that is the first of its machine.
        struct Store {
          std::mutex mutex;
          std::map<std::string, std::string, std::less<>> values;
        };
        auto store = std::make_shared<Store>();
        functions.cache_get = [store](std::string_view key) -> Result<std::optional<std::string>> {
          const std::lock_guard lock(store->mutex);
          const auto it = store->values.find(key);
          if (it == store->values.end()) return std::optional<std::string>();
          return std::optional<std::string>(it->second);
        };
        functions.cache_put = [store](std::string_view key, std::string_view value) {
          const std::lock_guard lock(store->mutex);
          store->values[std::string(key)] = std::string(value);
          return Status();
        };
        return std::make_shared<hal::Host>(std::move(functions), threads);
      }()),
      services_(host_),
      table_(services_.table()) {
  services_.set_plugin("under test");
  table_.log = Slots::log;
  table_.post = Slots::post;
  table_.parallel_for = Slots::parallel_for;
  table_.program_create = Slots::program_create;
  table_.kernel_run = Slots::kernel_run;
  table_.allocate = Slots::allocate;
  table_.free = Slots::free;
  table_.cache_get = Slots::cache_get;
  table_.cache_put = Slots::cache_put;
  const std::lock_guard lock(hosts_mutex());
  hosts()[table_.host] = this;
}

TestHost::~TestHost() {
  host_->quiesce();
  const std::lock_guard lock(hosts_mutex());
  hosts().erase(table_.host);
}

std::string TestHost::taken(int milliseconds) const {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms(milliseconds));
  while (true) {
    std::string now = services_.taken();
    if (now.empty() || std::chrono::steady_clock::now() >= end) return now;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void TestHost::watch(std::function<void(const char*)> watcher) {
  auto shared = watcher
                    ? std::make_shared<const std::function<void(const char*)>>(std::move(watcher))
                    : nullptr;
  const std::lock_guard lock(mutex_);
  watcher_ = std::move(shared);
}

std::set<std::string> TestHost::asked_from_now_on() {
  const std::lock_guard lock(mutex_);
  notes_ = true;
  return std::exchange(asked_, {});
}

void TestHost::note(const char* service) {
  if (!notes_) return;
  const std::lock_guard lock(mutex_);
  asked_.insert(service);
}

std::string TestHost::take_misuse() {
  const std::lock_guard lock(hosts_mutex());
  return std::exchange(misuse(), {});
}

void TestHost::start_threads() const {
  // As many tasks as there are threads, each of which waits for the others.
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    int here = 0;  // guarded by mutex
  };
  static constexpr auto kPatience = std::chrono::seconds(1);
  const auto meeting = std::make_shared<Meeting>();
  const int count = static_cast<int>(table_.concurrency(table_.host));
  using Task = std::function<void()>;
  for (int i = 0; i < count; ++i)
    table_.post(
        table_.host, [](void* task) { (*std::unique_ptr<Task>(static_cast<Task*>(task)))(); },
        new Task([meeting, count] {
          std::unique_lock lock(meeting->mutex);
          ++meeting->here;
          meeting->changed.notify_all();
          meeting->changed.wait_for(lock, kPatience, [&] { return meeting->here == count; });
        }));
  std::unique_lock lock(meeting->mutex);
  meeting->changed.wait_for(lock, kPatience, [&] { return meeting->here == count; });
}

std::vector<std::string> TestHost::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

}  // namespace stria::conformance
