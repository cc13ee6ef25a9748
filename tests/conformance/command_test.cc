// SPDX-License-Identifier: Apache-2.0
// `stria conform` as a user calls it: on what is no plugin, on plugins that attack it, interrupted,
// without room. It ends with a verdict or one error, and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "beside_plugins.h"

namespace stria::bad_plugins {
namespace {

using end_to_end::Ended;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class ConformCommand : public BesidePlugins {
 protected:
  std::string make(const std::string& misdeed) {
    fs::remove_all(plugins());
    return make_bad(plugins(), "bad", misdeed).string();
  }
  // Scratch folders lie where a test can count them.
  std::function<void()> in_own_scratch() const {
    fs::create_directories(scratch());
    return [folder = scratch().string()] { ::setenv("TMPDIR", folder.c_str(), 1); };
  }
  fs::path scratch() const { return files_.path("scratch"); }
  Ended conform(const std::string& command) {
    return files_.stria(end_to_end::words("conform " + command), in_own_scratch());
  }
  // Processes whose command line names this test's folder, besides this one.
  int processes() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      std::string line;
      std::getline(file, line, '\n');  // one that has ended meanwhile gives nothing
      count += line.find(plugins().string()) != std::string::npos;
    }
    return count;
  }
  void expect_nothing_left() const {
    // Who was killed may take a moment to go.
    for (int i = 0; i < 500 && processes() > 0; ++i) ::usleep(10'000);
    EXPECT_EQ(processes(), 0);
    EXPECT_TRUE(fs::is_empty(scratch()));
  }
};

TEST_F(ConformCommand, WhatIsNoPluginIsOneError) {
  fs::create_directories(files_.path("empty"));
  // A project, before and after its build, and the build.
  for (const char* folder :
       {"sources", "project/target/plugins/acme", "build/lib/stria/plugins/acme"})
    fs::create_directories(files_.path(folder));
  files_.write("sources/CMakeLists.txt", "");
  files_.write("sources/plugin.json", "{}");
  files_.write("project/Cargo.toml", "");
  files_.write("project/target/plugins/acme/plugin.json", "{}");
  files_.write("build/lib/stria/plugins/acme/plugin.json", "{}");
  for (const auto& [what, said] : {std::pair{"nowhere", "'nowhere' is no folder of a plugin"},
                                   {"plus_one.tile", "is no folder of a plugin: it is a file"},
                                   {"empty", "it has no plugin.json"},
                                   {"sources", "'sources' has the sources of a plugin"},
                                   {"project", "; 'project/target/plugins/acme' is one"},
                                   {"build", "; 'build/lib/stria/plugins/acme' is one"}}) {
    const Ended ended = conform(what);
    EXPECT_EQ(ended.code, 1) << what;
    EXPECT_THAT(ended.err, HasSubstr(said));
    EXPECT_EQ(ended.out, "") << what;
  }
  const std::string directory = make("");
  for (const auto& [options, said] :
       {std::pair{" --only Z", "no case is called 'Z'"}, {" --level 5", "--level"}}) {
    const Ended ended = conform(directory + options);
    EXPECT_EQ(ended.code, 2) << options;
    EXPECT_THAT(ended.err, HasSubstr(said));
  }
}

// Nothing to judge is no pass.
TEST_F(ConformCommand, NoDeviceIsAVerdictAndNoPass) {
  for (const char* misdeed : {"devices none", "devices without_reason"}) {
    const Ended ended = conform(make(misdeed) + " --level 1 --json");
    EXPECT_EQ(ended.code, 3) << misdeed << ended.err;
    const auto report = nlohmann::json::parse(ended.out, nullptr, false);
    ASSERT_TRUE(report.is_object()) << ended.out << ended.err;
    EXPECT_EQ(report.at("level"), 0) << misdeed;
    EXPECT_EQ(report.at("holds"), false) << misdeed;
    EXPECT_EQ(report.at("device"), "") << misdeed;
    expect_nothing_left();
  }
  // Thousands of cases say the same: it is said once.
  const Ended ended = conform(make("devices none") + " --only M");
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_LT(ended.out.size(), 20'000u);
  EXPECT_THAT(ended.out, HasSubstr("more cases, which --json lists, in the same words"));
}

TEST_F(ConformCommand, WhatAPluginDoesToItsProcessStaysThere) {
  for (const char* misdeed :
       {"fork device.open", "say device.open", "lower_limit device.open", "kill device.open",
        "close_out device.open", "replace_out device.open", "take_signals device.open",
        "end_thread device.open", "exit device.open 0", "_exit device.open 0",
        "recurse device.open", "setenv device.open", "umask device.open"}) {
    const Ended ended = conform(make(misdeed) + " --level 1 --json --only E --only P --jobs 2");
    EXPECT_THAT(ended.code, AnyOf(0, 3)) << misdeed << ended.err;
    const auto report = nlohmann::json::parse(ended.out, nullptr, false);
    ASSERT_TRUE(report.is_object()) << misdeed << ended.out.substr(0, 500) << ended.err;
    EXPECT_GT(report.at("cases").size(), 40u) << misdeed;
    expect_nothing_left();
  }
}

TEST_F(ConformCommand, InterruptedItLeavesNothing) {
  const std::string directory = make("hang device.open");
  for (const int number : {SIGINT, SIGTERM}) {
    const pid_t child = files_.start(
        end_to_end::words("conform " + directory + " --level 2 --jobs 2"), in_own_scratch());
    // Its children are at work.
    for (int i = 0; i < 3000 && processes() < 2; ++i) ::usleep(10'000);
    ::kill(child, number);
    const Ended ended = files_.end(child);
    EXPECT_TRUE(ended.signal == number || ended.code == 128 + number)
        << ended.code << " " << ended.signal << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("no verdict"));
    expect_nothing_left();
  }
}

TEST_F(ConformCommand, WithoutRoomItSaysSo) {
  const std::string directory = make("");
  // A report that cannot be written is said before anything runs, where that can be known.
  Ended ended = conform(directory + " --only P --html nowhere/report.html");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("nowhere/report.html"));
  EXPECT_EQ(ended.out, "");
  if (fs::exists("/dev/full")) {
    ended = conform(directory + " --only P --junit /dev/full");
    EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("/dev/full"));
  }
  ended = files_.stria(end_to_end::words("conform " + directory + " --only P"),
                       [] { ::setenv("TMPDIR", "/proc/self", 1); });
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no folder can be made in '/proc/self'"));
}

}  // namespace
}  // namespace stria::bad_plugins
