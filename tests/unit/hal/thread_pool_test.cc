// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/host/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory_resource>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/error.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/host/cores.h"
#include "stria/hal/host/host.h"
#include "stria/hal/host/services.h"

namespace stria::hal {
namespace {

// Calls `body` through the pool's C form.
template <typename Body>
void parallel_for(ThreadPool& pool, uint64_t count, uint64_t grain, Body body) {
  pool.parallel_for(
      count, grain,
      [](void* state, uint64_t begin, uint64_t end) { (*static_cast<Body*>(state))(begin, end); },
      &body);
}

TEST(ThreadPool, LoopsCoverEveryItemOnce) {
  for (unsigned threads : {1u, 2u, 5u}) {
    ThreadPool pool(threads);
    for (uint64_t count : {0, 1, 2, 7, 64, 1000, 100'003}) {
      for (uint64_t grain : {uint64_t{0}, uint64_t{1}, uint64_t{13}, UINT64_MAX}) {
        if (grain == 1 && count > 10'000) continue;
        std::vector<std::atomic<int>> hits(count);
        parallel_for(pool, count, grain, [&](uint64_t begin, uint64_t end) {
          EXPECT_LT(begin, end);
          EXPECT_TRUE(grain == 0 || end - begin <= grain);
          for (uint64_t i = begin; i < end; ++i) ++hits[i];
        });
        for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(hits[i].load(), 1) << count << " " << grain;
      }
    }
  }
}

TEST(ThreadPool, LoopsNest) {
  ThreadPool pool(3);
  std::atomic<int> sum{0};
  parallel_for(pool, 10, 1, [&](uint64_t, uint64_t) {
    parallel_for(pool, 10, 1,
                 [&](uint64_t begin, uint64_t end) { sum += static_cast<int>(end - begin); });
  });
  EXPECT_EQ(sum, 100);
}

TEST(ThreadPool, TwoTasksRunAtOnceEvenOnOneCore) {
  ThreadPool pool(1);
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    int arrived = 0;
  } meeting;
  auto meet = [](void* state) {
    auto& here = *static_cast<Meeting*>(state);
    std::unique_lock lock(here.mutex);
    ++here.arrived;
    here.changed.notify_all();
    here.changed.wait(lock, [&] { return here.arrived >= 2; });
  };
  pool.post(meet, &meeting);
  pool.post(meet, &meeting);
  pool.quiesce();
  EXPECT_EQ(meeting.arrived, 2);
}

TEST(ThreadPool, TasksAndLoopsOfManyThreads) {
  ThreadPool pool(4);
  std::atomic<int> tasks{0};
  std::atomic<uint64_t> items{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        pool.post([](void* state) { ++*static_cast<std::atomic<int>*>(state); }, &tasks);
        parallel_for(pool, 50, 3, [&](uint64_t begin, uint64_t end) { items += end - begin; });
      }
    });
  for (std::thread& thread : threads) thread.join();
  pool.quiesce();
  EXPECT_EQ(tasks, 1800);
  EXPECT_EQ(items, 90'000u);
}

// An application with many threads of its own: they bring work and wait for it.
TEST(ThreadPool, NoMoreThreadsWorkThanWereAskedFor) {
  ThreadPool pool(2);
  struct Count {
    ThreadPool* pool;
    std::atomic<int> now{0}, most{0}, done{0};
    static void run(void* state) {
      auto& count = *static_cast<Count*>(state);
      parallel_for(*count.pool, 40, 1, [&](uint64_t, uint64_t) {
        const int now = ++count.now;
        int most = count.most;
        while (now > most && !count.most.compare_exchange_weak(most, now)) {
        }
        std::this_thread::yield();
        --count.now;
      });
      ++count.done;
    }
  } count{&pool};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) pool.post(Count::run, &count);
    });
  for (std::thread& thread : threads) thread.join();
  pool.quiesce();
  EXPECT_EQ(count.done, 400);
  EXPECT_LE(count.most, 2);
}

