// SPDX-License-Identifier: Apache-2.0
// What a worker leaves behind is found and ended, wherever it has gone to, and nothing else is.
#include "suite/child.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <new>

namespace stria::conformance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// What processes tell each other.
struct Told {
  std::atomic<pid_t> stray, parent;
  std::atomic<bool> go_on;
  std::atomic<int> heirs;
};

class Children : public testing::Test {
 protected:
  void SetUp() override {
    void* const memory =
        ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    told_ = new (memory) Told();
    adopt_strays();
  }
  void TearDown() override {
    // Whatever a test that failed has left.
    end_strays([](pid_t) { return false; }, seconds(30), nullptr);
    ::munmap(told_, sizeof(Told));
  }
  static bool nobody(pid_t) { return false; }
  static bool becomes(const std::function<bool()>& good) {
    for (int i = 0; i < 30'000 && !good(); ++i) ::usleep(1000);
    return good();
  }
  static bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }
  // Twice forked, in a session of its own: as servers go away from whoever starts them.
  void start_daemon() {
    const pid_t between = ::fork();
    if (between == 0) {
      ::setsid();
      if (::fork() == 0) {
        ::setpgid(0, 0);
        told_->stray = ::getpid();
        while (true) ::pause();
      }
      ::_exit(0);
    }
    ::waitpid(between, nullptr, 0);
  }
  // The wait status of a child that has ended by itself.
  static int status_of(Child& child) {
    siginfo_t info{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT), 0);
    return end_child(child);
  }
  Told* told_ = nullptr;
};

TEST_F(Children, EndAsTheirWorkDoes) {
  for (const int code : {0, 1, 7, 119}) {
    auto child = start_child([&](int) { ::_exit(code); });
    ASSERT_TRUE(child.ok()) << child.status().to_string();
    const int status = status_of(*child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), code);
  }
  for (const int number : {SIGKILL, SIGABRT, SIGSEGV, SIGTERM}) {
    auto child = start_child([&](int) {
      ::signal(number, SIG_DFL);
      ::raise(number);
    });
    ASSERT_TRUE(child.ok()) << child.status().to_string();
    const int status = status_of(*child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), number);
  }
}

// The end of the pipe is seen as soon as the worker is gone.
TEST_F(Children, ThePipesAreTheWorkersAlone) {
  auto child = start_child([](int pipe) {
    if (::write(pipe, "x", 1) != 1) ::_exit(1);
    ::_exit(0);
  });
  ASSERT_TRUE(child.ok()) << child.status().to_string();
  std::string got;
  ASSERT_TRUE(becomes([&] {
    char byte;
    const ssize_t count = ::read(child->messages, &byte, 1);
    if (count == 1) got += byte;
    return count == 0;
  }));
  EXPECT_EQ(got, "x");
  EXPECT_EQ(status_of(*child), 0);
}

// A helper that one worker's plugin has started is not another's to end.
TEST_F(Children, WhatALivingOneHasStartedIsNotAStray) {
  auto one = start_child([&](int) {
    start_daemon();
    while (!told_->go_on) ::usleep(1000);
    ::_exit(0);
  });
  ASSERT_TRUE(one.ok()) << one.status().to_string();
  ASSERT_TRUE(becomes([&] { return told_->stray != 0; }));
  auto other = start_child([](int) { ::_exit(0); });
  ASSERT_TRUE(other.ok()) << other.status().to_string();
  status_of(*other);
  EXPECT_TRUE(end_strays([&](pid_t pid) { return pid == one->pid; }, seconds(30), nullptr));
  EXPECT_FALSE(is_gone(told_->stray));
  told_->go_on = true;
  status_of(*one);
  EXPECT_TRUE(end_strays(nobody, seconds(30), nullptr));
  EXPECT_TRUE(is_gone(told_->stray));
}

// Nor does its process look otherwise for being tested: what it sends away is not its child.
TEST_F(Children, AdoptNothingThemselves) {
  auto child = start_child([&](int) {
    start_daemon();
    while (told_->stray == 0) ::usleep(1000);
    ::_exit(::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 1);
  });
  ASSERT_TRUE(child.ok()) << child.status().to_string();
  EXPECT_EQ(status_of(*child), 0);
  EXPECT_TRUE(end_strays(nobody, seconds(30), nullptr));
}

TEST_F(Children, OneThatHangsIsEndedWithAllThatItStarted) {
  auto child = start_child([&](int) {
    start_daemon();
    told_->parent = ::getpid();
    while (true) ::pause();
  });
  ASSERT_TRUE(child.ok()) << child.status().to_string();
  ASSERT_TRUE(becomes([&] { return told_->stray != 0 && told_->parent != 0; }));
  end_child(*child);
  EXPECT_TRUE(end_strays(nobody, seconds(30), nullptr));
  EXPECT_TRUE(is_gone(told_->stray));
  EXPECT_TRUE(is_gone(told_->parent));
}

TEST_F(Children, TimeAndAStopBoundTheEndOfStrays) {
  std::atomic<bool> stop{true};
  for (const auto& [limit, asked] :
       {std::pair<milliseconds, const std::atomic<bool>*>{milliseconds(0), nullptr},
        {seconds(600), &stop}}) {
    std::array<pid_t, 2> strays{};
    for (pid_t& stray : strays) {
      stray = ::fork();
      if (stray == 0)
        while (true) ::pause();
      ASSERT_GT(stray, 0);
    }
    const auto begin = std::chrono::steady_clock::now();
    // One look, in which they are killed and perhaps not gone.
    EXPECT_FALSE(end_strays(nobody, limit, asked));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(60));
    EXPECT_TRUE(end_strays(nobody, seconds(30), nullptr));
    for (const pid_t stray : strays) EXPECT_TRUE(is_gone(stray));
  }
}

// Each is gone as soon as its heir is there: a signal for one of them comes too late. Here they end
// by themselves after a while; without an end they would run against the limit.
TEST_F(Children, ThoseThatForkOnAndOnAreEndedInTime) {
  auto child = start_child([&](int) {
    if (::fork() > 0) ::_exit(0);
    while (++told_->heirs < 200'000) {
      if (told_->heirs % 2 == 0) ::setsid();
      if (::fork() > 0) ::_exit(0);
    }
    ::_exit(0);
  });
  ASSERT_TRUE(child.ok()) << child.status().to_string();
  ASSERT_TRUE(becomes([&] { return told_->heirs > 100; }));
  status_of(*child);
  const auto begin = std::chrono::steady_clock::now();
  (void)end_strays(nobody, seconds(10), nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(60));
}

}  // namespace
}  // namespace stria::conformance
