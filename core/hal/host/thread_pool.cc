// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/host/thread_pool.h"

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include "stria/hal/guard/signal_stack.h"

namespace stria::hal {
namespace {

// Longer than the gap between two kernels of a chain. So long a thread that waits keeps its core.
constexpr std::chrono::microseconds kSpin{30};
// Kernels shorter than this are over before a thread that waits for one lends itself.
constexpr std::chrono::microseconds kShort{2};
// Longer than a thread that waits for a result takes to wake and to bring the next work: a core
// that sleeps in a virtual machine wakes after about 50 microseconds, and each worker that fell
// asleep meanwhile costs as much again. Shorter than anyone would notice on a battery; and after
// kSpin who else wants the core gets it.
constexpr std::chrono::microseconds kLook{200};

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Calls `done()` until it holds or `time` is over, and `between` now and then, when the clock is
// read too. Gives whether it holds.
template <typename Done, typename Between>
bool wait_for(Done done, std::chrono::microseconds time, Between between) {
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      pause();
    }
    between();
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// For kSpin.
template <typename Done>
bool spin_until(Done done) {
  return wait_for(done, kSpin, [] {});
}

// For the rest of kLook, leaving the core to others.
template <typename Done>
bool yield_until(Done done) {
  return wait_for(done, kLook - kSpin, [] { std::this_thread::yield(); });
}

// Two tasks must be able to overlap: they may wait for each other.
constexpr unsigned kLeastWorkers = 2;

// The pool whose tasks this thread runs for want of workers.
thread_local const ThreadPool* run_here = nullptr;
// The pool whose worker this thread is.
thread_local const ThreadPool* works_for = nullptr;

// Meanwhile the calling thread is a worker of a pool, with the arithmetic of one.
class AsWorker {
 public:
  explicit AsWorker(const ThreadPool& pool) : before_(std::exchange(works_for, &pool)) {
    (void)std::fegetenv(&environment_);
    (void)std::fesetenv(FE_DFL_ENV);
  }
  ~AsWorker() {
    works_for = before_;
    (void)std::fesetenv(&environment_);
  }
  AsWorker(const AsWorker&) = delete;
  AsWorker& operator=(const AsWorker&) = delete;

