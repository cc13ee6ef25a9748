// SPDX-License-Identifier: Apache-2.0
// The host's services in C++: threads, memory, log, cache, and the interpreter.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stria/plugin.h"
#include "stria/sdk/descriptor_waits.h"
#include "stria/sdk/error.h"
#include "stria/sdk/info.h"
#include "stria/sdk/object.h"

namespace stria::sdk {

// Waits on `condition` until `done()`; false after `timeout_ns` (UINT64_MAX: no limit).
template <typename Done>
bool wait_for(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
              uint64_t timeout_ns, Done done) {
  // Beyond a year a limit is none; so no clock overflows.
  constexpr uint64_t kYear = uint64_t{366} * 24 * 3600 * 1'000'000'000;
  if (timeout_ns >= kYear) {
    condition.wait(lock, done);
    return true;
  }
  return condition.wait_for(lock, std::chrono::nanoseconds(timeout_ns), done);
}

// Counts work in flight, so that one can wait for its end. May count into a parent too, which has
// no parent itself.
class Tracker : public Object {
  // Work is counted by eras: one who waits for the work of so far begins another, so that what is
  // begun later does not keep him. To count takes no lock.
  struct Era {
    std::atomic<int64_t> count{0};
    uint64_t number = 0;  // guarded by mutex_
  };

 public:
  explicit Tracker(Ref<Tracker> parent = {}) : parent_(std::move(parent)) {
    eras_.push_back(std::make_unique<Era>());
    current_.store(eras_.back().get(), std::memory_order_release);
  }
  // What add() gives, and remove() wants back.
  class Ticket {
    friend class Tracker;
    Era* own_ = nullptr;
    Era* parents_ = nullptr;
  };
  Ticket add() {
    Ticket ticket;
    ticket.own_ = count_one();
    if (parent_) ticket.parents_ = parent_->count_one();
    return ticket;
  }
  void remove(const Ticket& ticket) {
    Ref<Tracker> keep(this);
    uncount_one(*ticket.own_);
    if (parent_) parent_->uncount_one(*ticket.parents_);
  }
  // False after `timeout_ns`. What is begun meanwhile is waited for as well.
  bool wait_for_none(uint64_t timeout_ns) {
    std::unique_lock<std::mutex> lock(mutex_);
    return wait_for(changed_, lock, timeout_ns, [this] { return none_up_to(UINT64_MAX); });
  }
  // Until all work that was begun before the call has ended; false after `timeout_ns`.
  bool wait_for_earlier(uint64_t timeout_ns) {
    std::unique_lock<std::mutex> lock(mutex_);
    uint64_t last = eras_.back()->number;
    if (eras_.back()->count.load(std::memory_order_acquire) != 0)
      begin_era();
    else if (last-- == 0)
      return true;
    return wait_for(changed_, lock, timeout_ns, [this, last] { return none_up_to(last); });
  }