// Its threads run loops of their own: as many as there are cores, so that no worker is needed.
TEST(ThreadPool, WorkersComeOnlyWhereAThreadIsMissing) {
  for (int callers : {1, 3, 5}) {
    ThreadPool pool(3);
    std::atomic<int> inside{0}, now{0}, most{0};
    const auto piece = [&] {
      // A worker that joined before the last caller came may be at a piece still, not at a second.
      static thread_local int pieces_with_all = 0;
      const bool counts = inside == callers && ++pieces_with_all > 1;
      while (inside < callers) std::this_thread::yield();
      if (!counts) return;
      const int working = ++now;
      int seen = most;
      while (working > seen && !most.compare_exchange_weak(seen, working)) {
      }
      std::this_thread::yield();
      --now;
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < callers; ++t)
      threads.emplace_back([&] {
        std::atomic<bool> first{true};
        parallel_for(pool, 2000, 1, [&](uint64_t, uint64_t) {
          if (first.exchange(false)) ++inside;
          piece();
        });
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_GE(most, 1);
    EXPECT_LE(most, std::max(callers, 3)) << callers;
  }
}

// Two programs: a long one that has every worker, and one that comes later.
TEST(ThreadPool, ProgramsThatRunAtOnceBothGetOn) {
  for (unsigned concurrency : {1u, 2u, 4u}) {
    ThreadPool pool(concurrency);
    struct Two {
      ThreadPool* pool;
      size_t wanted;  // threads that the second waits for
      std::atomic<bool> first_runs{false}, second_done{false};
      std::atomic<uint64_t> after{0};  // pieces of the first that ran when the second was done
      std::mutex mutex;
      std::condition_variable changed;
      std::set<std::thread::id> threads;  // of the second
    } two{&pool, concurrency < 4 ? 1u : 2u};
    // Lasts until the second is done, or half a minute of one thread.
    const auto first = [](void* state) {
      auto& two = *static_cast<Two*>(state);
      parallel_for(*two.pool, 30'000, 1, [&](uint64_t, uint64_t) {
        two.first_runs = true;
        if (two.second_done) {
          ++two.after;
        } else {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      });
    };
    // Each piece waits until enough threads have come from the first.
    const auto second = [](void* state) {
      auto& two = *static_cast<Two*>(state);
      parallel_for(*two.pool, 40, 1, [&](uint64_t, uint64_t) {
        std::unique_lock lock(two.mutex);
        two.threads.insert(std::this_thread::get_id());
        two.changed.notify_all();
        two.changed.wait_for(lock, std::chrono::seconds(1),
                             [&] { return two.threads.size() >= two.wanted; });
      });
      two.second_done = true;
    };
    pool.post(first, &two);
    while (!two.first_runs) std::this_thread::yield();
    pool.post(second, &two);
    pool.quiesce();
    EXPECT_GT(two.after, 0u) << concurrency;
    EXPECT_GE(two.threads.size(), two.wanted) << concurrency;
  }
}

// Asks whether `over`, and counts the questions.
struct Lent {
  std::atomic<bool> over{false};
  std::atomic<int> asked{0};
  static uint8_t done(void* state) {
    auto& lent = *static_cast<Lent*>(state);
    ++lent.asked;
    return lent.over ? 1 : 0;
  }
};

TEST(ThreadPool, ALentThreadTakesPartInLoops) {
  ThreadPool pool(2);
  struct Shared : Lent {
    ThreadPool* pool;
    std::thread::id lender = std::this_thread::get_id();
    std::atomic<int> pieces{0}, now{0}, most{0};
    int rounding = -1;  // that a piece of the lent thread sees
  } shared{{}, &pool};
  pool.post(
      [](void* state) {
        auto& shared = *static_cast<Shared*>(state);
        while (shared.asked == 0) std::this_thread::yield();
        // It looks for work only so long: one of many loops begins in that time.
        for (int loop = 0; loop < 10'000 && shared.pieces == 0; ++loop)
          parallel_for(*shared.pool, 16, 1, [&](uint64_t, uint64_t) {
            const int now = ++shared.now;
            int most = shared.most;
            while (now > most && !shared.most.compare_exchange_weak(most, now)) {
            }
            if (std::this_thread::get_id() == shared.lender) {
              shared.rounding = std::fegetround();
              ++shared.pieces;
              // At work: a loop within is no further thread.
              parallel_for(*shared.pool, 4, 1, [](uint64_t, uint64_t) {});
            }
            std::this_thread::yield();
            --shared.now;
          });
        shared.over = true;
      },
      &shared);
  std::fesetround(FE_UPWARD);
  while (!pool.lend(Lent::done, static_cast<Lent*>(&shared))) std::this_thread::yield();
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  pool.quiesce();
  EXPECT_GT(shared.pieces, 0);
  EXPECT_EQ(shared.rounding, FE_TONEAREST);
  EXPECT_LE(shared.most, 2);
}

TEST(ThreadPool, ALentThreadLeavesWhenItIsDoneOrHasNothingToDo) {
  ThreadPool pool(3);
  Lent lent;
  EXPECT_FALSE(pool.lend(Lent::done, &lent));
  EXPECT_GT(lent.asked, 1);
  lent.over = true;
  lent.asked = 0;
  EXPECT_TRUE(pool.lend(Lent::done, &lent));
  EXPECT_EQ(lent.asked, 1);
  // In the middle of a loop, with pieces left: it came for something else.
  struct Shared {
    ThreadPool* pool;
    Lent lent;
    std::thread::id lender = std::this_thread::get_id();
    std::atomic<bool> left{false};
    std::atomic<int> after{0};
    int pieces = 0;  // of the lent thread, in the last loop
  } shared{&pool};
  pool.post(
      [](void* state) {
        auto& shared = *static_cast<Shared*>(state);
        // Workers may be all that a loop wants: there are loops until one has the lent thread too.
        while (!shared.lent.over) {
          shared.pieces = 0;
          parallel_for(*shared.pool, 10'000, 1, [&](uint64_t begin, uint64_t) {
            if (std::this_thread::get_id() == shared.lender) {
              ++shared.pieces;
              if (begin < 9'000) shared.lent.over = true;
            } else if (shared.lent.over) {
              while (!shared.left) std::this_thread::yield();
              ++shared.after;
            } else if (begin % 1'000 == 0) {
              std::this_thread::yield();
            }
          });
        }
      },
      &shared);
  while (!pool.lend(Lent::done, &shared.lent)) std::this_thread::yield();
  shared.left = true;
  pool.quiesce();
  EXPECT_EQ(shared.pieces, 1);
  EXPECT_GT(shared.after, 0);
}

// A worker in the middle of a task waits for its own event only.
TEST(ThreadPool, WorkersAreNotLent) {
  ThreadPool pool(3);  // room for one more, besides it and the one that brings loops
  struct Shared : Lent {
    ThreadPool* pool;
    std::atomic<std::thread::id> worker;
    std::atomic<bool> waits{false};
    std::atomic<int> pieces{0};
  } shared{{}, &pool};
  pool.post(
      [](void* state) {
        auto& shared = *static_cast<Shared*>(state);
        shared.worker = std::this_thread::get_id();
        shared.waits = true;
        while (!shared.pool->lend(Lent::done, static_cast<Lent*>(&shared)))
          std::this_thread::yield();
      },
      &shared);
  while (!shared.waits) std::this_thread::yield();
  for (int loop = 0; loop < 200; ++loop)
    parallel_for(pool, 16, 1, [&](uint64_t, uint64_t) {
      if (std::this_thread::get_id() == shared.worker) ++shared.pieces;
      std::this_thread::yield();
    });
  shared.over = true;
  pool.quiesce();
  EXPECT_EQ(shared.pieces, 0);
}

// Many threads that bring work and wait for it: no more work than were asked for, and all is done.
TEST(ThreadPool, LentThreadsCountAsThreadsAtWork) {
  for (unsigned concurrency : {1u, 2u, 3u}) {
    ThreadPool pool(concurrency);
    struct Count {
      ThreadPool* pool;
      std::atomic<int> now{0}, most{0};
      std::atomic<uint64_t> items{0};
    } count{&pool};
    struct Job : Lent {
      Count* count;
      static void run(void* state) {
        auto& job = *static_cast<Job*>(state);
        parallel_for(*job.count->pool, 64, 0, [&](uint64_t begin, uint64_t end) {
          const int now = ++job.count->now;
          int most = job.count->most;
          while (now > most && !job.count->most.compare_exchange_weak(most, now)) {
          }
          job.count->items += end - begin;
          std::this_thread::yield();
          --job.count->now;
        });
        job.over = true;
      }
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 5; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) {
          Job job{{}, &count};
          pool.post(Job::run, &job);
          while (!pool.lend(Lent::done, static_cast<Lent*>(&job))) std::this_thread::yield();
        }
      });
    for (std::thread& thread : threads) thread.join();
    pool.quiesce();
    EXPECT_EQ(count.items, 5u * 10 * 64);
    // Two tasks overlap on one core too, and when tasks begin, lent threads end their pieces first.
    EXPECT_LE(count.most, static_cast<int>(std::max(2u, 2 * concurrency - 1))) << concurrency;
  }
}

// An application may keep the thread that brings the first work to one core.
TEST(ThreadPool, WorkersRunWhereThePoolWasMade) {
  cpu_set_t all, one, of_worker;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "needs two cores";
  ThreadPool pool(2);
  CPU_ZERO(&one);
  for (int core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1u);
  CPU_ZERO(&of_worker);
  pool.post(
      [](void* state) { sched_getaffinity(0, sizeof(cpu_set_t), static_cast<cpu_set_t*>(state)); },
      &of_worker);
  pool.quiesce();
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_TRUE(CPU_EQUAL(&of_worker, &all));
}

TEST(ThreadPool, TheDestructorFinishesWhatIsQueued) {
  std::atomic<int> tasks{0};
  {
    ThreadPool pool(2);
    for (int i = 0; i < 100; ++i)
      pool.post([](void* state) { ++*static_cast<std::atomic<int>*>(state); }, &tasks);
  }
  EXPECT_EQ(tasks, 100);
}

// A system that gives `threads` threads, the first `refusals` requests being refused.
ThreadPool::StartThread system_with(int threads, int refusals = 0) {
  return [threads, refusals](std::function<void()> work) mutable {
    if (refusals-- > 0 || threads-- <= 0)
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    return std::thread(std::move(work));
  };
}

// Tasks that note in which order and on which thread they ran.
struct Noted {
  std::mutex mutex;
  std::vector<int> order;
  std::set<std::thread::id> threads;
  struct Task {
    Noted* notes;
    int number;
  };
  static void run(void* state) {
    const auto& task = *static_cast<Task*>(state);
    std::lock_guard lock(task.notes->mutex);
    task.notes->order.push_back(task.number);
    task.notes->threads.insert(std::this_thread::get_id());
  }
};

void count_all(ThreadPool& pool) {
  std::vector<std::atomic<int>> hits(1000);
  parallel_for(pool, hits.size(), 7, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) ++hits[i];
  });
  for (const auto& hit : hits) ASSERT_EQ(hit, 1);
}

