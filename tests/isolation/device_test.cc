// SPDX-License-Identifier: Apache-2.0
// Devices of isolated plugins do what the same devices do in this process, with shared memory and
// without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "../small_program.h"
#include "isolated_runtime.h"
#include "stria/hal/device.h"
#include "stria/runtime/inside.h"

namespace stria::isolation_test {
namespace {

using ::testing::HasSubstr;

// The parameter: is memory shared? Where files may not be long there is none.
class Isolated : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    if (!GetParam()) limit.rlim_cur = rlim_t{1} << 30;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  void TearDown() override { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_P(Isolated, RunsProgramsOnEveryDevice) {
  // Runtimes of other tests were not shut down: theirs stay.
  const std::vector<pid_t> before = children();
  const std::vector<std::string> plugins = {STRIA_PLUGINS};
  for (const std::string& plugin : plugins) {
    RuntimeOptions options;
    options.only_plugins = {plugin};
    options.isolate_plugins = true;
    options.plugin_time_limit = std::chrono::seconds(30);
    const Runtime runtime(options);
    for (const DeviceInfo& info : runtime.devices()) {
      if (!info.available) continue;
      EXPECT_EQ(info.selector.rfind("isolated:" + plugin + ":", 0), 0u) << info.selector;
      const Result<Device> device = runtime.open(info.selector);
      ASSERT_TRUE(device.ok()) << info.selector << ": " << device.status().message();
      const Status ran = run_small_program(*device);
      EXPECT_TRUE(ran.ok()) << info.selector << ": " << ran.message();
    }
    const Status ended = runtime.shutdown();
    EXPECT_TRUE(ended.ok()) << plugin << ": " << ended.message();
  }
  EXPECT_TRUE(soon(3000, [&] { return children() == before; }));
}

TEST_P(Isolated, CopiesFillsAndMaps) {
  const Runtime runtime;
  const Result<Device> opened = runtime.open("isolated:reference");
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const hal::Device& device = Inside::hal_device(*opened);
  constexpr uint64_t kBytes = 5'000'001;
  const auto buffer = device.allocate(kBytes), other = device.allocate(kBytes);
  const auto executor = device.create_executor();
  ASSERT_TRUE(buffer.ok() && other.ok() && executor.ok());
  std::vector<std::byte> bytes(kBytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 255);
  {
    auto mapping = buffer->map_discard();
    ASSERT_TRUE(mapping.ok()) << mapping.status().message();
    ASSERT_TRUE(mapping->ready().wait().ok());
    std::memcpy(mapping->data(), bytes.data(), kBytes);
    const auto done = mapping->unmap();
    ASSERT_TRUE(done.ok() && done->wait().ok());
  }
  // All of it waits for an event of ours.
  const auto gate = device.create_event();
  ASSERT_TRUE(gate.ok());
  const std::byte pattern[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  const auto copied = executor->copy(*buffer, 3, *other, 1, kBytes - 3, {&*gate, 1});
  ASSERT_TRUE(copied.ok()) << copied.status().message();
  const auto filled = executor->fill(*other, 1000, 4000, pattern, {&*copied, 1});
  ASSERT_TRUE(filled.ok()) << filled.status().message();
  auto read = other->map_read({&*filled, 1}, 1, kBytes - 3);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->ready().wait(20'000'000).code(), StatusCode::deadline_exceeded);
  ASSERT_TRUE(gate->signal().ok());
  EXPECT_EQ(gate->signal().code(), StatusCode::failed_precondition);
  ASSERT_TRUE(read->ready().wait().ok());
  for (size_t i = 0; i < 4000; ++i) bytes[i + 999 + 3] = pattern[i % 4];
  EXPECT_EQ(std::memcmp(read->data(), bytes.data() + 3, kBytes - 3), 0);
  // A part of it, written back alone.
  const auto ended = read->unmap();
  ASSERT_TRUE(ended.ok() && ended->wait().ok());
  auto part = other->map_current({}, 17, 2);
  ASSERT_TRUE(part.ok() && part->ready().wait().ok());
  part->data()[1] = std::byte{99};
  const auto written = part->unmap();
  ASSERT_TRUE(written.ok() && written->wait().ok());
  auto again = other->map_read({}, 18, 1);
  ASSERT_TRUE(again.ok() && again->ready().wait().ok());
  EXPECT_EQ(again->data()[0], std::byte{99});
}

INSTANTIATE_TEST_SUITE_P(SharedMemory, Isolated, ::testing::Bool(), [](const auto& info) {
  return info.param ? std::string("shared") : std::string("not_shared");
});

TEST(IsolatedEvents, FailuresTravelWithTheirCause) {
  const Runtime runtime;
  const Result<Device> opened = runtime.open("isolated:reference");
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const hal::Device& device = Inside::hal_device(*opened);
  const auto buffer = device.allocate(64);
  const auto executor = device.create_executor();
  const auto gate = device.create_event();
  ASSERT_TRUE(buffer.ok() && executor.ok() && gate.ok());
  const std::byte zero{};
  const auto first = executor->fill(*buffer, 0, 64, {&zero, 1}, {&*gate, 1});
  const auto second = executor->fill(*buffer, 0, 64, {&zero, 1}, {&*first, 1});
  ASSERT_TRUE(first.ok() && second.ok());
  const auto end = first->end();
  ASSERT_TRUE(end.ok()) << end.status().message();
  std::atomic<int> calls{0};
  ASSERT_TRUE(second
                  ->on_done([&](const Status& outcome) {
                    EXPECT_EQ(outcome.code(), StatusCode::data_loss);
                    ++calls;
                  })
                  .ok());
  EXPECT_FALSE(second->is_done());
  ASSERT_TRUE(gate->signal(make_error(StatusCode::data_loss, "the tape is torn")).ok());
  EXPECT_THAT(second->wait().message(), HasSubstr("the tape is torn"));
  EXPECT_EQ(first->status().code(), StatusCode::data_loss);
  EXPECT_TRUE(end->wait().ok());
  EXPECT_TRUE(soon(1000, [&] { return calls == 1; }));
  EXPECT_TRUE(executor->drain().ok());
  // A host event that nobody signals any more.
  auto dropped = device.create_event();
  ASSERT_TRUE(dropped.ok());
  const auto waits = executor->fill(*buffer, 0, 64, {&zero, 1}, {&*dropped, 1});
  ASSERT_TRUE(waits.ok());
  *dropped = hal::Event();
  EXPECT_EQ(waits->wait().code(), StatusCode::cancelled);
}

// The process helps whoever waits, on the thread that receives: another one takes over, or what
// ends the wait would not be read.
TEST(IsolatedEvents, WaitsDoNotKeepWhatEndsThemFromTheProcess) {
  const Runtime runtime;
  for (const std::string plugin : {"reference", "llvm_cpu", "opencl", "vulkan"}) {
    const Result<Device> opened = runtime.open("isolated:" + plugin);
    if (!opened.ok()) continue;  // no driver
    const hal::Device device = Inside::hal_device(*opened);
    const auto buffer = device.allocate(64);
    const auto executor = device.create_executor();
    const std::byte zero{};
    for (int round = 0; round < 20; ++round) {
      std::vector<hal::Event> gates, filled;
      std::vector<std::thread> waiting;
      for (int i = 0; i < 3; ++i) {
        gates.push_back(*device.create_event());
        filled.push_back(*executor->fill(*buffer, 0, 64, {&zero, 1}, {&gates.back(), 1}));
      }
      for (const hal::Event& event : filled)
        waiting.emplace_back([&event] { EXPECT_TRUE(event.wait().ok()); });
      // One after the other, the last first: each wait is under way in the process by then.
      for (size_t i = gates.size(); i-- > 0;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1 + round % 3));
        EXPECT_TRUE(gates[i].signal().ok());
        EXPECT_TRUE(device.allocate(64).ok());  // what has an answer gets it
      }
      for (std::thread& thread : waiting) thread.join();
    }
  }
}

// A callback runs on the thread that hears what the process says.
TEST(IsolatedEvents, ACallbackMayCallSlotsThatAnswer) {
  const Runtime runtime;
  const Result<Device> opened = runtime.open("isolated:reference");
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const hal::Device device = Inside::hal_device(*opened);
  const auto buffer = device.allocate(64);
  const auto executor = device.create_executor();
  ASSERT_TRUE(buffer.ok() && executor.ok());
  std::atomic<int> good{0};
  constexpr int kTimes = 200;
  const std::byte zero{};
  for (int i = 0; i < kTimes; ++i) {
    const auto filled = executor->fill(*buffer, 0, 64, {&zero, 1});
    ASSERT_TRUE(filled.ok());
    ASSERT_TRUE(filled
                    ->on_done([&, device](const Status& outcome) {
                      auto mapping = buffer->map_read();
                      const auto another = device.create_executor();
                      const auto event = device.create_event();
                      good += outcome.ok() && mapping.ok() && another.ok() && event.ok() &&
                              event->signal().ok();
                    })
                    .ok());
  }
  EXPECT_TRUE(soon(20'000, [&] { return good == kTimes; })) << good;
}

TEST(IsolatedEvents, WhatIsWrongIsSaidAtOnce) {
  const Runtime runtime;
  EXPECT_EQ(runtime.open("isolated:").status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(runtime.open("isolated:no_such").status().code(), StatusCode::not_found);
  const Result<Device> opened = runtime.open("isolated:reference:0");
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(opened->info().selector, "isolated:reference:0");
  const hal::Device& device = Inside::hal_device(*opened);
  EXPECT_EQ(device.allocate(UINT64_MAX / 2).status().code(), StatusCode::out_of_memory);
  EXPECT_EQ(opened
                ->compile(*Program::from_tile({"a", "function (A[N]) -> (B) { B = A; }"}),
                          {{"A", {DataType::fp32, {INT64_MAX / 8}}}})
                .ok(),
            false);
  EXPECT_TRUE(run_small_program(*opened).ok());
}

}  // namespace
}  // namespace stria::isolation_test
