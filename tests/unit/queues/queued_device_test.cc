// SPDX-License-Identifier: Apache-2.0
// What every device with queues does, through the boundary: events, failures, batches, copies,
// fills, memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "queued_device.h"

namespace stria::hal {
namespace {

using ::testing::HasSubstr;

TEST_P(QueuedDevice, EverythingReturnsBeforeItIsDoneAndWaitsForWhatItShould) {
  Event gate = *device_.create_event();
  Build build = *compiler_.build(doubling(), "{}", {&gate, 1});
  EXPECT_FALSE(build.done.is_done());
  EXPECT_EQ(build.library.kernels().status().code(), StatusCode::failed_precondition);
  ASSERT_TRUE(gate.signal().ok());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer a = *device_.allocate(4 * kCount), b = *device_.allocate(4 * kCount),
         r = *device_.allocate(4 * kCount);
  Event written = *write(a, numbers());
  Event open = *device_.create_event();
  // copy a to b, then r = 2 b, then b = 2 r: all behind the open event.
  Event copied = *executor_.copy(a, 0, b, 0, 4 * kCount, std::vector<Event>{written, open});
  std::vector<Event> each;
  Event done = *executor_.submit(
      std::vector<Launch>{{kernel, {{r, 0}, {b, 0}}, {}}, {kernel, {{b, 0}, {r, 0}}, {0}}},
      {&copied, 1}, &each);
  Mapping late = *b.map_current({&done, 1});
  EXPECT_FALSE(copied.is_done() || done.is_done() || late.ready().is_done());
  EXPECT_EQ(executor_.drain(1'000'000).code(), StatusCode::deadline_exceeded);
  ASSERT_TRUE(open.signal().ok());
  ASSERT_TRUE(late.ready().wait().ok());
  for (int64_t i : {int64_t{0}, int64_t{1}, kCount - 1})
    EXPECT_EQ(reinterpret_cast<float*>(late.data())[i], 4 * static_cast<float>(i));
  ASSERT_EQ(each.size(), 2u);
  EXPECT_GT(*each[0].duration_ns(), 0u);
  EXPECT_GE(*done.duration_ns(), *each[1].duration_ns());
  ASSERT_TRUE(late.unmap()->wait().ok());
  EXPECT_TRUE(executor_.drain().ok());
}

TEST_P(QueuedDevice, ChainsRunWithoutTheHost) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer x = *device_.allocate(4 * kCount), y = *device_.allocate(4 * kCount);
  Event last = *write(x, std::vector<float>(kCount, 1.0f));
  for (int i = 0; i < 100; ++i)
    last = *kernel.run(
        i % 2 ? std::vector<Argument>{{x, 0}, {y, 0}} : std::vector<Argument>{{y, 0}, {x, 0}},
        {&last, 1});
  auto result = read(x, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[kCount - 1], 0x1p100f);
}

// Each behind the one before it, which the driver need not be told of.
TEST_P(QueuedDevice, ChainsInABatchRunInTheirOrder) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer x = *device_.allocate(4 * kCount), y = *device_.allocate(4 * kCount);
  std::vector<Launch> chain;
  for (uint32_t i = 0; i < 20; ++i)
    chain.push_back(
        {kernel,
         i % 2 ? std::vector<Argument>{{x, 0}, {y, 0}} : std::vector<Argument>{{y, 0}, {x, 0}},
         i ? std::vector<uint32_t>{i - 1} : std::vector<uint32_t>{}});
  // Between work of other kinds, on both sides of it.
  for (const bool with_each : {false, true}) {
    Event written = *write(x, std::vector<float>(kCount, 1.0f));
    std::vector<Event> each;
    Event once = *executor_.submit(chain, {&written, 1}, with_each ? &each : nullptr);
    Event twice = *executor_.submit(chain, {&once, 1}, with_each ? &each : nullptr);
    Event copied = *executor_.copy(x, 0, y, 0, 4 * kCount, {&twice, 1});
    auto result = read(y, copied);
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    EXPECT_EQ((*result)[kCount - 1], 0x1p40f);
    ASSERT_TRUE(twice.wait().ok());
    EXPECT_GT(*twice.duration_ns(), 0u);
  }
  Event bad = *device_.create_event();
  Event never = *executor_.submit(chain, {&bad, 1});
  ASSERT_TRUE(bad.signal(make_error(StatusCode::data_loss, "the disk is gone")).ok());
  EXPECT_EQ(never.wait().code(), StatusCode::data_loss);
}

