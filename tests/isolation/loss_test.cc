// SPDX-License-Identifier: Apache-2.0
// Whatever a plugin does to its process is a lost device, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "../small_program.h"
#include "isolated_runtime.h"
#include "stria/hal/device.h"
#include "stria/runtime/inside.h"
#include "stria/sdk/sanitizer.h"

namespace stria::isolation_test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class Loss : public ::testing::Test {
 protected:
  const fs::path& plugins() const { return folder_.path(); }
  // A device that does not do what the file says before it is asked for work.
  Status outcome(const Runtime& runtime, const std::string& selector) const {
    const Result<Device> device = runtime.open(selector);
    return device.ok() ? run_small_program(*device) : device.status();
  }
  const hal::TemporaryFolder folder_;
};

struct Doing {
  const char *what, *said;
};

TEST_F(Loss, APluginThatEndsItsProcessInASlot) {
  const Doing doings[] = {
      {"crash", "it crashed (Aborted)"},
      {"exit", "it ended the process with exit code 7"},
      {"_exit", "it ended the process with exit code 7"},
      {"kill", "it crashed (Killed)"},
      {"fault", "it crashed (Segmentation fault)"},
      {"end_thread", "it ended the thread that called it"},
  };
  const char* slots[] = {"device.allocate", "compiler.build",         "executor.prepare",
                         "executor.submit", "buffer.map_discard",     "device.create_executor",
                         "library.kernels", "device.create_compiler", "buffer.unmap"};
  make_bad(plugins(), "");
  const Runtime runtime(options_for(plugins()));
  for (const Doing& doing : doings)
    for (const char* slot : slots) {
      // The thread sanitizer lets such a write pass.
      if (sdk::kSanitizer == STRIA_SANITIZER_THREAD && doing.what == std::string("fault")) continue;
      SCOPED_TRACE(std::string(doing.what) + " " + slot);
      make_bad(plugins(), std::string(doing.what) + " " + slot + " 7");
      const Status lost = outcome(runtime, "isolated:bad");
      EXPECT_EQ(lost.code(), StatusCode::device_lost) << lost.message();
      EXPECT_THAT(lost.message(), HasSubstr("the process of plugin bad is lost: "));
      EXPECT_THAT(lost.message(), HasSubstr(doing.said));
    }
  make_bad(plugins(), "");
  const Status good = outcome(runtime, "isolated:bad");
  EXPECT_TRUE(good.ok()) << good.message();
  EXPECT_TRUE(runtime.shutdown().ok());
  EXPECT_TRUE(soon(1000, [] { return children().empty(); }));
}

TEST_F(Loss, APluginThatEndsItsProcessWhileItIsLoaded) {
  for (const char* place : {"constructor", "query", "driver.create"})
    for (const char* what : {"crash", "exit", "hang"}) {
      if (what == std::string("hang") && place == std::string("constructor")) continue;
      SCOPED_TRACE(std::string(what) + " " + place);
      make_bad(plugins(), std::string(what) + " " + place);
      RuntimeOptions options = options_for(plugins());
      options.plugin_time_limit = std::chrono::milliseconds(1000);
      const Runtime runtime(options);
      const Status status = runtime.open("isolated:bad").status();
      EXPECT_FALSE(status.ok());
      EXPECT_THAT(status.message(),
                  AnyOf(HasSubstr("it crashed (Aborted), while it was being loaded"),
                        HasSubstr("it ended the process with exit code 0, while it was"),
                        HasSubstr("within the limit of")));
    }
  EXPECT_TRUE(soon(1000, [] { return children().empty(); }));
}

TEST_F(Loss, AnErrorOfTheLoadIsNoLoss) {
  make_bad(plugins(), "fail driver.create 6");
  const Runtime runtime(options_for(plugins()));
  const Status status = runtime.open("isolated:bad").status();
  EXPECT_EQ(status.code(), runtime.open("bad").status().code()) << status.message();
  EXPECT_THAT(status.message(), HasSubstr("as asked"));
}

TEST_F(Loss, APluginThatHangsInASlot) {
  RuntimeOptions options = options_for(plugins());
  options.plugin_time_limit = std::chrono::milliseconds(500);
  options.wait_limit_ns = 1'500'000'000;
  make_bad(plugins(), "");
  const Runtime runtime(options);
  for (const char* slot :
       {"driver.open", "device.create_compiler", "device.allocate", "executor.prepare",
        "executor.submit", "buffer.map_discard", "buffer.release", "device.release"}) {
    SCOPED_TRACE(slot);
    make_bad(plugins(), std::string("hang ") + slot);
    const auto begin = Clock::now();
    const Status status = outcome(runtime, "isolated:bad");
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
    if (std::string(slot).find("release") != std::string::npos) {
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::device_lost) << status.message();
      continue;
    }
    // A wait may have its own limit sooner.
    EXPECT_THAT(status.code(), AnyOf(StatusCode::device_lost, StatusCode::deadline_exceeded));
    EXPECT_THAT(status.message(), AnyOf(HasSubstr("has not returned within the limit of"),
                                        HasSubstr("it has taken no message for 500 ms"),
                                        HasSubstr("the wait limit")));
  }
  make_bad(plugins(), "");
  EXPECT_TRUE(outcome(runtime, "isolated:bad").ok());
  EXPECT_TRUE(runtime.shutdown().ok());
  EXPECT_TRUE(soon(1000, [] { return children().empty(); }));
}