 private:
  const ThreadPool* const before_;
  std::fenv_t environment_;
};

}  // namespace

ThreadPool::ThreadPool(unsigned concurrency, StartThread start_thread,
                       std::pmr::memory_resource* memory)
    : concurrency_(std::max(1u, concurrency)),
      start_thread_(std::move(start_thread)),
      tasks_(memory),
      loops_(memory) {
  CPU_ZERO(&cores_);
  cores_known_ = sched_getaffinity(0, sizeof cores_, &cores_) == 0;
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    announce(0);
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::start() {
  // Beyond the least number more workers are a matter of speed: the system is not asked again.
  if (workers_.size() >= kLeastWorkers) return;
  const unsigned count = std::max(kLeastWorkers, concurrency_);
  auto main = [this] {
    // A thread begins where the one that starts it may run, which can be one core of many. If the
    // cores were taken away meanwhile, that stays.
    if (cores_known_) (void)sched_setaffinity(0, sizeof cores_, &cores_);
    // It also begins with the rounding and the treatment of denormal numbers of that thread.
    (void)std::fesetenv(FE_DFL_ENV);
    const SignalStack stack;
    work();
  };
  try {
    workers_.reserve(count);
    while (workers_.size() < count)
      workers_.push_back(start_thread_ ? start_thread_(main) : std::thread(main));
  } catch (const std::system_error&) {
    // No thread now: those that there are do the work, and the next post tries again.
  } catch (const std::bad_alloc&) {
  }
}

unsigned ThreadPool::announce(uint64_t helpers) {
  news_.fetch_add(1, std::memory_order_release);
  // Threads that are lent come first, and at once.
  wanted_ = tasks_.size() + helpers - std::min<uint64_t>(helpers, lent_);
  // Workers that spin come at once. Those that yield come as soon as they have a core, which can be
  // a time slice later: a sleeping one is woken as well, for who wakes may get a core sooner.
  return wanted_ <= spinning_ ? 0 : std::min<uint64_t>(wanted_ - spinning_, sleeping_);
}

void ThreadPool::wake(unsigned count) {
  for (unsigned i = 0; i < count; ++i) wake_.notify_one();
}

void ThreadPool::post(void (*task)(void*), void* state) {
  unsigned sleepers;
  {
    std::unique_lock lock(mutex_);
    start();
    while (true) {
      try {
        tasks_.push_back({task, state});
        break;
      } catch (const std::bad_alloc&) {
        // Tasks start in order: those that wait go first.
        if (tasks_.empty()) return run({task, state}, lock);
        run_first(lock);
      }
    }
    if (workers_.empty()) return run_all_here(lock);
    sleepers = announce(0);
  }
  wake(sleepers);
}

void ThreadPool::run(const Task& task, std::unique_lock<std::mutex>& lock) {
  ++running_tasks_;
  lock.unlock();
  task.call(task.state);
  lock.lock();
  --running_tasks_;
  if (tasks_.empty() && running_tasks_ == 0) finished_.notify_all();
}

void ThreadPool::run_first(std::unique_lock<std::mutex>& lock) {
  const Task task = tasks_.front();
  tasks_.pop_front();
  run(task, lock);
}

void ThreadPool::run_all_here(std::unique_lock<std::mutex>& lock) {
  if (run_here == this) return;
  const ThreadPool* const before = std::exchange(run_here, this);
  while (!tasks_.empty()) run_first(lock);
  run_here = before;
}

bool ThreadPool::Loop::run_piece() {
  const uint64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
  if (begin >= count) return false;
  body(state, begin, begin + std::min(grain, count - begin));
  return true;
}

template <typename Leave>
void ThreadPool::help(Loop& loop, std::unique_lock<std::mutex>& lock, Leave leave) {
  loop.helpers.fetch_add(1, std::memory_order_relaxed);
  ++helping_;
  lock.unlock();
  while (!leave() && loop.run_piece()) {
  }
  lock.lock();
  --helping_;
  loop.helpers.fetch_sub(1, std::memory_order_release);
  finished_.notify_all();
}

void ThreadPool::parallel_for(uint64_t count, uint64_t grain,
                              void (*body)(void*, uint64_t, uint64_t), void* state) {
  if (count == 0) return;
  // Eight pieces per thread even out unequal speeds at little cost.
  if (grain == 0) grain = std::max<uint64_t>(1, count / (uint64_t{concurrency_} * 8));
  // Keeps next + grain far from overflow however many threads overshoot.
  grain = std::min(grain, count);
  Loop loop{count, grain, body, state};
  if (concurrency_ == 1 || count <= grain) {
    while (loop.run_piece()) {
    }
    return;
  }
  const bool outside = works_for != this;
  unsigned sleepers;
  {
    std::lock_guard lock(mutex_);
    start();
    outside_ += outside ? 1 : 0;
    try {
      loops_.push_back(&loop);
      // One piece per helper at least, besides the caller's first.
      sleepers = announce(std::min<uint64_t>((count - 1) / grain, concurrency_ - 1));
    } catch (const std::bad_alloc&) {
      sleepers = 0;  // nobody can join: the caller does all of it
    }
  }
  wake(sleepers);
  while (loop.run_piece()) {
  }
  sleepers = 0;
  {
    std::lock_guard lock(mutex_);
    std::erase(loops_, &loop);
    outside_ -= outside ? 1 : 0;
    // A worker that was one too many is so no more.
    if (outside) sleepers = announce_room();
  }
  wake(sleepers);
  // Nobody joins any more; helpers that did are on their last piece.
  auto alone = [&] { return loop.helpers.load(std::memory_order_acquire) == 0; };
  if (spin_until(alone) || yield_until(alone)) {
    // The last helper lowers the count with the mutex held: let it go before `loop` dies.
    std::lock_guard lock(mutex_);
    return;
  }
  std::unique_lock lock(mutex_);
  finished_.wait(lock, alone);
}

ThreadPool::Loop* ThreadPool::loop_to_join(size_t taken) {
  if (taken >= concurrency_) return nullptr;
  Loop* best = nullptr;
  unsigned fewest = concurrency_ - 1;
  for (Loop* loop : loops_) {
    const unsigned helpers = loop->helpers.load(std::memory_order_relaxed);
    if (loop->exhausted() || helpers >= fewest) continue;
    best = loop;
    fewest = helpers;
  }
  return best;
}

unsigned ThreadPool::announce_room() { return loop_to_join(busy()) ? announce(1) : 0; }

bool ThreadPool::room_to_look() const {
  return busy() + lent_ + spinning_ + yielding_ < std::max(kLeastWorkers, concurrency_);
}

bool ThreadPool::lend(uint8_t (*done)(void*), void* state) {
  const auto over = [&] { return done(state) != 0; };
  // A worker that waits is at work; with loops it might never come back to what it does.
  if (works_for == this || concurrency_ == 1) return spin_until(over);
  // Short work ends sooner than a thread is counted in and out, or put to sleep for this one.
  if (wait_for(over, kShort, [] {})) return true;
  const AsWorker as_worker(*this);
  std::unique_lock lock(mutex_);
  bool ended = false;
  while (!(ended = over())) {
    const uint64_t seen = news_.load(std::memory_order_relaxed);
    const auto changed = [&] { return news_.load(std::memory_order_acquire) != seen; };
    const auto leave = [&] { return changed() || over(); };
    // Tasks go first, but only to workers.
    if (Loop* loop = loop_to_join(busy() + tasks_.size())) {
      help(*loop, lock, leave);
      continue;
    }
    const bool alone = !room_to_look();
    ++lent_;
    lock.unlock();
    const bool left = spin_until(leave) || (!alone && yield_until(leave));
    lock.lock();
    --lent_;
    if (!left && !changed()) break;
  }
  // A worker that left a loop to this thread, or was kept from it, comes now.
  const unsigned sleepers = announce_room();
  lock.unlock();
  wake(sleepers);
  return ended;
}

void ThreadPool::work() {
  works_for = this;
  std::unique_lock lock(mutex_);
  bool worked = false;  // just now
  while (true) {
    const uint64_t seen = news_.load(std::memory_order_relaxed);
    if (!tasks_.empty()) {
      run_first(lock);
      worked = true;
      continue;
    }
    const auto changed = [&] { return news_.load(std::memory_order_acquire) != seen; };
    // Threads that are lent have heard of a loop when this one has; but nobody tells them that this
    // one is free again.
    if (Loop* loop = loop_to_join(busy() + (worked ? 0 : lent_))) {
      // It leaves at the next announcement: a task goes first, and a new loop gets its share.
      help(*loop, lock, changed);
      worked = true;
      continue;
    }
    worked = false;
    if (stop_) return;
    // Announcements are made with the lock held, and so is each step to the next way of waiting,
    // after a last look: none is missed between two of them.
    const auto look = [&](unsigned& count, auto until) {
      ++count;
      lock.unlock();
      (void)until(changed);
      lock.lock();
      --count;
      return changed();
    };
    // A core that those at work want is left to them.
    if (room_to_look() && look(spinning_, [](auto done) { return spin_until(done); })) continue;
    // Not more than the next work is likely to want: what the last one did, or two tasks at once.
    if (room_to_look() && yielding_ < std::max<uint64_t>(kLeastWorkers, wanted_) &&
        look(yielding_, [](auto done) { return yield_until(done); }))
      continue;
    ++sleeping_;
    wake_.wait(lock, changed);
    --sleeping_;
  }
}

void ThreadPool::quiesce() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return tasks_.empty() && running_tasks_ == 0; });
}

}  // namespace stria::hal
