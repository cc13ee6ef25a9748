// SPDX-License-Identifier: Apache-2.0
#include "child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace stria::command {
namespace {

using testing::HasSubstr;

TEST(ChildProcess, SaysHowItsWorkEnded) {
  EXPECT_EQ(run_in_child([] { return WorkEnd::hangs; }, Prints::no).work, WorkEnd::hangs);
  EXPECT_EQ(run_in_child([] { return WorkEnd::well; }, Prints::no).failure, "");
  EXPECT_EQ(run_in_child([]() -> WorkEnd { ::_exit(0); }, Prints::no).failure,
            "ended the process with exit code 0");
  EXPECT_EQ(run_in_child(
                [] {
                  ::raise(SIGKILL);
                  return WorkEnd::well;
                },
                Prints::no)
                .failure,
            "crashed: Killed");
}

TEST(ChildProcess, OfWhichTheSystemDoesNotSayHowItEnded) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const ChildEnd end = run_in_child([] { return WorkEnd::well; }, Prints::no);
  (void)std::signal(SIGCHLD, before);
  EXPECT_THAT(end.failure, HasSubstr("the system does not say how (No child processes)"));
  EXPECT_TRUE(end.started);
}

}  // namespace
}  // namespace stria::command
