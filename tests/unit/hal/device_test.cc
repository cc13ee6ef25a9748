// SPDX-License-Identifier: Apache-2.0
// What the boundary promises of asynchronous work, seen through the plugin `reference`, whose
// kernels are functions of the test: nothing here measures time; threads meet instead.
#include "stria/hal/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "scripted_host.h"
#include "stria/hal/boundary/error.h"

namespace stria::hal {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSecond = 1'000'000'000;

// Threads that wait for each other; false if the others do not come within ten seconds.
class Meeting {
 public:
  explicit Meeting(int people) : people_(people) {}
  bool attend() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return arrived_ >= people_; });
  }

 private:
  const int people_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
};

template <typename T>
T* as(const stria_memory& memory) {
  return static_cast<T*>(memory.data);
}

class DeviceTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kBytes = sizeof(int64_t);

  void SetUp() override {
    auto script = std::make_shared<Script>();
    ArgumentInfo out{"R", Direction::out, kBytes, {}}, in{"A", Direction::in, kBytes, {}};
    ArgumentInfo lenient = out;
    lenient.may_overlap = {1};
    (*script)["increment"] = {{out, in}, [this](auto memory) {
                                ++runs_;
                                *as<int64_t>(memory[0]) = *as<int64_t>(memory[1]) + 1;
                                return Status();
                              }};
    (*script)["in_place"] = {{lenient, in}, (*script)["increment"].run};
    (*script)["nothing"] = {{}, [](auto) { return Status(); }};
    (*script)["meet"] = {
        {}, [this](auto) { return meeting_.attend() ? Status() : internal_error("nobody came"); }};
    (*script)["fail"] = {
        {}, [](auto) { return make_error(StatusCode::device_lost, "the wire was cut"); }};
    script_ = script;
    LoadResult loaded = load_plugin(built_plugin("reference"), scripted_host(script_, 2));
    ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
    plugin_ = loaded.plugin;
    auto devices = plugin_.devices();
    ASSERT_TRUE(devices.ok());
    auto device = plugin_.open(devices->at(0).id);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
    executor_ = *device_.create_executor();
    compiler_ = *device_.create_compiler();
  }
  void TearDown() override {
    compiler_ = {};
    executor_ = {};
    device_ = {};
    Status status = plugin_.shutdown();
    EXPECT_TRUE(status.ok()) << status.to_string();
  }

  Kernel kernel(const std::string& name) {
    auto build = compiler_.build(name);
    EXPECT_TRUE(build.ok() && build->done.wait().ok());
    auto kernel = executor_.prepare(build->library, 0);
    EXPECT_TRUE(kernel.ok()) << kernel.status().to_string();
    return *kernel;
  }
  Buffer number(int64_t value) {
    Buffer buffer = *device_.allocate(kBytes);
    Mapping mapping = *buffer.map_discard();
    EXPECT_TRUE(mapping.ready().wait().ok());
    std::memcpy(mapping.data(), &value, kBytes);
    EXPECT_TRUE(mapping.unmap()->wait().ok());
    return buffer;
  }
  Result<int64_t> read(const Buffer& buffer, Waits waits = {}) {
    STRIA_ASSIGN(Mapping mapping, buffer.map_current(waits));
    STRIA_RETURN_IF_ERROR(mapping.ready().wait());
    int64_t value;
    std::memcpy(&value, mapping.data(), kBytes);
    return value;
  }

  std::atomic<int> runs_{0};
  Meeting meeting_{2};
  std::shared_ptr<const Script> script_;
  Plugin plugin_;
  Device device_;
  Executor executor_;
  Compiler compiler_;
};

