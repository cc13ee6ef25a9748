// SPDX-License-Identifier: Apache-2.0
// The worker threads of a host: tasks that run once, and loops that idle workers join. Built for
// short launches: before they sleep, all workers look for work for 30 microseconds and as many as
// the last work wanted for a fifth of a millisecond; the caller of a loop never waits for a worker
// to wake, and a queued task goes before a share of a running loop, so that independent tasks
// overlap. Loops that run at once share the workers evenly.
//
// A thread that waits for a result lends itself: it takes its part in loops before any worker does,
// so that no thread has to wake when the result is there, and none keeps a core for looking that
// those at work want.
//
// However many threads an application brings, no more work than were asked for: its tasks run on
// workers, and workers join the loops of its threads only as far as those are too few. Workers run
// where the pool was made: an application that keeps one of its threads to a core does not keep the
// workers there.
//
// A system that refuses threads or memory ends nothing: what the workers that there are cannot take
// is done by whoever brings it. Workers have alternate signal stacks (signal_stack.h).
#pragma once

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory_resource>
#include <mutex>
#include <thread>
#include <vector>

namespace stria::hal {

class ThreadPool {
 public:
  // Starts a thread that runs `work`; throws std::system_error or std::bad_alloc if it cannot.
  using StartThread = std::function<std::thread(std::function<void()> work)>;

  // `concurrency`: threads that one loop uses at most, its caller included; at least 1. Workers
  // start at the first use; there are at least two, so that two tasks overlap on one core too, as
  // long as the system gives them. `start_thread` and `memory`, for the queues, are for tests.
  explicit ThreadPool(unsigned concurrency, StartThread start_thread = {},
                      std::pmr::memory_resource* memory = std::pmr::new_delete_resource());
  // Runs what is queued and joins.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned concurrency() const { return concurrency_; }
  // Calls task(state) once on a worker; tasks start in order. Thread-safe. Where there is no
  // worker, or no memory to queue it, the tasks that wait and this one are run here before post
  // returns; of posts from such a task, by the outermost one.
  void post(void (*task)(void*), void* state);
  // Calls body(state, begin, end) on pieces of at most `grain` items that cover 0..count-1 once;
  // returns when all are done. 0: chosen. Thread-safe, may be nested.
  void parallel_for(uint64_t count, uint64_t grain,
                    void (*body)(void* state, uint64_t begin, uint64_t end), void* state);
  // Lends the calling thread to loops of others, in the default floating-point environment, until
  // done(state) holds, which is asked between pieces and while there are none: then true. False if
  // there was nothing to do for a while: the thread had better sleep. A worker only waits so long.
  // Thread-safe; done must not call the pool.
  bool lend(uint8_t (*done)(void* state), void* state);
  // Waits until no task is queued or running. Not from a task.
  void quiesce();

 private:
  struct Task {
    void (*call)(void*);
    void* state;
  };
  struct Loop {
    uint64_t count;
    uint64_t grain;
    void (*body)(void*, uint64_t, uint64_t);
    void* state;
    std::atomic<uint64_t> next{0};
    std::atomic<unsigned> helpers{0};  // changed under mutex_
    bool exhausted() const { return next.load(std::memory_order_relaxed) >= count; }
    // Runs the next piece; false if there is none.
    bool run_piece();
  };

  // With mutex_ held: starts the workers that there should be, or as many as the system gives.
  void start();
  void work();
  // Runs the oldest task, of which there must be one. Lets the lock go meanwhile.
  void run_first(std::unique_lock<std::mutex>& lock);
  void run(const Task& task, std::unique_lock<std::mutex>& lock);
  // Runs what waits until nothing does, unless this thread is about that already.
  void run_all_here(std::unique_lock<std::mutex>& lock);
  // Takes pieces of a loop of another thread until there are none, or `leave()` holds. Lets the
  // lock go meanwhile.
  template <typename Leave>
  void help(Loop& loop, std::unique_lock<std::mutex>& lock, Leave leave);
  // Threads at work; with mutex_ held.
  unsigned busy() const { return running_tasks_ + helping_ + outside_; }
  // Whether one more thread may keep a core to look for work; with mutex_ held.
  bool room_to_look() const;
  // The one with the fewest threads of those that want more, if one more thread may work where
  // `taken` do; with mutex_ held.
  Loop* loop_to_join(size_t taken);
  // Announces new work: the queued tasks and a loop that wants `helpers`; with mutex_ held. Gives
  // how many sleeping workers to wake.
  unsigned announce(uint64_t helpers);
  // The same for a loop that a worker may join now, if there is one.
  unsigned announce_room();
  void wake(unsigned count);

  const unsigned concurrency_;
  const StartThread start_thread_;
  cpu_set_t cores_;           // of the thread that made the pool
  bool cores_known_ = false;  // a system of very many cores does not say
  std::mutex mutex_;
  std::condition_variable wake_;      // workers
  std::condition_variable finished_;  // callers of loops and quiesce
  std::pmr::deque<Task> tasks_;
  std::pmr::vector<Loop*> loops_;
  std::vector<std::thread> workers_;
  std::atomic<uint64_t> news_{0};  // counts announcements
  unsigned running_tasks_ = 0;
  unsigned helping_ = 0;  // workers and lent threads in loops of others
  unsigned outside_ = 0;  // threads that are no workers, in loops of their own
  // Workers without work: those that keep a core while they look for some, those that leave it to
  // others, and those that must be woken.
  unsigned spinning_ = 0;
  unsigned yielding_ = 0;
  unsigned sleeping_ = 0;
  unsigned lent_ = 0;    // threads that are lent and look for a loop: they go before workers
  uint64_t wanted_ = 0;  // workers, by the last announcement
  bool stop_ = false;
};

}  // namespace stria::hal
