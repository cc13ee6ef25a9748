// SPDX-License-Identifier: Apache-2.0
// The probe in an application that does not hear how its children end.
#include "stria/hal/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "bad_folder.h"

namespace stria::bad_plugins {
namespace {

using ::testing::HasSubstr;

class EndsOfChildrenAreIgnored : public ::testing::Test {
 protected:
  void SetUp() override { before_ = std::signal(SIGCHLD, SIG_IGN); }
  void TearDown() override { (void)std::signal(SIGCHLD, before_); }
  // What the probe says of a plugin with that misdeed; "" if it behaves.
  std::string said_of(const std::string& misdeed) const {
    const hal::TemporaryFolder home;
    const fs::path probe =
        built_object("bad").parent_path().parent_path().parent_path() / "lib/stria/stria_probe";
    const hal::ProbeOptions options{probe, ""};
    hal::Manifest manifest;
    manifest.id = "bad";
    return hal::probe_plugin(make_bad(home.path(), "bad", misdeed), manifest, options,
                             std::chrono::milliseconds(1000))
        .status.message();
  }

 private:
  void (*before_)(int) = nullptr;
};

TEST_F(EndsOfChildrenAreIgnored, APluginThatBehavesIsKnownByWhatItsProbeSays) {
  EXPECT_EQ(said_of(""), "");
  EXPECT_THAT(said_of("chdir query"), HasSubstr("it changed the working folder to '/'"));
  EXPECT_THAT(said_of("hang query"), HasSubstr("within the limit of 1000 ms"));
}

TEST_F(EndsOfChildrenAreIgnored, AnEndThatNobodyHeardOfIsNotTakenForAnExit) {
  for (const char* misdeed : {"crash driver.create", "exit driver.create 7", "kill driver.create"})
    EXPECT_THAT(said_of(misdeed),
                HasSubstr("plugin bad: it ended the process, and the system does not say how, as "
                          "this application ignores SIGCHLD or waits for every child of its own, "
                          "in driver.create"))
        << misdeed;
}

}  // namespace
}  // namespace stria::bad_plugins
