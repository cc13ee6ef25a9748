// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace stria::hal {
namespace {

using std::chrono::milliseconds;

// A watchdog that remembers whom it told.
class WatchdogTest : public ::testing::Test {
 protected:
  std::vector<std::string> told() {
    std::lock_guard lock(mutex_);
    return told_;
  }
  // Until somebody has been told, or for so long.
  void wait(milliseconds limit = milliseconds(20'000)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (told().empty() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(milliseconds(5));
  }
  std::mutex mutex_;
  std::vector<std::string> told_;  // guarded by mutex_
  std::vector<double> seconds_;    // guarded by mutex_
  const std::string* acme_ = Watchdog::name_for_ever("acme");
  Watchdog dog_{milliseconds(200),
                [this](std::string_view plugin, std::string_view slot, double seconds) {
                  std::lock_guard lock(mutex_);
                  told_.push_back(std::string(plugin) + " " + std::string(slot));
                  seconds_.push_back(seconds);
                }};
};

TEST_F(WatchdogTest, ACallThatHangsIsToldOnceWithItsName) {
  const Watchdog::Call call(&dog_, acme_, "executor.submit");
  wait();
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_THAT(told(), ::testing::ElementsAre("acme executor.submit"));
  EXPECT_GE(seconds_.at(0), 0.2);
}

TEST_F(WatchdogTest, ManyShortCallsAreNoHang) {
  const auto end = std::chrono::steady_clock::now() + milliseconds(600);
  while (std::chrono::steady_clock::now() < end) {
    const Watchdog::Call call(&dog_, acme_, "kernel.run");
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_THAT(told(), ::testing::IsEmpty());
}

// A plugin that calls another plugin all the time has not returned itself.
TEST_F(WatchdogTest, ShortCallsInsideAHungOneDoNotHideIt) {
  const Watchdog::Call outer(&dog_, acme_, "event.signal");
  for (int i = 0; i < 4000 && told().empty(); ++i) {
    const Watchdog::Call inner(&dog_, Watchdog::name_for_ever("other"), "event.on_done");
    std::this_thread::sleep_for(milliseconds(1));
  }
  wait(milliseconds(1000));
  EXPECT_THAT(told(), ::testing::ElementsAre("acme event.signal"));
}

TEST_F(WatchdogTest, AWaitHasTheLimitItself) {
  const Watchdog::Call call(&dog_, acme_, "event.wait");
  std::this_thread::sleep_for(milliseconds(600));
  EXPECT_THAT(told(), ::testing::IsEmpty());
  wait();
  EXPECT_THAT(told(), ::testing::ElementsAre("acme event.wait"));
}

TEST_F(WatchdogTest, WhatHasALimitOfItsOwnIsNotWatched) {
  const Watchdog::Pause pause;
  const Watchdog::Call call(&dog_, acme_, "driver.open");
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_THAT(told(), ::testing::IsEmpty());
}

TEST_F(WatchdogTest, EachLooksAtItsOwnCallsOnly) {
  int others = 0;
  Watchdog other(milliseconds(50), [&](auto...) { ++others; });
  {
    const Watchdog::Call call(&dog_, acme_, "driver.open");
    wait();
  }
  EXPECT_THAT(told(), ::testing::ElementsAre("acme driver.open"));
  EXPECT_EQ(others, 0);
}

TEST_F(WatchdogTest, ThreadsComeAndGo) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int call = 0; call < 1000; ++call)
          const Watchdog::Call one(&dog_, acme_, "kernel.run");
      });
    for (std::thread& thread : threads) thread.join();
  }
  std::thread([&] {
    const Watchdog::Call call(&dog_, acme_, "buffer.release");
    wait();
  }).join();
  EXPECT_THAT(told(), ::testing::ElementsAre("acme buffer.release"));
}

}  // namespace
}  // namespace stria::hal