TEST(ThreadPool, WithoutThreadsTheCallerDoesTheWork) {
  ThreadPool pool(4, system_with(0));
  Noted notes;
  std::vector<Noted::Task> tasks;
  for (int i = 0; i < 50; ++i) tasks.push_back({&notes, i});
  for (Noted::Task& task : tasks) {
    pool.post(Noted::run, &task);
    EXPECT_EQ(notes.order.back(), task.number);
  }
  EXPECT_EQ(notes.threads, std::set{std::this_thread::get_id()});
  count_all(pool);
  pool.quiesce();
}

// A task that posts the next one: not a stack that grows.
TEST(ThreadPool, WithoutThreadsTasksOfTasksTakeTurns) {
  ThreadPool pool(2, system_with(0));
  struct Chain {
    ThreadPool* pool;
    int left;
    int depth = 0, deepest = 0;
    static void run(void* state) {
      auto& chain = *static_cast<Chain*>(state);
      chain.deepest = std::max(chain.deepest, ++chain.depth);
      if (chain.left-- > 0) chain.pool->post(run, state);
      --chain.depth;
    }
  } chain{&pool, 100'000};
  pool.post(Chain::run, &chain);
  EXPECT_EQ(chain.left, -1);
  EXPECT_EQ(chain.deepest, 1);
}

TEST(ThreadPool, OneThreadOfManyIsEnough) {
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(8, system_with(threads));
    Noted notes;
    std::vector<Noted::Task> tasks;
    for (int i = 0; i < 50; ++i) tasks.push_back({&notes, i});
    for (Noted::Task& task : tasks) pool.post(Noted::run, &task);
    count_all(pool);
    pool.quiesce();
    EXPECT_EQ(notes.order.size(), 50u);
    EXPECT_FALSE(notes.threads.contains(std::this_thread::get_id()));
    EXPECT_LE(notes.threads.size(), static_cast<size_t>(threads));
  }
}