TEST_F(DeviceTest, RunReturnsWhileAnEventItWaitsForIsOpen) {
  Kernel increment = kernel("increment");
  Buffer a = number(5), r = number(0);
  Event open = *device_.create_event();
  std::vector<Argument> arguments = {{r, 0}, {a, 0}};
  auto done = increment.run(arguments, std::vector{open});
  ASSERT_TRUE(done.ok());
  EXPECT_FALSE(done->is_done());
  EXPECT_EQ(done->status().code(), StatusCode::failed_precondition);
  EXPECT_EQ(done->wait(1'000'000).code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(done->duration_ns().status().code(), StatusCode::failed_precondition);
  EXPECT_EQ(runs_, 0);
  EXPECT_TRUE(open.signal().ok());
  EXPECT_TRUE(done->wait().ok());
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(*read(r), 6);
  EXPECT_GT(*done->duration_ns(), 0u);
  EXPECT_EQ(open.signal().code(), StatusCode::failed_precondition);
  EXPECT_EQ(done->signal().code(), StatusCode::failed_precondition);
}

TEST_F(DeviceTest, BuildCopyFillAndMapWaitTooAndReturnAtOnce) {
  Buffer a = number(5), b = number(0);
  Event open = *device_.create_event();
  std::vector waits = {open};
  auto build = compiler_.build("increment", "{}", waits);
  ASSERT_TRUE(build.ok());
  EXPECT_EQ(build->library.kernels().status().code(), StatusCode::failed_precondition);
  EXPECT_EQ(executor_.prepare(build->library, 0).status().code(), StatusCode::failed_precondition);
  auto copied = executor_.copy(a, 0, b, 0, kBytes, waits);
  std::byte seven{7};
  auto filled = executor_.fill(a, 0, 4, {&seven, 1}, std::vector{*copied});
  auto mapped = b.map_current(std::vector{*copied});
  ASSERT_TRUE(copied.ok() && filled.ok() && mapped.ok());
  EXPECT_FALSE(build->done.is_done() || copied->is_done() || filled->is_done() ||
               mapped->ready().is_done());
  EXPECT_EQ(executor_.drain(1'000'000).code(), StatusCode::deadline_exceeded);
  EXPECT_TRUE(executor_.flush().ok());
  EXPECT_TRUE(open.signal().ok());
  EXPECT_TRUE(executor_.drain().ok());
  EXPECT_TRUE(copied->is_done() && filled->is_done());
  EXPECT_TRUE(build->done.wait().ok());
  EXPECT_EQ(build->library.kernels()->size(), 1u);
  EXPECT_TRUE(mapped->ready().wait().ok());
  EXPECT_EQ(static_cast<int>(mapped->data()[0]), 5);
  EXPECT_EQ(*read(a), 0x07070707);
}

TEST_F(DeviceTest, AFailureTravelsToEveryDependantWithItsFirstCause) {
  Kernel increment = kernel("increment"), fail = kernel("fail");
  Buffer a = number(1), b = number(2), c = number(3);
  Event open = *device_.create_event();
  std::vector<Argument> ab = {{b, 0}, {a, 0}}, bc = {{c, 0}, {b, 0}};
  Event failed = *fail.run({}, std::vector{open});
  std::vector<Event> events;
  events.push_back(*increment.run(ab, std::vector{failed}));
  events.push_back(*increment.run(bc, std::vector{events[0]}));
  events.push_back(*executor_.copy(a, 0, c, 0, kBytes, std::vector{events[1]}));
  std::byte zero{0};
  events.push_back(*executor_.fill(c, 0, kBytes, {&zero, 1}, std::vector{events[2]}));
  Mapping mapping = *c.map_current(std::vector{events[3]});
  events.push_back(mapping.ready());
  events.push_back(compiler_.build("increment", "{}", std::vector{events[4]})->done);
  std::vector<Launch> batch = {{increment, ab, {}}, {increment, bc, {0}}};
  std::vector<Event> each;
  events.push_back(*executor_.submit(batch, std::vector{events[5]}, &each));
  events.insert(events.end(), each.begin(), each.end());
  std::atomic<int> told{0};
  for (const Event& event : events)
    ASSERT_TRUE(event
                    .on_done([&](const Status& status) {
                      told += status.code() == StatusCode::device_lost;
                    })
                    .ok());
  EXPECT_TRUE(open.signal().ok());
  for (const Event& event : events) {
    EXPECT_EQ(event.wait().to_string(), "device_lost: the wire was cut");
    EXPECT_EQ(*event.duration_ns(), 0u);
  }
  EXPECT_EQ(told, static_cast<int>(events.size()));
  EXPECT_EQ(runs_, 0);
  (void)mapping.unmap();
  EXPECT_EQ(*read(c), 3);
  // Work that does not depend on it goes on.
  EXPECT_TRUE(increment.run(ab)->wait().ok());
  EXPECT_EQ(*read(b), 2);
}

TEST_F(DeviceTest, WhoWaitsForAnEndDoesNotShareTheFate) {
  Kernel increment = kernel("increment"), fail = kernel("fail");
  Buffer a = number(1), b = number(2);
  Event open = *device_.create_event();
  Event failed = *fail.run({}, std::vector{open});
  Event end = *failed.end();
  Event done = *increment.run(std::vector<Argument>{{b, 0}, {a, 0}}, std::vector{end});
  EXPECT_EQ(end.wait(0).code(), StatusCode::deadline_exceeded);
  EXPECT_FALSE(end.is_done());
  EXPECT_FALSE(end.signal().ok());
  EXPECT_TRUE(open.signal().ok());
  EXPECT_TRUE(done.wait().ok()) << done.wait().to_string();
  EXPECT_EQ(failed.status().code(), StatusCode::device_lost);
  EXPECT_TRUE(end.status().ok());
  EXPECT_EQ(*end.duration_ns(), 0u);
  EXPECT_EQ(*read(b), 2);
  // Of what is done, and of no event.
  EXPECT_TRUE(failed.end()->wait().ok());
  EXPECT_TRUE(Event().end()->wait().ok());
}

TEST_F(DeviceTest, TheFirstFailureInListOrderCountsAfterAllWaitsAreOver) {
  Kernel nothing = kernel("nothing");
  Event first = *device_.create_event(), second = *device_.create_event();
  Event done = *nothing.run({}, std::vector{first, second});
  EXPECT_TRUE(second.signal(Status(StatusCode::data_loss, "second")).ok());
  EXPECT_FALSE(done.is_done());
  EXPECT_TRUE(first.signal(Status(StatusCode::unavailable, "first")).ok());
  EXPECT_EQ(done.wait().to_string(), "unavailable: first");
}

TEST_F(DeviceTest, AHostEventThatIsDroppedIsCancelled) {
  Kernel nothing = kernel("nothing");
  Event open = *device_.create_event();
  Event done = *nothing.run({}, std::vector{open});
  open = Event();
  EXPECT_EQ(done.wait().code(), StatusCode::cancelled);
}

TEST_F(DeviceTest, IndependentKernelsOverlap) {
  Kernel meet = kernel("meet");
  Event a = *meet.run({}), b = *meet.run({});
  EXPECT_TRUE(a.wait().ok());
  EXPECT_TRUE(b.wait().ok());
}

TEST_F(DeviceTest, IndependentLaunchesOfOneBatchOverlap) {
  std::vector<Launch> batch(2, Launch{kernel("meet"), {}, {}});
  Event done = *executor_.submit(batch);
  EXPECT_TRUE(done.wait().ok());
}

TEST_F(DeviceTest, ABatchRunsInTheOrderThatItAsksFor) {
  Kernel in_place = kernel("in_place");
  Buffer a = number(0);
  std::vector<Launch> batch;
  for (uint32_t i = 0; i < 100; ++i)
    batch.push_back(
        {in_place, {{a, 0}, {a, 0}}, i == 0 ? std::vector<uint32_t>{} : std::vector{i - 1}});
  std::vector<Event> each;
  Event done = *executor_.submit(batch, {}, &each);
  EXPECT_TRUE(done.wait().ok());
  EXPECT_EQ(*read(a), 100);
  ASSERT_EQ(each.size(), 100u);
  uint64_t sum = 0;
  for (const Event& event : each) sum += *event.duration_ns();
  EXPECT_GE(*done.duration_ns(), sum);
  EXPECT_TRUE(executor_.submit({})->wait().ok());
  batch[3].after = {3};
  EXPECT_THAT(executor_.submit(batch).status().message(),
              HasSubstr("launch 3 of a batch waits for launch 3"));
}

TEST_F(DeviceTest, WrongArgumentsAreRefusedBeforeAnythingRuns) {
  Kernel increment = kernel("increment"), in_place = kernel("in_place");
  Buffer a = number(1);
  Buffer two = *device_.allocate(2 * kBytes);
  auto refusal = [&](const Kernel& kernel, std::vector<Argument> arguments) {
    return kernel.run(arguments).status().message();
  };
  EXPECT_EQ(refusal(increment, {{a, 0}}), "kernel 'increment' takes 2 arguments, not 1");
  EXPECT_EQ(refusal(increment, {{a, 0}, {}}), "argument 'A' of kernel 'increment' has no buffer");
  EXPECT_EQ(
      refusal(increment, {{a, 1}, {a, 0}}),
      "argument 'R' of kernel 'increment' needs 8 bytes from offset 1 of a buffer of 8 bytes");
  EXPECT_EQ(
      refusal(increment, {{a, UINT64_MAX}, {a, 0}}),
      "argument 'R' of kernel 'increment' needs 8 bytes from offset 18446744073709551615 of a "
      "buffer of 8 bytes");
  EXPECT_EQ(refusal(increment, {{a, 0}, {a, 0}}),
            "output 'R' of kernel 'increment' overlaps argument 'A' in memory");
  EXPECT_EQ(refusal(increment, {{two, 0}, {two, 4}}),
            "output 'R' of kernel 'increment' overlaps argument 'A' in memory");
  EXPECT_EQ(refusal(increment, {{two, 0}, {two, 8}}), "");
  EXPECT_EQ(refusal(in_place, {{a, 0}, {a, 0}}), "");
  EXPECT_TRUE(executor_.drain().ok());
  EXPECT_EQ(runs_, 2);
  EXPECT_EQ(two.map_current({}, 8, 9).status().code(), StatusCode::out_of_range);
  EXPECT_EQ(executor_.copy(two, 9, a, 0, 8).status().code(), StatusCode::out_of_range);
  EXPECT_EQ(executor_.copy(two, 0, two, 4, 8).status().code(), StatusCode::invalid_argument);
  std::byte pattern[3] = {};
  EXPECT_EQ(executor_.fill(two, 0, 9, pattern).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(executor_.fill(two, 0, 3, {pattern, 2}).status().code(), StatusCode::invalid_argument);
  auto build = compiler_.build("increment");
  ASSERT_TRUE(build->done.wait().ok());
  EXPECT_EQ(executor_.prepare(build->library, 1).status().code(), StatusCode::out_of_range);
  EXPECT_TRUE(build->library.source()->empty());
  auto failed = compiler_.build("no_such_kernel");
  EXPECT_THAT(failed->done.wait().message(), HasSubstr("no kernel 'no_such_kernel'"));
  EXPECT_THAT(failed->library.kernels().status().message(),
              HasSubstr("no kernel 'no_such_kernel'"));
}

TEST_F(DeviceTest, FillsRepeatTheirPattern) {
  Buffer buffer = *device_.allocate(100);
  std::byte zero{0}, pattern[4] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  Event cleared = *executor_.fill(buffer, 0, 100, {&zero, 1});
  Event filled = *executor_.fill(buffer, 10, 52, pattern, std::vector{cleared});
  EXPECT_TRUE(executor_.fill(buffer, 100, 0, pattern, std::vector{filled})->wait().ok());
  Mapping mapping = *buffer.map_current(std::vector{filled});
  ASSERT_TRUE(mapping.ready().wait().ok());
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(static_cast<int>(mapping.data()[i]), i < 10 || i >= 62 ? 0 : 1 + (i - 10) % 4) << i;
}

TEST_F(DeviceTest, EmptyBuffersAndMappings) {
  Buffer empty = *device_.allocate(0);
  EXPECT_EQ(empty.size(), 0u);
  Mapping mapping = *empty.map_discard();
  EXPECT_TRUE(mapping.ready().wait().ok());
  EXPECT_TRUE(mapping.unmap().ok());
  EXPECT_EQ(mapping.unmap().status().code(), StatusCode::failed_precondition);
  EXPECT_TRUE(executor_.copy(empty, 0, empty, 0, 0)->wait().ok());
  EXPECT_EQ(device_.allocate(uint64_t{1} << 60).status().code(), StatusCode::out_of_memory);
}

TEST_F(DeviceTest, HandlesMayGoWhileTheirWorkGoesOn) {
  Buffer r = number(0);
  Event open = *device_.create_event();
  Event done;
  {
    Kernel increment = kernel("increment");
    Buffer a = number(41);
    done = *increment.run(std::vector<Argument>{{r, 0}, {a, 0}}, std::vector{open});
    executor_ = {};
    compiler_ = {};
  }
  EXPECT_TRUE(open.signal().ok());
  EXPECT_EQ(*read(r, std::vector{done}), 42);
}

TEST_F(DeviceTest, EventsOfAnotherDeviceAreBroughtIn) {
  Device other = *plugin_.open(device_.info().id);
  Kernel nothing = kernel("nothing");
  Event foreign = *other.create_event(), failing = *other.create_event();
  Event well = *nothing.run({}, std::vector{foreign});
  Event badly = *nothing.run({}, std::vector{foreign, failing});
  EXPECT_FALSE(well.is_done());
  EXPECT_TRUE(foreign.signal().ok());
  EXPECT_TRUE(well.wait().ok());
  EXPECT_TRUE(failing.signal(Status(StatusCode::data_loss, "torn")).ok());
  EXPECT_EQ(badly.wait().to_string(), "data_loss: torn");
  // Default-made events count as done.
  EXPECT_TRUE(nothing.run({}, std::vector{Event(), Event()})->wait().ok());
  EXPECT_TRUE(wait_all(std::vector{well, Event()}).ok());
  EXPECT_EQ(wait_all(std::vector{well, badly}).code(), StatusCode::data_loss);
}

TEST_F(DeviceTest, LongChainsNeedNoStack) {
  Kernel in_place = kernel("in_place"), nothing = kernel("nothing");
  Buffer a = number(0);
  Event open = *device_.create_event(), last = open;
  constexpr int kLength = 20'000;
  for (int i = 0; i < kLength; ++i)
    last = *in_place.run(std::vector<Argument>{{a, 0}, {a, 0}}, std::vector{last});
  Event torn = *device_.create_event(), tail = torn;
  for (int i = 0; i < kLength; ++i) tail = *nothing.run({}, std::vector{tail});
  EXPECT_TRUE(open.signal().ok());
  EXPECT_TRUE(torn.signal(Status(StatusCode::data_loss, "torn")).ok());
  EXPECT_TRUE(last.wait().ok());
  EXPECT_EQ(*read(a), kLength);
  EXPECT_EQ(tail.wait().code(), StatusCode::data_loss);
}

// Each work waits for the one before it on the other device. Its end, well or badly, comes through
// host events and callbacks: one after another, not one within another.
TEST_F(DeviceTest, LongChainsAcrossDevicesNeedNoStack) {
  constexpr int kLength = 20'000;
  Kernel here = kernel("nothing");
  Device other = *plugin_.open(device_.info().id);
  Executor executor = *other.create_executor();
  Build build = *other.create_compiler()->build("nothing");
  ASSERT_TRUE(build.done.wait().ok());
  Kernel there = *executor.prepare(build.library, 0);
  for (const Status& outcome : {Status(), Status(StatusCode::data_loss, "torn")}) {
    Event first = *device_.create_event(), last = first;
    for (int i = 0; i < kLength; ++i)
      last = *(i % 2 == 0 ? there : here).run({}, std::vector{last});
    EXPECT_TRUE(first.signal(outcome).ok());
    EXPECT_EQ(last.wait().to_string(), outcome.to_string());
  }
}

// Callbacks that signal: the same chain made by a caller.
TEST_F(DeviceTest, CallbacksOfCallbacksTakeTurns) {
  constexpr int kLength = 100'000;
  std::vector<Event> events;
  for (int i = 0; i < kLength; ++i) events.push_back(*device_.create_event());
  for (int i = 0; i + 1 < kLength; ++i)
    ASSERT_TRUE(events[i]
                    .on_done([next = events[i + 1]](const Status& outcome) {
                      EXPECT_TRUE(next.signal(outcome).ok());
                    })
                    .ok());
  EXPECT_TRUE(events[0].signal(Status(StatusCode::data_loss, "torn")).ok());
  EXPECT_EQ(events.back().status().to_string(), "data_loss: torn");
}

TEST_F(DeviceTest, ManyThreadsShareEverything) {
  Kernel increment = kernel("increment");
  constexpr int kThreads = 8, kRounds = 30;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0}, called{0};
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int round = 0; round < kRounds; ++round) {
        Buffer a = number(round), b = number(0), c = number(0);
        Event open = *device_.create_event();
        Event ab = *increment.run(std::vector<Argument>{{b, 0}, {a, 0}}, std::vector{open});
        Event bc = *increment.run(std::vector<Argument>{{c, 0}, {b, 0}}, std::vector{ab, open});
        bool fails = random() % 4 == 0;
        (void)bc.on_done([&wrong, &called, fails](const Status& status) {
          wrong += status.ok() == fails;
          ++called;
        });
        (void)open.signal(fails ? Status(StatusCode::unavailable, "no") : Status());
        Status status = bc.wait();
        wrong += status.ok() == fails;
        wrong += !fails && *read(c, std::vector{bc}) != round + 2;
      }
    });
  for (std::thread& thread : threads) thread.join();
  // Who waits for an event may go on before its callbacks have run; those here live on our stack.
  while (called < kThreads * kRounds) std::this_thread::yield();
  EXPECT_EQ(wrong, 0);
}