TEST_P(QueuedDevice, BatchesRunInTheOrderOfTheirWaits) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer a = *device_.allocate(4 * kCount), b = *device_.allocate(4 * kCount),
         c = *device_.allocate(4 * kCount), d = *device_.allocate(4 * kCount);
  Event last = *write(a, std::vector<float>(kCount, 1.0f));
  // b = 2a, then c = 2b and d = 2b, which both end the batch, then a = 2c behind both.
  for (int i = 0; i < 20; ++i) {
    last = *executor_.submit(std::vector<Launch>{{kernel, {{b, 0}, {a, 0}}, {}},
                                                 {kernel, {{c, 0}, {b, 0}}, {0}},
                                                 {kernel, {{d, 0}, {b, 0}}, {0}}},
                             {&last, 1});
    last = *kernel.run(std::vector<Argument>{{a, 0}, {c, 0}}, {&last, 1});
  }
  auto result = read(a, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[kCount - 1], 0x1p60f);
  result = read(d, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[0], 0x1p59f);
}

// Work that overwrites what earlier work uses, in batches of one kernel and of several, all handed
// in before the first has ended.
TEST_P(QueuedDevice, WhatOverwritesComesAfterTheEndOfWhatItOverwrites) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer a = *device_.allocate(4 * kCount), b = *device_.allocate(4 * kCount);
  Event written = *write(a, std::vector<float>(kCount, 1.0f));
  Event gate = *device_.create_event();
  // b = 2a, a = 2b: each comes after the one before, by its end alone.
  std::vector<Launch> there = {{kernel, {{b, 0}, {a, 0}}, {}}},
                      back = {{kernel, {{a, 0}, {b, 0}}, {}}},
                      both = {there[0], {kernel, {{a, 0}, {b, 0}}, {0}}};
  const std::vector<Event> begin = {written, gate};
  Event last = *executor_.submit(both, begin);
  for (int i = 0; i < 10; ++i) {
    for (const std::vector<Launch>& batch : {there, back, both}) {
      Event end = *last.end();
      last = *executor_.submit(batch, {&end, 1});
    }
  }
  EXPECT_FALSE(last.is_done());
  ASSERT_TRUE(gate.signal().ok());
  auto result = read(a, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[kCount - 1], 0x1p42f);
  // After a failure, too.
  Event bad = *device_.create_event();
  Event failed = *executor_.submit(both, {&bad, 1});
  Event end = *failed.end();
  last = *executor_.submit(both, {&end, 1});
  ASSERT_TRUE(bad.signal(make_error(StatusCode::data_loss, "the disk is gone")).ok());
  EXPECT_EQ(failed.wait().code(), StatusCode::data_loss);
  result = read(a, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[0], 0x1p44f);
}

TEST_P(QueuedDevice, FailuresTravelWithTheirFirstCause) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer a = *device_.allocate(4 * kCount), r = *device_.allocate(4 * kCount);
  Event good = *executor_.fill(a, 0, 4 * kCount, std::vector<std::byte>(4));
  Event bad = *device_.create_event();
  Event run = *kernel.run(std::vector<Argument>{{r, 0}, {a, 0}}, std::vector<Event>{good, bad});
  Event copied = *executor_.copy(r, 0, a, 0, 16, {&run, 1});
  Mapping mapping = *a.map_current({&copied, 1});
  ASSERT_TRUE(bad.signal(make_error(StatusCode::data_loss, "the disk is gone")).ok());
  for (const Event& event : {run, copied, mapping.ready()}) {
    Status status = event.wait();
    EXPECT_EQ(status.code(), StatusCode::data_loss);
    EXPECT_THAT(status.message(), HasSubstr("the disk is gone"));
  }
  EXPECT_EQ(mapping.unmap()->wait().code(), StatusCode::data_loss);
  EXPECT_EQ(*run.duration_ns(), 0u);
  // The device goes on.
  EXPECT_EQ(doubles(device_), "");
}