TEST(ThreadPool, ThreadsThatWereRefusedAreAskedForAgain) {
  ThreadPool pool(2, system_with(2, 1));
  Noted notes;
  Noted::Task first{&notes, 1}, second{&notes, 2};
  pool.post(Noted::run, &first);
  EXPECT_EQ(notes.threads, std::set{std::this_thread::get_id()});
  pool.post(Noted::run, &second);
  pool.quiesce();
  EXPECT_EQ(notes.threads.size(), 2u);
}

// Memory that is refused at will.
class Refusing final : public std::pmr::memory_resource {
 public:
  std::atomic<bool> refuses{false};
  std::atomic<int> refused{0};

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    if (refuses) {
      ++refused;
      throw std::bad_alloc();
    }
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TEST(ThreadPool, WithoutMemoryToQueueThemTasksRunInOrderAllTheSame) {
  Refusing memory;
  ThreadPool pool(2, {}, &memory);
  // The workers are busy, so that tasks pile up until there is no room for them.
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    int waiting = 0;
    bool open = false;
  } gate;
  auto wait = [](void* state) {
    auto& here = *static_cast<Gate*>(state);
    std::unique_lock lock(here.mutex);
    ++here.waiting;
    here.changed.notify_all();
    here.changed.wait(lock, [&] { return here.open; });
  };
  pool.post(wait, &gate);
  pool.post(wait, &gate);
  {
    std::unique_lock lock(gate.mutex);
    gate.changed.wait(lock, [&] { return gate.waiting == 2; });
  }
  memory.refuses = true;
  Noted notes;
  constexpr int kTasks = 1000;
  std::vector<Noted::Task> tasks;
  for (int i = 0; i < kTasks; ++i) tasks.push_back({&notes, i});
  for (Noted::Task& task : tasks) pool.post(Noted::run, &task);
  EXPECT_GT(memory.refused, 0);
  count_all(pool);  // nobody can be told of the loop
  {
    std::lock_guard lock(gate.mutex);
    gate.open = true;
  }
  gate.changed.notify_all();
  pool.quiesce();
  ASSERT_EQ(notes.order.size(), static_cast<size_t>(kTasks));
  EXPECT_TRUE(std::is_sorted(notes.order.begin(), notes.order.end()));
  EXPECT_EQ(notes.threads, std::set{std::this_thread::get_id()});
}

