// SPDX-License-Identifier: Apache-2.0
// What the probe finds, when it is asked again, and in an application that does not hear how its
// children end.
#include "stria/hal/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "bad_folder.h"
#include "stria/base/file.h"
#include "stria/hal/plugin_set.h"

namespace stria::bad_plugins {
namespace {

using ::testing::HasSubstr;

class EndsOfChildrenAreIgnored : public ::testing::Test {
 protected:
  void SetUp() override { before_ = std::signal(SIGCHLD, SIG_IGN); }
  void TearDown() override { (void)std::signal(SIGCHLD, before_); }
  // What the probe says of a plugin with that misdeed; "" if it behaves.
  std::string said_of(const std::string& misdeed,
                      std::chrono::milliseconds limit = std::chrono::seconds(20)) const {
    const hal::TemporaryFolder home;
    const fs::path probe =
        built_object("bad").parent_path().parent_path().parent_path() / "lib/stria/stria_probe";
    const hal::ProbeOptions options{probe, ""};
    hal::Manifest manifest;
    manifest.id = "bad";
    return hal::probe_plugin(make_bad(home.path(), "bad", misdeed), manifest, options, limit)
        .status.message();
  }

 private:
  void (*before_)(int) = nullptr;
};

TEST_F(EndsOfChildrenAreIgnored, APluginThatBehavesIsKnownByWhatItsProbeSays) {
  EXPECT_EQ(said_of(""), "");
  EXPECT_THAT(said_of("chdir query"), HasSubstr("it changed the working folder to '/'"));
  EXPECT_THAT(said_of("hang query", std::chrono::milliseconds(1000)),
              HasSubstr("within the limit of 1000 ms"));
}

TEST_F(EndsOfChildrenAreIgnored, AnEndThatNobodyHeardOfIsNotTakenForAnExit) {
  for (const char* misdeed : {"crash driver.create", "exit driver.create 7", "kill driver.create"})
    EXPECT_THAT(said_of(misdeed),
                HasSubstr("plugin bad: it ended the process, and the system does not say how, as "
                          "this application ignores SIGCHLD or waits for every child of its own, "
                          "in driver.create"))
        << misdeed;
}

// What a plugin was seen to do holds as long as all that decides it is as it was.
TEST(Probe, IsAskedAgainWhenTheSurroundingsOfTheDriverChange) {
  const hal::TemporaryFolder home;
  const fs::path runs = home.path() / "runs", probe = home.path() / "probe.sh";
  put(probe, "#!/bin/sh\necho once >> '" + runs.string() + "'\necho '{\"end\": true}' >&3\n");
  fs::permissions(probe, fs::perms(0700));
  const fs::path plugin = make_bad(home.path(), "bad");
  hal::Manifest manifest;
  manifest.id = "bad";
  manifest.driver.environment = {"ACME_*", "OTHER"};
  manifest.driver.files = {(home.path() / "icd").string() + "/*.icd"};
  const auto count = [&] {
    const hal::ProbeOptions options{probe, home.path() / "memory"};
    EXPECT_TRUE(
        hal::probe_plugin(plugin, manifest, options, std::chrono::milliseconds(5000)).status.ok());
    const auto said = read_file(runs.string(), 4096);
    return said.ok() ? std::count(said->begin(), said->end(), '\n') : 0;
  };
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(count(), 1);
  ::setenv("ACME_DEVICES", "2", 1);
  EXPECT_EQ(count(), 2);
  ::setenv("NOBODY_LOOKS_AT", "this", 1);
  EXPECT_EQ(count(), 2);
  ::setenv("OTHER", "1", 1);
  EXPECT_EQ(count(), 3);
  ::unsetenv("ACME_DEVICES");
  ::unsetenv("OTHER");
  EXPECT_EQ(count(), 3);  // as at first, which is remembered
  put(home.path() / "icd" / "a.icd", "libacme.so");
  EXPECT_EQ(count(), 4);
  put(home.path() / "icd" / "a.icd", "libacme2.so");
  EXPECT_EQ(count(), 5);
  ::unsetenv("NOBODY_LOOKS_AT");
}

// A driver sets variables in a thread of its own while the next plugins are probed: what they get,
// and are known by, is the environment as it was.
TEST(Probe, DriversMayChangeTheEnvironmentMeanwhile) {
  const hal::TemporaryFolder home;
  hal::SearchOptions search;
  search.only_paths = true;
  search.probe.program =
      built_object("bad").parent_path().parent_path().parent_path() / "lib/stria/stria_probe";
  search.probe.memory = home.path() / "memory";
  search.paths.push_back(make_bad(home.path(), "a_sets", "setenv driver.enumerate"));
  for (char name = 'b'; name < 'l'; ++name)
    search.paths.push_back(make_bad(home.path(), std::string(1, name) + "_works"));
  const auto host = std::make_shared<hal::Host>(hal::HostFunctions());
  hal::PluginSet set = hal::PluginSet::load(host, search);
  ASSERT_EQ(set.records().size(), 11u);
  for (const hal::PluginRecord& record : set.records())
    EXPECT_TRUE(record.status().ok()) << record.id << ": " << record.status().message();
  EXPECT_TRUE(set.shutdown().ok());
}

// One step's limit, wherever it hangs.
TEST(Probe, WaitsForAHangOnce) {
  for (const char* misdeed : {"hang driver.enumerate", "hang device.release", "hang driver.open"}) {
    const hal::TemporaryFolder home;
    const fs::path probe =
        built_object("bad").parent_path().parent_path().parent_path() / "lib/stria/stria_probe";
    hal::Manifest manifest;
    manifest.id = "bad";
    const hal::Verdict verdict = hal::probe_plugin(make_bad(home.path(), "bad", misdeed), manifest,
                                                   {probe, ""}, std::chrono::milliseconds(500));
    EXPECT_EQ(verdict.status.code(), StatusCode::deadline_exceeded) << misdeed;
    EXPECT_THAT(verdict.status.message(), HasSubstr("within the limit of 500 ms")) << misdeed;
  }
}

}  // namespace
}  // namespace stria::bad_plugins