TEST_P(QueuedDevice, ArgumentsMayStartAnywhere) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer both = *device_.allocate(4 * (2 * kCount + 3));
  std::vector<float> values(2 * kCount + 3, -1);
  for (int64_t i = 0; i < kCount; ++i) values[static_cast<size_t>(i + 1)] = static_cast<float>(i);
  Event written = *write(both, values);
  Event done =
      *kernel.run(std::vector<Argument>{{both, 4 * (kCount + 2)}, {both, 4}}, {&written, 1});
  auto result = read(both, done);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[0], -1);
  EXPECT_EQ((*result)[kCount + 1], -1);
  EXPECT_EQ((*result)[kCount + 2 + 7], 14);
  EXPECT_EQ(result->back(), -1);
}

TEST_P(QueuedDevice, SeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> outcomes(3);
  for (std::string& outcome : outcomes) threads.emplace_back([&] { outcome = doubles(device_); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& outcome : outcomes) EXPECT_EQ(outcome, "");
}

// The same batch again and again, more often than recordings of it are kept, and others between.
TEST_P(QueuedDevice, BatchesThatComeAgainDoTheSame) {
  Kernel kernel = prepared(doubling());
  Buffer x = *device_.allocate(4 * kCount), y = *device_.allocate(4 * kCount);
  const std::vector<Launch> batch = {{kernel, {{y, 0}, {x, 0}}, {}},
                                     {kernel, {{x, 0}, {y, 0}}, {0}}};
  Event last = *write(x, std::vector<float>(kCount, 1.0f));
  for (int i = 0; i < 40; ++i) last = *executor_.submit(batch, {&last, 1});
  auto result = read(x, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[kCount - 1], 0x1p80f);
  for (int i = 0; i < 100; ++i) {
    // Each with addresses of its own.
    Buffer z = *device_.allocate(4 * kCount);
    Event filled = *executor_.fill(z, 0, 4 * kCount, std::vector<std::byte>(4));
    ASSERT_TRUE(executor_.submit(std::vector<Launch>{{kernel, {{z, 0}, {x, 0}}, {}}}, {&filled, 1})
                    ->wait()
                    .ok());
  }
}

TEST_P(QueuedDevice, FillsAndCopiesOfAnySizeAtAnyOffset) {
  constexpr size_t kBytes = 3000;
  Buffer buffer = *device_.allocate(kBytes), other = *device_.allocate(kBytes);
  std::vector<std::byte> expected(kBytes), elsewhere(kBytes);
  Event last = *executor_.fill(buffer, 0, kBytes, std::vector<std::byte>(1));
  last = *executor_.fill(other, 0, kBytes, std::vector<std::byte>(2), {&last, 1});
  uint32_t state = 1;
  const auto random = [&state](uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  for (int turn = 0; turn < 60; ++turn) {
    std::vector<std::byte> pattern(size_t{1} << random(5));
    for (std::byte& byte : pattern) byte = static_cast<std::byte>(random(turn % 3 ? 256 : 1) + 1);
    const size_t bytes = pattern.size() * random(64);
    const size_t offset = random(static_cast<uint32_t>(kBytes - bytes));
    last = *executor_.fill(buffer, offset, bytes, pattern, {&last, 1});
    for (size_t i = 0; i < bytes; ++i) expected[offset + i] = pattern[i % pattern.size()];
    const size_t count = random(700), from = random(static_cast<uint32_t>(kBytes - count)),
                 to = random(static_cast<uint32_t>(kBytes - count));
    last = *executor_.copy(buffer, from, other, to, count, {&last, 1});
    std::memcpy(elsewhere.data() + to, expected.data() + from, count);
  }
  for (const auto& [made, wanted] : {std::pair{buffer, expected}, {other, elsewhere}}) {
    Mapping mapping = *made.map_current({&last, 1});
    ASSERT_TRUE(mapping.ready().wait().ok()) << mapping.ready().wait().to_string();
    EXPECT_EQ(std::memcmp(mapping.data(), wanted.data(), kBytes), 0);
    ASSERT_TRUE(mapping.unmap()->wait().ok());
  }
}

// Larger than the pattern that is written out.
TEST_P(QueuedDevice, LargeFillsRepeatTheirPattern) {
  constexpr size_t kBytes = (size_t{5} << 20) + 16;
  Buffer buffer = *device_.allocate(kBytes);
  std::vector<std::byte> pattern(16);
  for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::byte>(i);
  Event filled = *executor_.fill(buffer, 0, kBytes, pattern);
  Mapping mapping = *buffer.map_current({&filled, 1});
  ASSERT_TRUE(mapping.ready().wait().ok());
  for (size_t i = 0; i < kBytes; i += 1001)
    ASSERT_EQ(static_cast<size_t>(mapping.data()[i]), i % 16) << i;
}

TEST_P(QueuedDevice, PartsOfABufferAreMappedByThemselves) {
  Buffer buffer = *device_.allocate(4096);
  Event filled = *executor_.fill(buffer, 0, 4096, std::vector<std::byte>(1));
  ASSERT_TRUE(filled.wait().ok());
  Mapping first = *buffer.map_current({}, 8, 100), second = *buffer.map_discard({}, 2000, 50),
          none = *buffer.map_current({}, 4096, 0);
  ASSERT_TRUE(first.ready().wait().ok() && second.ready().wait().ok() && none.ready().wait().ok());
  std::memset(first.data() + 10, 1, 20);
  std::memset(second.data(), 2, 50);
  std::vector<Event> ends = {*first.unmap(), *second.unmap(), *none.unmap()};
  Mapping all = *buffer.map_current(ends);
  ASSERT_TRUE(all.ready().wait().ok());
  for (int i = 0; i < 4096; ++i)
    ASSERT_EQ(static_cast<int>(all.data()[i]), i >= 18 && i < 38       ? 1
                                               : i >= 2000 && i < 2050 ? 2
                                                                       : 0)
        << i;
}

TEST_P(QueuedDevice, WhatIsOnlyReadIsNotWrittenBackAndMayBeReadTwiceAtOnce) {
  constexpr size_t kBytes = 4096;
  Buffer buffer = *device_.allocate(kBytes);
  Event filled = *executor_.fill(buffer, 0, kBytes, std::vector<std::byte>(1, std::byte{1}));
  Mapping first = *buffer.map_read({&filled, 1}), second = *buffer.map_read({&filled, 1}, 8, 100);
  ASSERT_TRUE(first.ready().wait().ok() && second.ready().wait().ok());
  EXPECT_EQ(first.data()[8], std::byte{1});
  EXPECT_EQ(second.data()[0], std::byte{1});
  // Written by the device while the host still looks at what it has read: an unmap that wrote back
  // would bring the old bytes again.
  Event again = *executor_.fill(buffer, 0, kBytes, std::vector<std::byte>(1, std::byte{2}));
  ASSERT_TRUE(again.wait().ok());
  std::vector<Event> ends = {*first.unmap(), *second.unmap()};
  Mapping all = *buffer.map_current(ends);
  ASSERT_TRUE(all.ready().wait().ok());
  for (size_t i = 0; i < kBytes; ++i) ASSERT_EQ(all.data()[i], std::byte{2}) << i;
}

// A callback may run on the queue's own thread, for whose end the device's release waits.
TEST_P(QueuedDevice, TheLastHandlesMayGoInACallback) {
  Plugin plugin = load_with(GetParam().plugin, GetParam().options);
  // Another device's: so that none of our own handles is left when the work begins.
  Device other = *first_device(plugin);
  Event gate = *other.create_event();
  {
    Device device = *first_device(plugin);
    Executor executor = *device.create_executor();
    Buffer buffer = *device.allocate(64);
    Event filled = *executor.fill(buffer, 0, 64, std::vector<std::byte>(1), {&gate, 1});
    ASSERT_TRUE(filled
                    .on_done([device = std::move(device), executor = std::move(executor),
                              buffer = std::move(buffer)](const Status&) mutable {
                      executor = {};
                      buffer = {};
                      device = {};
                    })
                    .ok());
  }
  ASSERT_TRUE(gate.signal().ok());
  gate = {};
  other = {};
  Status ended = plugin.shutdown();
  for (int i = 0; i < 1000 && ended.code() == StatusCode::failed_precondition; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ended = plugin.shutdown();
  }
  EXPECT_EQ(ended.to_string(), "ok");
}

// Buffers that go while work uses them, and many of all sizes.
TEST_P(QueuedDevice, MemoryLastsAsLongAsItsWork) {
  Kernel kernel = prepared(doubling());
  Buffer result = *device_.allocate(4 * kCount);
  Event gate = *device_.create_event(), last = gate;
  for (int i = 0; i < 50; ++i) {
    Buffer a = *device_.allocate(4 * kCount), b = *device_.allocate(1 << (i % 21));
    last = *executor_.fill(
        a, 0, 4 * kCount,
        std::vector<std::byte>{std::byte{}, std::byte{}, std::byte{0x80}, std::byte{0x3f}},
        {&last, 1});
    last = *executor_.fill(b, 0, b.size(), std::vector<std::byte>(1), {&last, 1});
    last = *kernel.run(std::vector<Argument>{{result, 0}, {a, 0}}, {&last, 1});
  }
  ASSERT_TRUE(gate.signal().ok());
  auto values = read(result, last);
  ASSERT_TRUE(values.ok()) << values.status().to_string();
  EXPECT_EQ((*values)[0], 2);
}

// The same of a batch, whose launches go before it is done. What takes the place of a buffer that
// goes too early is written before the last kernel reads it.
TEST_P(QueuedDevice, MemoryOfABatchLastsAsLongAsItsWork) {
  Kernel kernel = prepared(doubling());
  Buffer x = *device_.allocate(4 * kCount), y = *device_.allocate(4 * kCount);
  ASSERT_TRUE(write(y, std::vector<float>(kCount, 1.0f))->wait().ok());
  std::vector<Launch> chain;
  for (uint32_t i = 0; i < 1000; ++i)
    chain.push_back(
        {kernel, {{x, 0}, {y, 0}}, i ? std::vector<uint32_t>{i - 1} : std::vector<uint32_t>{}});
  Event done = *executor_.submit(chain);
  chain.clear();
  y = {};
  Buffer z = *device_.allocate(4 * kCount);
  ASSERT_TRUE(write(z, std::vector<float>(kCount, 7.0f))->wait().ok());
  auto values = read(x, done);
  ASSERT_TRUE(values.ok()) << values.status().to_string();
  EXPECT_EQ((*values)[0], 2);
  EXPECT_EQ((*values)[kCount - 1], 2);
}

TEST_P(QueuedDevice, RefusesByName) {
  auto huge = device_.allocate(uint64_t{1} << 50);
  EXPECT_EQ(huge.status().code(), StatusCode::out_of_memory);
  EXPECT_THAT(huge.status().message(), HasSubstr("1125899906842624 bytes"));
  EXPECT_EQ(device_.allocate(16, "LOCAL").status().code(), StatusCode::not_found);
  EXPECT_TRUE(device_.allocate(0).ok());
  Build build = *compiler_.build("stripe 1.0\nnonsense");
  EXPECT_EQ(build.done.wait().code(), StatusCode::invalid_argument);
  Build options = *compiler_.build(doubling(), R"({"fast_math": 3})");
  EXPECT_THAT(options.done.wait().message(), HasSubstr("fast_math"));
  Build unknown = *compiler_.build(doubling("frobnicate"));
  EXPECT_THAT(unknown.done.wait().message(), HasSubstr("frobnicate"));
}

}  // namespace
}  // namespace stria::hal
