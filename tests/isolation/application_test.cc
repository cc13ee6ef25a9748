// SPDX-License-Identifier: Apache-2.0
// What is the application's own stays as it is: descriptors, threads, children, signal handlers.
// The process of a plugin ends with the application, whatever way that ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>

#include "../small_program.h"
#include "isolated_runtime.h"

namespace stria::isolation_test {
namespace {

std::atomic<int> ends_heard{0};

TEST(Application, OpensAThousandTimes) {
  const Runtime runtime;
  size_t descriptors_before = 0, threads_before = 0;
  for (int i = 0; i < 1000; ++i) {
    const Result<Device> device = runtime.open("isolated:reference");
    ASSERT_TRUE(device.ok()) << i << ": " << device.status().message();
    if (i % 100 == 0) {
      ASSERT_TRUE(run_small_program(*device).ok());
    }
    if (i == 10) descriptors_before = descriptors(), threads_before = threads();
    // Most share a process one after the other; every tenth ends it.
    if (i % 10 == 0)
      for (const pid_t child : children()) ::kill(child, SIGKILL);
  }
  EXPECT_LE(descriptors(), descriptors_before);
  EXPECT_LE(threads(), threads_before);
  EXPECT_TRUE(runtime.shutdown().ok());
  EXPECT_TRUE(soon(1000, [] { return children().empty(); }));
}

TEST(Application, KeepsItsSignalHandlerAndItsChildren) {
  struct sigaction mine{}, now{};
  mine.sa_handler = [](int) { ++ends_heard; };
  mine.sa_flags = SA_RESTART;
  struct sigaction before{};
  ASSERT_EQ(::sigaction(SIGCHLD, &mine, &before), 0);
  const pid_t own = ::fork();
  if (own == 0) {
    ::usleep(200'000);
    ::_exit(42);
  }
  {
    const Runtime runtime;
    const Result<Device> device = runtime.open("isolated:reference");
    ASSERT_TRUE(device.ok()) << device.status().message();
    EXPECT_TRUE(run_small_program(*device).ok());
    for (const pid_t child : children())
      if (child != own) ::kill(child, SIGKILL);
    EXPECT_TRUE(soon(1000, [&] { return children().size() <= 1; }));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(own, &status, 0), own);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
  ::sigaction(SIGCHLD, &before, &now);
  EXPECT_EQ(now.sa_handler, mine.sa_handler);
}

// Nobody hears how its children end.
TEST(Application, MayIgnoreTheEndsOfChildren) {
  void (*const before)(int) = std::signal(SIGCHLD, SIG_IGN);
  {
    const Runtime runtime;
    const Result<Device> device = runtime.open("isolated:reference");
    ASSERT_TRUE(device.ok()) << device.status().message();
    EXPECT_TRUE(run_small_program(*device).ok());
    for (const pid_t child : children()) ::kill(child, SIGKILL);
    const Status lost = run_small_program(*device);
    EXPECT_EQ(lost.code(), StatusCode::device_lost) << lost.message();
    EXPECT_NE(lost.message().find("the system does not say how"), std::string::npos)
        << lost.message();
  }
  (void)std::signal(SIGCHLD, before);
}

// What it starts gets nothing of ours, and keeps no process from being noticed.
TEST(Application, MayForkAndStartPrograms) {
  const Runtime runtime;
  const Result<Device> device = runtime.open("isolated:reference");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const std::vector<pid_t> processes = children();
  ASSERT_EQ(processes.size(), 1u);
  const size_t open = descriptors();
  int report[2];
  ASSERT_EQ(::pipe2(report, O_CLOEXEC), 0);
  const pid_t lists = ::fork();
  if (lists == 0) {
    ::dup2(report[1], STDOUT_FILENO);
    ::execl("/bin/sh", "sh", "-c", "ls /proc/self/fd | wc -l", nullptr);
    ::_exit(127);
  }
  ::close(report[1]);
  char text[32] = {};
  EXPECT_GT(::read(report[0], text, sizeof text - 1), 0);
  ::close(report[0]);
  ::waitpid(lists, nullptr, 0);
  EXPECT_LT(std::atoi(text), static_cast<int>(open));
  const pid_t copy = ::fork();
  if (copy == 0) {
    ::sleep(20);
    ::_exit(0);
  }
  EXPECT_TRUE(run_small_program(*device).ok());
  const auto begin = Clock::now();
  ::kill(processes[0], SIGKILL);
  EXPECT_EQ(run_small_program(*device).code(), StatusCode::device_lost);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(2));
  ::kill(copy, SIGKILL);
  ::waitpid(copy, nullptr, 0);
}

TEST(Application, TakesTheProcessWithIt) {
  for (const bool killed : {false, true}) {
    int report[2];
    ASSERT_EQ(::pipe2(report, O_CLOEXEC), 0);
    const pid_t application = ::fork();
    if (application == 0) {
      const Runtime runtime;
      const Result<Device> device = runtime.open("isolated:reference");
      const std::vector<pid_t> processes = children();
      const pid_t process = device.ok() && processes.size() == 1 ? processes[0] : 0;
      (void)!::write(report[1], &process, sizeof process);
      if (killed) ::pause();
      ::_exit(0);
    }
    pid_t process = 0;
    ASSERT_EQ(::read(report[0], &process, sizeof process), ssize_t{sizeof process});
    ASSERT_GT(process, 0);
    if (killed) ::kill(application, SIGKILL);
    ::waitpid(application, nullptr, 0);
    ::close(report[0]);
    ::close(report[1]);
    // Somebody waits for it, at last the first process of the system.
    EXPECT_TRUE(soon(2000, [&] {
      std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
      std::string id, name, state;
      return !(stat >> id >> name >> state) || state == "Z";
    }));
  }
}

}  // namespace
}  // namespace stria::isolation_test
