// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/watchdog.h"

#include <algorithm>
#include <new>
#include <set>
#include <system_error>

#include "stria/hal/guard/signal_stack.h"

namespace stria::hal {

// What one thread is in, written by it and read by watchdogs. `number` is 0 while the rest changes:
// who reads the same number before and after the rest has read what belongs together, because what
// the writer stores later it releases later.
struct Watchdog::Thread {
  std::atomic<uint64_t> number{0};
  std::atomic<const Watchdog*> owner{nullptr};
  std::atomic<const std::string*> plugin{nullptr};
  std::atomic<const char*> slot{nullptr};
  std::atomic<bool> taken{false};
  Thread* next = nullptr;  // constant once it is in the list
  uint64_t last = 0;       // of the thread's own

  // In the list for ever: an ended thread's is taken by a new one.
  static std::atomic<Thread*> all;
  static Thread* take() noexcept;

  void write(const Entry& entry) noexcept {
    number.store(0, std::memory_order_release);
    owner.store(entry.owner, std::memory_order_release);
    plugin.store(entry.plugin, std::memory_order_release);
    slot.store(entry.slot, std::memory_order_release);
    number.store(entry.number, std::memory_order_release);
  }
  // Of the thread itself.
  Entry own() const noexcept {
    return {number.load(std::memory_order_relaxed), owner.load(std::memory_order_relaxed),
            plugin.load(std::memory_order_relaxed), slot.load(std::memory_order_relaxed)};
  }
  // Of another thread; number 0: it was just changing.
  Entry read() const noexcept {
    Entry entry;
    entry.number = number.load(std::memory_order_acquire);
    entry.owner = owner.load(std::memory_order_acquire);
    entry.plugin = plugin.load(std::memory_order_acquire);
    entry.slot = slot.load(std::memory_order_acquire);
    if (number.load(std::memory_order_relaxed) != entry.number) entry.number = 0;
    return entry;
  }
};

constinit std::atomic<Watchdog::Thread*> Watchdog::Thread::all{nullptr};

Watchdog::Thread* Watchdog::Thread::take() noexcept {
  static thread_local constinit Thread* mine = nullptr;
  if (mine != nullptr) return mine;
  struct GivesBack {
    Thread* thread = nullptr;
    ~GivesBack() {
      if (thread == nullptr) return;
      mine = nullptr;
      thread->taken.store(false, std::memory_order_release);
    }
  };
  static thread_local GivesBack at_end;
  for (Thread* free = all.load(std::memory_order_acquire); free != nullptr; free = free->next)
    if (!free->taken.exchange(true, std::memory_order_acq_rel)) {
      mine = free;
      break;
    }
  if (mine == nullptr) {
    mine = new (std::nothrow) Thread;
    if (mine == nullptr) return nullptr;  // this call is not watched
    mine->taken.store(true, std::memory_order_relaxed);
    mine->next = all.load(std::memory_order_relaxed);
    while (!all.compare_exchange_weak(mine->next, mine, std::memory_order_release,
                                      std::memory_order_relaxed)) {
    }
  }
  at_end.thread = mine;
  return mine;
}

Watchdog::Call::Call(const Watchdog* watchdog, const std::string* plugin,
                     const char* slot) noexcept {
  if (watchdog == nullptr || paused_) return;
  thread_ = Thread::take();
  if (thread_ == nullptr) return;
  outer_ = thread_->own();
  thread_->write({++thread_->last, watchdog, plugin, slot});
}

void Watchdog::Call::leave() noexcept { thread_->write(outer_); }

const std::string* Watchdog::name_for_ever(std::string_view text) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const names = new std::set<std::string, std::less<>>;
  std::lock_guard lock(*mutex);
  return &*names->emplace(text).first;
}

Watchdog::Watchdog(Duration limit, OnHang on_hang) : limit_(limit), on_hang_(std::move(on_hang)) {
  const Duration shortest = std::chrono::milliseconds(10);
  try {
    thread_ = std::thread([this, pause = std::max(shortest, limit_ / 10)] {
      const SignalStack stack;
      std::unique_lock lock(mutex_);
      while (!changed_.wait_for(lock, pause, [&] { return ends_; })) {
        lock.unlock();
        look();
        lock.lock();
      }
    });
  } catch (const std::system_error&) {
    // A system that refuses the thread ends nothing: the limits of waits and of loading stay.
  }
}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::look() {
  const Clock::time_point now = Clock::now();
  for (const Thread* thread = Thread::all.load(std::memory_order_acquire); thread != nullptr;
       thread = thread->next) {
    const Entry entry = thread->read();
    if (entry.number == 0 || entry.owner != this) {
      seen_.erase(thread);
      continue;
    }
    Seen& seen = seen_[thread];
    if (seen.number != entry.number) seen = {entry.number, now, false};
    const std::string_view slot = entry.slot;
    const bool waits = slot == "event.wait" || slot == "executor.drain";
    const Duration limit = waits ? 2 * limit_ + std::chrono::seconds(1) : limit_;
    if (seen.told || now - seen.since < limit) continue;
    seen.told = true;
    on_hang_(*entry.plugin, slot, std::chrono::duration<double>(now - seen.since).count());
  }
}

}  // namespace stria::hal