 private:
  Era* count_one() {
    Era* era = current_.load(std::memory_order_acquire);
    era->count.fetch_add(1, std::memory_order_relaxed);
    return era;
  }
  void uncount_one(Era& era) {
    if (era.count.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    std::lock_guard<std::mutex> lock(mutex_);
    changed_.notify_all();
  }
  // In the order of eras: work that ends begins other work in later ones only.
  bool none_up_to(uint64_t last) const {
    for (const auto& era : eras_) {
      if (era->number > last) break;
      if (era->count.load(std::memory_order_acquire) != 0) return false;
    }
    return true;
  }
  // One that has ended begins anew; whoever counts into it at this moment has begun just now.
  void begin_era() {
    const uint64_t number = eras_.back()->number + 1;
    const auto ended = std::find_if(eras_.begin(), eras_.end(), [](const auto& era) {
      return era->count.load(std::memory_order_acquire) == 0;
    });
    if (ended == eras_.end())
      eras_.push_back(std::make_unique<Era>());
    else
      std::rotate(ended, ended + 1, eras_.end());
    eras_.back()->number = number;
    current_.store(eras_.back().get(), std::memory_order_release);
  }

  Ref<Tracker> parent_;
  std::atomic<Era*> current_{nullptr};  // eras_.back()
  std::mutex mutex_;
  std::condition_variable changed_;         // an era has ended
  std::vector<std::unique_ptr<Era>> eras_;  // by number; guarded by mutex_
};

// One per driver; outlives everything the driver makes. All functions may be called from any
// thread.
class Host {
 public:
  explicit Host(const stria_host_services& services) {
    std::memcpy(static_cast<void*>(&services_), &services,
                std::min<size_t>(services.size, sizeof services_));
    // What came later this plugin gets on without.
    if (services.size < offsetof(stria_host_services, lend))
      throw Error(STRIA_INCOMPATIBLE,
                  "the host offers fewer services than this plugin was built for");
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const stria_host_services& services() const { return services_; }
  // What is in flight in this driver.
  const Ref<Tracker>& tracker() const { return tracker_; }
  // What of that waits for file descriptors; the driver's shutdown ends those waits.
  DescriptorWaits& descriptor_waits() const { return *descriptor_waits_; }

  void log(stria_log_level level, std::string_view message) const {
    services_.log(services_.host, level, to_c(message));
  }

  // Throws STRIA_OUT_OF_MEMORY.
  void* allocate(uint64_t bytes, uint64_t alignment) const {
    void* memory = services_.allocate(services_.host, bytes, alignment);
    if (!memory)
      throw Error(STRIA_OUT_OF_MEMORY, "no host memory for " + std::to_string(bytes) + " bytes");
    return memory;
  }
  void free(void* memory, uint64_t bytes, uint64_t alignment) const {
    services_.free(services_.host, memory, bytes, alignment);
  }

  uint32_t concurrency() const { return services_.concurrency(services_.host); }

  // Calls body(begin, end) on pieces of at most `grain` indices (0: the host picks), which cover
  // 0..count-1, on this thread and on idle workers. After all pieces, the first exception of a
  // piece is thrown again here.
  template <typename Body>
  void parallel_for(uint64_t count, uint64_t grain, Body&& body) const {
    struct State {
      std::remove_reference_t<Body>* body = nullptr;
      std::atomic<bool> failed{false};
      std::exception_ptr error;
    } state;
    state.body = &body;
    services_.parallel_for(
        services_.host, count, grain,
        [](void* raw, uint64_t begin, uint64_t end) {
          auto& shared = *static_cast<State*>(raw);
          try {
            (*shared.body)(begin, end);
          } catch (...) {
            if (!shared.failed.exchange(true)) shared.error = std::current_exception();
          }
        },
        &state);
    if (state.error) std::rethrow_exception(state.error);
  }

  // Whether there is `lend`, which hosts before ABI 0.3 do not have.
  bool lends() const { return services_.lend != nullptr; }
  // Lends the calling thread to loops of others until done(state), and returns true. `done` must
  // not throw, and calls nothing of the host. False if there was nothing to do for a while: the
  // thread had better sleep.
  bool lend(uint8_t (*done)(void*), void* state) const {
    return services_.lend(services_.host, done, state) != 0;
  }

  // task(state) once on a worker thread, soon. It must not throw.
  void post(void (*task)(void*), void* state) const { services_.post(services_.host, task, state); }

  std::optional<std::string> cache_get(std::string_view key) const {
    std::optional<std::string> value;
    check(services_.cache_get(
        services_.host, to_c(key),
        [](void* state, stria_string, stria_string text) {
          *static_cast<std::optional<std::string>*>(state) = std::string(view_of(text));
        },
        &value));
    return value;
  }
  void cache_put(std::string_view key, std::string_view value) const {
    check(services_.cache_put(services_.host, to_c(key), to_c(value)));
  }

 private:
  stria_host_services services_{};
  Ref<Tracker> tracker_ = make<Tracker>();
  std::unique_ptr<DescriptorWaits> descriptor_waits_ = std::make_unique<DescriptorWaits>();
};

// A kernel that the host interprets.
class HostKernel {
 public:
  HostKernel(const Host& host, stria_host_kernel* kernel) : host_(host), kernel_(kernel) {}
  HostKernel(const HostKernel&) = delete;
  HostKernel& operator=(const HostKernel&) = delete;
  ~HostKernel() { host_.services().kernel_release(host_.services().host, kernel_); }
  void run(const stria_memory* arguments, uint64_t count) const {
    check(host_.services().kernel_run(host_.services().host, kernel_, arguments, count));
  }

 private:
  const Host& host_;
  stria_host_kernel* kernel_;
};

// Device Stripe that the host has read: one kernel per statement of prologue and main.
class HostProgram {
 public:
  HostProgram(const Host& host, std::string_view stripe) : host_(host) {
    check(host.services().program_create(host.services().host, to_c(stripe), &program_));
  }
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;
  ~HostProgram() { host_.services().program_release(host_.services().host, program_); }

  std::vector<KernelInfo> kernels() const {
    std::vector<KernelInfo> out;
    check(host_.services().program_kernels(
        host_.services().host, program_,
        [](void* state, const stria_kernel_info* info) {
          static_cast<std::vector<KernelInfo>*>(state)->push_back(copy_of(*info));
        },
        &out));
    return out;
  }
  stria_host_kernel* prepare(uint64_t index) const {
    stria_host_kernel* kernel = nullptr;
    check(host_.services().kernel_create(host_.services().host, program_, index, &kernel));
    return kernel;
  }

 private:
  const Host& host_;
  stria_host_program* program_ = nullptr;
};

}  // namespace stria::sdk
