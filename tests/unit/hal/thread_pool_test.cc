// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <stdexcept>
#include <vector>

#include "stria/hal/error.h"
#include "stria/hal/host.h"
#include "stria/hal/info.h"
#include "stria/hal/services.h"

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

TEST(ThreadPool, TheDestructorFinishesWhatIsQueued) {
  std::atomic<int> tasks{0};
  {
    ThreadPool pool(2);
    for (int i = 0; i < 100; ++i)
      pool.post([](void* state) { ++*static_cast<std::atomic<int>*>(state); }, &tasks);
  }
  EXPECT_EQ(tasks, 100);
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

}  // namespace
}  // namespace stria::hal