// A process that reports its crashes needs it when the stack of a worker has overflowed.
TEST(ThreadPool, WorkersTakeSignalsOnAStackOfTheirOwn) {
  static std::atomic<uintptr_t> where;
  where = 0;
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { where = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); };
  action.sa_flags = SA_ONSTACK;
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  stack_t stack{};
  ThreadPool pool(1);
  pool.post(
      [](void* state) {
        ::sigaltstack(nullptr, static_cast<stack_t*>(state));
        ::raise(SIGUSR1);
      },
      &stack);
  pool.quiesce();
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(stack.ss_flags & SS_DISABLE, 0);
  const auto begin = reinterpret_cast<uintptr_t>(stack.ss_sp);
  EXPECT_GT(where, begin);
  EXPECT_LT(where, begin + stack.ss_size);
}

TEST(Host, MemoryIsAlignedAndRefusedWhenAbsurd) {
  Services given(std::make_shared<Host>(HostFunctions(), 1));
  const stria_host_services& services = given.table();
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, uint64_t{16} << 20}) {
    void* memory = services.allocate(services.host, bytes, 64);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    if (bytes > 0) static_cast<char*>(memory)[bytes - 1] = 1;
    services.free(services.host, memory, bytes, 64);
  }
  EXPECT_EQ(given.taken(), "");
  EXPECT_EQ(services.allocate(services.host, UINT64_MAX, 64), nullptr);
  EXPECT_EQ(services.allocate(services.host, 64, 48), nullptr);
  services.free(services.host, nullptr, 0, 64);
}