// Random graphs over several executors: every work runs after all it waits for, or not at all if
// one of them failed.
TEST_F(DeviceTest, RandomGraphsObeyTheirEvents) {
  Kernel in_place = kernel("in_place"), fail = kernel("fail");
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    constexpr int kWorks = 60;
    std::vector<Buffer> counters;
    std::vector<Event> events;
    std::vector<bool> failed;
    Event open = *device_.create_event();
    Buffer sum = number(0);
    for (int i = 0; i < kWorks; ++i) {
      std::vector<Event> waits = {open};
      bool fails = false;
      for (unsigned k = random() % 4; k > 0 && i > 0; --k) {
        auto earlier = random() % static_cast<unsigned>(i);
        waits.push_back(events[earlier]);
        fails = fails || failed[earlier];
      }
      counters.push_back(number(0));
      bool root = random() % 15 == 0;
      auto done =
          root ? fail.run({}, waits)
               : in_place.run(std::vector<Argument>{{counters[i], 0}, {counters[i], 0}}, waits);
      ASSERT_TRUE(done.ok());
      events.push_back(*done);
      failed.push_back(fails || root);
    }
    ASSERT_TRUE(open.signal().ok());
    for (int i = 0; i < kWorks; ++i) {
      EXPECT_EQ(events[i].wait(60 * kSecond).code(),
                failed[i] ? StatusCode::device_lost : StatusCode::ok);
      EXPECT_EQ(*read(counters[i]), failed[i] ? 0 : 1);
    }
  }
}

}  // namespace
}  // namespace stria::hal