TEST_F(Loss, WorkThatHangsOrEndsTheProcess) {
  RuntimeOptions options = options_for(plugins());
  options.plugin_time_limit = std::chrono::milliseconds(1000);
  options.wait_limit_ns = 1'000'000'000;
  make_rude(plugins(), "");
  const Runtime runtime(options);
  EXPECT_TRUE(outcome(runtime, "isolated:rude").ok());
  make_rude(plugins(), "hang_in_work");
  const Status hangs = outcome(runtime, "isolated:rude");
  EXPECT_EQ(hangs.code(), StatusCode::deadline_exceeded) << hangs.message();
  make_rude(plugins(), "abort_in_work");
  const Status aborted = outcome(runtime, "isolated:rude");
  EXPECT_EQ(aborted.code(), StatusCode::device_lost) << aborted.message();
  EXPECT_THAT(aborted.message(), HasSubstr("it crashed (Aborted)"));
  EXPECT_TRUE(runtime.shutdown().ok());
  EXPECT_TRUE(soon(3000, [] { return children().empty(); }));
}

TEST_F(Loss, APluginThatSpoilsItsConnection) {
  RuntimeOptions options = options_for(plugins());
  options.plugin_time_limit = std::chrono::milliseconds(2000);
  make_rude(plugins(), "");
  const Runtime runtime(options);
  const Doing doings[] = {
      {"close_all", "the process of plugin rude is lost"},
      {"garbage", "it sends what is no message: "},
      {"fork_and_crash", "it crashed (Aborted)"},
      {"stop", "it has taken no message for 2000 ms"},
  };
  for (const Doing& doing : doings) {
    SCOPED_TRACE(doing.what);
    make_rude(plugins(), doing.what);
    const Status lost = outcome(runtime, "isolated:rude");
    EXPECT_EQ(lost.code(), StatusCode::device_lost) << lost.message();
    EXPECT_THAT(lost.message(), HasSubstr(doing.said));
  }
  make_rude(plugins(), "flood");
  const Status flooded = outcome(runtime, "isolated:rude");
  EXPECT_TRUE(flooded.ok()) << flooded.message();
  EXPECT_TRUE(runtime.shutdown().ok());
}

TEST_F(Loss, SaysTheLastWords) {
  make_bad(plugins(), "say executor.submit");
  const Runtime runtime(options_for(plugins()));
  const Status lost = outcome(runtime, "isolated:bad");
  EXPECT_THAT(lost.message(), HasSubstr("its last words: said to err: no such thing"));
}

// Everything that was begun fails, with one cause, and can be given back.
TEST_F(Loss, IsNoticedSoonAndByAll) {
  make_bad(plugins(), "");
  const Runtime runtime(options_for(plugins()));
  std::vector<double> took_ms;
  for (int round = 0; round < 5; ++round) {
    const Result<Device> opened = runtime.open("isolated:bad");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    ASSERT_EQ(children().size(), 1u);
    const hal::Device& device = Inside::hal_device(*opened);
    auto buffer = device.allocate(1 << 20);
    const auto executor = device.create_executor();
    const auto gate = device.create_event();
    ASSERT_TRUE(buffer.ok() && executor.ok() && gate.ok());
    auto mapping = buffer->map_discard();
    ASSERT_TRUE(mapping.ok() && mapping->ready().wait().ok());
    const std::byte zero{};
    std::vector<hal::Event> open;
    for (int i = 0; i < 100; ++i) {
      const auto filled = executor->fill(*buffer, 0, 64, {&zero, 1}, {&*gate, 1});
      ASSERT_TRUE(filled.ok());
      open.push_back(*filled);
    }
    const auto begin = Clock::now();
    ::kill(children().front(), SIGKILL);
    const Status lost = open.back().wait();
    took_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    EXPECT_EQ(lost.code(), StatusCode::device_lost);
    EXPECT_THAT(lost.message(),
                HasSubstr("it crashed (Killed), with the work of executor.fill under way"));
    for (const hal::Event& event : open)
      EXPECT_EQ(event.wait(1'000'000'000).message(), lost.message());
    EXPECT_EQ(gate->wait(1'000'000'000).code(), StatusCode::device_lost);
    // It stays lost; memory that was mapped can still be touched.
    mapping->data()[0] = std::byte{1};
    EXPECT_EQ(device.allocate(64).status().code(), StatusCode::device_lost);
    EXPECT_EQ(device.create_executor().status().code(), StatusCode::device_lost);
    EXPECT_EQ(executor->fill(*buffer, 0, 64, {&zero, 1}).status().code(), StatusCode::device_lost);
    EXPECT_EQ(executor->flush().code(), StatusCode::device_lost);
    EXPECT_EQ(mapping->unmap().status().code(), StatusCode::device_lost);
    EXPECT_TRUE(children().empty());
  }
  std::sort(took_ms.begin(), took_ms.end());
  std::printf("a killed process was noticed after %.2f ms (median), %.2f ms (longest)\n",
              took_ms[took_ms.size() / 2], took_ms.back());
  EXPECT_LT(took_ms[took_ms.size() / 2], 100);
  EXPECT_TRUE(runtime.shutdown().ok());
}

TEST_F(Loss, TouchesNoOtherDevice) {
  make_bad(plugins(), "");
  const Runtime runtime(options_for(plugins()));
  const Result<Device> one = runtime.open("isolated:bad");
  const std::vector<pid_t> first = children();
  const Result<Device> other = runtime.open("isolated:bad");
  ASSERT_TRUE(one.ok() && other.ok());
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(children().size(), 2u);
  ::kill(first.front(), SIGSEGV);
  EXPECT_EQ(run_small_program(*one).code(), StatusCode::device_lost);
  EXPECT_TRUE(run_small_program(*other).ok());
  const Result<Device> again = runtime.open("isolated:bad");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(run_small_program(*again).ok());
  EXPECT_TRUE(run_small_program(*other).ok());
}

}  // namespace
}  // namespace stria::isolation_test