// No exception of the host crosses the boundary: it becomes an error, or nothing.
TEST(Host, ItsExceptionsBecomeErrors) {
  HostFunctions functions;
  functions.log = [](LogLevel, std::string_view) { throw std::bad_alloc(); };
  functions.interpret = [](std::string_view text) -> Result<std::unique_ptr<InterpretedProgram>> {
    if (text == "memory") throw std::bad_alloc();
    throw std::runtime_error("no " + std::string(text));
  };
  functions.cache_get = [](std::string_view) -> Result<std::optional<std::string>> { throw 1; };
  functions.cache_put = [](std::string_view, std::string_view) -> Status {
    throw std::bad_alloc();
  };
  Services given(std::make_shared<Host>(std::move(functions), 1));
  const stria_host_services& services = given.table();
  auto interpret = [&](const char* text) {
    stria_host_program* program = nullptr;
    return take_error(services.program_create(services.host, to_c(text), &program));
  };
  services.log(services.host, STRIA_LOG_INFO, to_c("lost"));
  EXPECT_EQ(interpret("memory").code(), StatusCode::out_of_memory);
  EXPECT_EQ(interpret("way").message(), "an exception came out of the host: no way");
  EXPECT_EQ(take_error(services.cache_get(services.host, to_c("k"), nullptr, nullptr)).message(),
            "an exception came out of the host");
  EXPECT_EQ(take_error(services.cache_put(services.host, to_c("k"), to_c("v"))).code(),
            StatusCode::out_of_memory);
}

TEST(Host, UsesAtLeastOneCore) {
  EXPECT_GE(usable_cores(), 1u);
  EXPECT_EQ(Host(HostFunctions(), 3).concurrency(), 3u);
}

TEST(Host, UsesAsManyThreadsAsTheEnvironmentSays) {
  ASSERT_EQ(setenv("STRIA_THREADS", "5", 1), 0);
  EXPECT_EQ(Host(HostFunctions()).concurrency(), 5u);
  EXPECT_EQ(Host(HostFunctions(), 3).concurrency(), 3u);  // the application knows better
  std::string said;
  HostFunctions functions;
  functions.log = [&](LogLevel, std::string_view line) { said = line; };
  for (const char* wrong : {"0", "-2", "many", "", "4097", "3 threads"}) {
    ASSERT_EQ(setenv("STRIA_THREADS", wrong, 1), 0);
    said.clear();
    EXPECT_EQ(Host(functions).concurrency(), usable_cores()) << wrong;
    EXPECT_EQ(said, fmt::format("STRIA_THREADS is '{}', not a number from 1 to 4096; the {} usable "
                                "cores are used",
                                wrong, usable_cores()));
  }
  unsetenv("STRIA_THREADS");
}

// A machine's files, as control groups of either version show them.
TEST(Host, HoldsTheQuotasOfItsControlGroups) {
  char name[] = "/tmp/stria_cores_XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::filesystem::path root = name;
  const auto write = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root / file).parent_path());
    ASSERT_TRUE(write_file(root / file, text).ok());
  };
  EXPECT_EQ(quota_cores(64, root), 64u);  // nothing to be read
  write("proc/self/cgroup", "0::/user/job\n");
  write("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota_cores(64, root), 64u);
  write("sys/fs/cgroup/user/job/cpu.max", "450000 100000\n");
  EXPECT_EQ(quota_cores(64, root), 5u);
  EXPECT_EQ(quota_cores(2, root), 2u);
  write("sys/fs/cgroup/user/cpu.max", "300000 100000\n");  // a group around it
  EXPECT_EQ(quota_cores(64, root), 3u);
  write("sys/fs/cgroup/cpu.max", "5000 100000\n");
  EXPECT_EQ(quota_cores(64, root), 1u);
  write("sys/fs/cgroup/cpu.max", "no number\n");
  EXPECT_EQ(quota_cores(64, root), 3u);

  // Version 1, seen from within a container: its own group is the top one there.
  std::filesystem::remove_all(root / "sys");
  write("proc/self/cgroup", "5:memory:/box\n4:cpu,cpuacct:/box\n0::/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota_cores(64, root), 64u);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "700000\n");
  EXPECT_EQ(quota_cores(64, root), 7u);
  write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "50000\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "100000\n");
  EXPECT_EQ(quota_cores(64, root), 2u);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace stria::hal
