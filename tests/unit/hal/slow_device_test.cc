// SPDX-License-Identifier: Apache-2.0
// The plugin `slow_device` through the boundary: memory that the host sees only through copies,
// several queues, works that end in random order. Events alone keep graphs of works right on it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "scripted_host.h"
#include "stria/hal/device.h"
#include "stria/hal/plugin.h"

namespace stria::hal {
namespace {

constexpr uint64_t kBytes = sizeof(uint64_t);

// What a callback holds goes a moment after the event that it was called for was seen: after a
// mapping that ends before it is ready, the plugin is in use for a while.
Status shut_down(Plugin& plugin) {
  Status status = plugin.shutdown();
  for (int i = 0; i < 10'000 && status.code() == StatusCode::failed_precondition; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    status = plugin.shutdown();
  }
  return status;
}

TEST(SlowDevice, RandomGraphsOverTwoExecutorsComputeTheSame) {
  auto script = std::make_shared<Script>();
  ArgumentInfo out{"R", Direction::out, kBytes, {}}, a{"A", Direction::in, kBytes, {}}, b = a;
  (*script)["add"] = {{out, a, b}, [](std::span<const stria_memory> memory) {
                        auto value = [&](int i) { return *static_cast<uint64_t*>(memory[i].data); };
                        *static_cast<uint64_t*>(memory[0].data) = value(1) + value(2);
                        return Status();
                      }};
  (*script)["fail"] = {{out, a, b}, [](std::span<const stria_memory>) {
                         return make_error(StatusCode::device_lost, "gone");
                       }};
  LoadResult loaded = load_plugin(built_test_plugin("slow_device"), scripted_host(script, 2));
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  {
    Device device = *loaded.plugin.open("slow");
    Executor queues[2] = {*device.create_executor(), *device.create_executor()};
    Compiler compiler = *device.create_compiler();
    Build build = *compiler.build("add\nfail");
    ASSERT_TRUE(build.done.wait().ok());
    Kernel add[2], fail[2];
    for (int q : {0, 1}) {
      add[q] = *queues[q].prepare(build.library, 0);
      fail[q] = *queues[q].prepare(build.library, 1);
    }
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937 random(seed);
      constexpr unsigned kNodes = 40;
      std::vector<Buffer> values;
      std::vector<Event> events;
      std::vector<uint64_t> expected;
      std::vector<bool> lost;
      for (unsigned i = 0; i < kNodes; ++i) {
        Buffer value = *device.allocate(kBytes);
        if (i < 2) {
          Mapping mapping = *value.map_discard();
          ASSERT_TRUE(mapping.ready().wait().ok());
          std::memcpy(mapping.data(), &seed, sizeof seed);
          std::memset(mapping.data() + sizeof seed, 0, kBytes - sizeof seed);
          events.push_back(*mapping.unmap());
          expected.push_back(seed);
          lost.push_back(false);
        } else {
          const unsigned x = random() % i, y = random() % i, q = random() % 2;
          std::vector<Event> waits = {events[x], events[y]};
          const bool fails = random() % 60 == 0;
          std::vector<Argument> arguments = {{value, 0}, {values[x], 0}, {values[y], 0}};
          if (random() % 3 == 0) {
            // The same as a batch of one on its executor.
            events.push_back(*queues[q].submit(
                std::vector<Launch>{{fails ? fail[q] : add[q], arguments, {}}}, waits));
          } else {
            events.push_back(*(fails ? fail[q] : add[q]).run(arguments, waits));
          }
          expected.push_back(expected[x] + expected[y]);
          lost.push_back(fails || lost[x] || lost[y]);
        }
        values.push_back(value);
      }
      for (unsigned i = kNodes; i-- > 0;) {
        Mapping mapping = *values[i].map_current({&events[i], 1});
        Status status = mapping.ready().wait();
        ASSERT_EQ(status.code(), lost[i] ? StatusCode::device_lost : StatusCode::ok)
            << seed << " " << i;
        if (!lost[i]) {
          uint64_t value;
          std::memcpy(&value, mapping.data(), kBytes);
          ASSERT_EQ(value, expected[i]) << seed << " " << i;
        }
      }
      ASSERT_TRUE(queues[0].drain().ok());
      ASSERT_TRUE(queues[1].drain().ok());
      for (const Event& event : events) ASSERT_TRUE(event.is_done());
    }
    // A kernel belongs to the executor it was prepared by.
    Buffer one = *device.allocate(kBytes), two = *device.allocate(kBytes);
    std::vector<Launch> foreign = {{add[1], {{one, 0}, {two, 0}, {two, 0}}, {}}};
    EXPECT_EQ(queues[0].submit(foreign).status().code(), StatusCode::invalid_argument);
  }
  EXPECT_TRUE(loaded.plugin.shutdown().ok());
}

// Copies, fills and mapped ranges of one buffer, in random order of completion, with waits that
// leave one meaning.
TEST(SlowDevice, CopiesFillsAndMappingsKeepTheOrderOfTheirWaits) {
  LoadResult loaded = load_plugin(built_test_plugin("slow_device"), scripted_host(nullptr, 2));
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  {
    Device device = *loaded.plugin.open("slow");
    Executor executor = *device.create_executor();
    std::mt19937 random(7);
    constexpr uint64_t kSize = 256;
    for (int round = 0; round < 20; ++round) {
      Buffer buffers[2] = {*device.allocate(kSize), *device.allocate(kSize)};
      std::vector<uint8_t> expected[2] = {std::vector<uint8_t>(kSize), std::vector<uint8_t>(kSize)};
      std::byte zero{0};
      std::vector<Event> last;  // all works wait for the one before
      for (Buffer& buffer : buffers) last = {*executor.fill(buffer, 0, kSize, {&zero, 1}, last)};
      for (int step = 0; step < 30; ++step) {
        const uint64_t from = random() % kSize, to = random() % kSize;
        const uint64_t bytes = random() % (kSize - std::max(from, to) + 1);
        const size_t b = random() % 2;
        const auto value = static_cast<uint8_t>(random());
        if (step % 3 == 0) {
          std::byte pattern{value};
          last = {*executor.fill(buffers[b], to, bytes, {&pattern, 1}, last)};
          std::fill_n(expected[b].begin() + static_cast<int64_t>(to), bytes, value);
        } else if (step % 3 == 1) {
          last = {*executor.copy(buffers[b], from, buffers[1 - b], to, bytes, last)};
          std::copy_n(expected[b].begin() + static_cast<int64_t>(from), bytes,
                      expected[1 - b].begin() + static_cast<int64_t>(to));
        } else {
          Mapping mapping = *buffers[b].map_current(last, to, bytes);
          ASSERT_TRUE(mapping.ready().wait().ok());
          for (uint64_t i = 0; i < bytes; ++i) {
            ASSERT_EQ(static_cast<uint8_t>(mapping.data()[i]), expected[b][to + i]) << round;
            mapping.data()[i] = std::byte{static_cast<uint8_t>(value + i)};
            expected[b][to + i] = static_cast<uint8_t>(value + i);
          }
          last = {*mapping.unmap()};
        }
      }
      for (size_t b : {0, 1}) {
        Mapping mapping = *buffers[b].map_current(last);
        ASSERT_TRUE(mapping.ready().wait().ok());
        ASSERT_EQ(std::memcmp(mapping.data(), expected[b].data(), kSize), 0) << round;
      }
    }
    Buffer buffer = *device.allocate(kSize);
    Mapping first = *buffer.map_discard({}, 0, 16);
    Mapping second = *buffer.map_discard({}, 16, 16);
    EXPECT_TRUE(first.data() + 16 <= second.data() || second.data() + 16 <= first.data());
  }
  EXPECT_EQ(shut_down(loaded.plugin).to_string(), "ok");
}

// A mapping holds its range from when its waits are over until its unmap is done: before that the
// range may be mapped again, and ending it early changes nothing.
TEST(SlowDevice, ARangeMayBeMappedAgainBeforeItsEarlierMappingIsReady) {
  LoadResult loaded = load_plugin(built_test_plugin("slow_device"), scripted_host(nullptr, 2));
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  {
    Device device = *loaded.plugin.open("slow");
    Executor executor = *device.create_executor();
    constexpr uint64_t kSize = 64;
    const std::byte seven{7};
    for (int round = 0; round < 20; ++round) {
      Buffer buffer = *device.allocate(kSize);
      Event gate = *device.create_event();
      Event filled = *executor.fill(buffer, 0, kSize, {&seven, 1}, {&gate, 1});
      Mapping first = *buffer.map_current({&filled, 1});
      Event unmapped = *first.unmap();
      Mapping second = *buffer.map_current({&unmapped, 1});
      Event again = *second.unmap();
      EXPECT_FALSE(unmapped.is_done() || again.is_done());
      Mapping third = *buffer.map_current({&again, 1});
      ASSERT_TRUE(gate.signal().ok());
      const Status ready = third.ready().wait();
      ASSERT_TRUE(ready.ok()) << ready.to_string();
      for (uint64_t i = 0; i < kSize; ++i) ASSERT_EQ(third.data()[i], seven) << round << " " << i;
      // While it goes on there is no other.
      const Status twice = buffer.map_current({}, kSize - 1, 1)->ready().wait();
      EXPECT_EQ(twice.code(), StatusCode::failed_precondition);
      EXPECT_NE(twice.message().find("bytes 63 to 64 are mapped while a mapping of bytes 0 to 64"),
                std::string::npos)
          << twice.to_string();
    }
  }
  EXPECT_EQ(shut_down(loaded.plugin).to_string(), "ok");
}

// The device refuses overlapping ranges unless all are only read.
TEST(SlowDevice, ReadersShareARangeAndWriteNothingBack) {
  LoadResult loaded = load_plugin(built_test_plugin("slow_device"), scripted_host(nullptr, 2));
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  {
    Device device = *loaded.plugin.open("slow");
    Executor executor = *device.create_executor();
    Buffer buffer = *device.allocate(64);
    const std::byte seven{7};
    Event filled = *executor.fill(buffer, 0, 64, {&seven, 1});
    Mapping first = *buffer.map_read({&filled, 1}), second = *buffer.map_read({&filled, 1}, 8, 8);
    ASSERT_TRUE(first.ready().wait().ok()) << first.ready().wait().to_string();
    ASSERT_TRUE(second.ready().wait().ok()) << second.ready().wait().to_string();
    EXPECT_EQ(buffer.map_current({}, 8, 1)->ready().wait().code(), StatusCode::failed_precondition);
    // Nobody may write there; what is written all the same does not reach the device.
    first.data()[8] = std::byte{1};
    std::vector<Event> ends = {*first.unmap(), *second.unmap()};
    Mapping all = *buffer.map_current(ends);
    ASSERT_TRUE(all.ready().wait().ok());
    for (int i = 0; i < 64; ++i) EXPECT_EQ(all.data()[i], seven) << i;
  }
  EXPECT_EQ(shut_down(loaded.plugin).to_string(), "ok");
}

TEST(SlowDevice, TheLastHandlesMayGoInACallback) {
  LoadResult loaded = load_plugin(built_test_plugin("slow_device"), scripted_host(nullptr, 2));
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  {
    Device device = *loaded.plugin.open("slow");
    Executor executor = *device.create_executor();
    const std::byte seven{7};
    Event gate = *device.create_event();
    Event filled = *executor.fill(*device.allocate(64), 0, 64, {&seven, 1}, {&gate, 1});
    ASSERT_TRUE(filled
                    .on_done([device = std::move(device),
                              executor = std::move(executor)](const Status&) mutable {
                      executor = {};
                      device = {};
                    })
                    .ok());
    ASSERT_TRUE(gate.signal().ok());
  }
  EXPECT_EQ(shut_down(loaded.plugin).to_string(), "ok");
}

TEST(SlowDevice, AFailedMappingTakesNothingToTheDevice) {
  LoadResult loaded = load_plugin(built_test_plugin("slow_device"), scripted_host(nullptr, 2));
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  {
    Device device = *loaded.plugin.open("slow");
    Executor executor = *device.create_executor();
    Buffer buffer = *device.allocate(8);
    const std::byte seven{7};
    ASSERT_TRUE(executor.fill(buffer, 0, 8, {&seven, 1})->wait().ok());
    Event gate = *device.create_event();
    Mapping failed = *buffer.map_current({&gate, 1});
    ASSERT_TRUE(gate.signal(Status(StatusCode::data_loss, "torn")).ok());
    EXPECT_EQ(failed.ready().wait().code(), StatusCode::data_loss);
    (void)failed.unmap()->wait();
    Mapping mapping = *buffer.map_current();
    ASSERT_TRUE(mapping.ready().wait().ok());
    EXPECT_EQ(mapping.data()[0], seven);
  }
  EXPECT_TRUE(loaded.plugin.shutdown().ok());
}

// A chain of works that fail, or that are over before their start has returned, is walked, not
// recursed: the stack does not grow with it.
TEST(SlowDevice, AFailureTravelsAlongALongChain) {
  LoadResult loaded = load_plugin(built_test_plugin("slow_device"), scripted_host(nullptr, 2));
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  {
    Device device = *loaded.plugin.open("slow");
    Executor executor = *device.create_executor();
    Buffer buffer = *device.allocate(8);
    Event open = *device.create_event();
    Event last = open;
    std::byte pattern{1};
    for (int i = 0; i < 100'000; ++i)
      last = *executor.fill(buffer, 0, 8, {&pattern, 1}, {&last, 1});
    ASSERT_TRUE(open.signal(Status(StatusCode::data_loss, "torn")).ok());
    EXPECT_EQ(last.wait().to_string(), "data_loss: torn");
    EXPECT_TRUE(executor.drain().ok());
    EXPECT_EQ(last.signal().code(), StatusCode::failed_precondition);  // not the host's to end
  }
  EXPECT_TRUE(loaded.plugin.shutdown().ok());
}

// What a callback holds may go long after the event that it ends was seen.
TEST(SlowDevice, ShutsDownWhenTheCallbacksUnderWayHaveEnded) {
  LoadResult loaded = load_plugin(built_test_plugin("slow_device"), scripted_host(nullptr, 2));
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  struct GoesLate {
    Buffer buffer;
    ~GoesLate() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }
  };
  {
    Device device = *loaded.plugin.open("slow");
    const Executor executor = *device.create_executor();
    const Buffer buffer = *device.allocate(8);
    Event gate = *device.create_event();
    const Event ended = *device.create_event();
    std::byte pattern{1};
    auto late = std::make_shared<GoesLate>(*device.allocate(8));
    // The callback runs on a thread of the plugin, and holds the last of `late` there.
    Event filled = *executor.fill(buffer, 0, 8, {&pattern, 1}, {&gate, 1});
    ASSERT_TRUE(filled.on_done([late, ended](const Status&) { (void)ended.signal(); }).ok());
    late.reset();
    filled = Event();
    ASSERT_TRUE(gate.signal().ok());
    ASSERT_TRUE(ended.wait().ok());
  }
  const Status status = loaded.plugin.shutdown();
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(SlowDevice, OptionsAreChecked) {
  auto verdict = [](const char* options) {
    LoadOptions load;
    load.driver_options = options;
    LoadResult loaded =
        load_plugin(built_test_plugin("slow_device"), scripted_host(nullptr, 2), load);
    if (loaded.status().ok()) (void)loaded.plugin.shutdown();
    return loaded.status().to_string();
  };
  EXPECT_EQ(verdict(R"({"seed": 5, "queues": 1, "delay_us": 0, "memory_bytes": 64})"), "ok");
  EXPECT_NE(verdict(R"({"sead": 5})").find("no driver option 'sead'"), std::string::npos);
  EXPECT_NE(verdict(R"({"queues": 0})").find("'queues' is 0"), std::string::npos);
}

}  // namespace
}  // namespace stria::hal
