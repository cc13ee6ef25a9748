// SPDX-License-Identifier: Apache-2.0
// `stria conform` as a user calls it: on what is no plugin, on plugins that attack it, interrupted,
// without room. It ends with a verdict or one error, and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
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
  // Scratch folders lie where a test can count them, and verdicts are for this test alone.
  std::function<void()> in_own_scratch() const {
    fs::create_directories(scratch());
    return [folder = scratch().string(), cache = files_.path("cache").string()] {
      ::setenv("TMPDIR", folder.c_str(), 1);
      ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    };
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

// The bar that other verbs show, on a terminal alone.
TEST_F(ConformCommand, OnATerminalABarSaysHowFarItIs) {
  const std::string directory = make("");
  EXPECT_EQ(conform(directory + " --only P").err, "");
  int terminal = -1, end = -1;
  ASSERT_EQ(::openpty(&terminal, &end, nullptr, nullptr, nullptr), 0);
  const auto in_scratch = in_own_scratch();
  const Ended ended = files_.stria(end_to_end::words("conform " + directory + " --only P"), [&] {
    in_scratch();
    ::dup2(end, STDERR_FILENO);
  });
  ::close(end);
  std::string text(4096, ' ');
  const ssize_t count = ::read(terminal, text.data(), text.size());
  ::close(terminal);
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  EXPECT_THAT(text, ::testing::StartsWith("\r\x1b[K[."));
  EXPECT_THAT(text, HasSubstr(" cases"));
  EXPECT_THAT(text, ::testing::EndsWith("\r\x1b[K"));
  EXPECT_THAT(ended.out, HasSubstr("no verdict"));
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

// A verdict counts where `auto` chooses, until the plugin's files change.
TEST_F(ConformCommand, TheVerdictIsKeptForTheChoiceOfADevice) {
  const auto stria = [&](const std::string& command) {
    return files_.stria(end_to_end::words(command), in_own_scratch());
  };
  const std::string pick = "pick plus_one.tile --shape A=16 --bounds --device auto,bad,reference ";
  const auto of_bad = [&] {
    const auto json = nlohmann::json::parse(stria(pick + "--json").out);
    for (const auto& device : json.at("devices"))
      if (device.at("selector") == "bad:0") return device;
    return nlohmann::json();
  };
  const std::string directory = make("fork device.open");
  // Nothing of these is a verdict.
  for (const char* how :
       {" --level 1 --no-record", " --level 1 --only E", " --level 1 --isolated"}) {
    EXPECT_THAT(stria("conform " + directory + how).code, AnyOf(0, 3)) << how;
    EXPECT_TRUE(of_bad().at("conformance").is_null()) << how;
    EXPECT_EQ(of_bad().at("kept"), true) << how;
  }
  const Ended failed = stria("conform " + directory + " --level 1");
  EXPECT_EQ(failed.code, 3);
  EXPECT_THAT(failed.err, HasSubstr("'auto' passes over the device '0: "));
  const nlohmann::json bad = of_bad();
  EXPECT_EQ(bad.at("kept"), false);
  EXPECT_EQ(bad.at("reasons")[0].at("gate"), "conformance");
  EXPECT_EQ(bad.at("conformance").at("level"), 0);
  EXPECT_EQ(bad.at("conformance").at("asked"), 1);
  EXPECT_GT(bad.at("conformance").at("failed"), 0);
  EXPECT_THAT(stria(pick).out, HasSubstr("dropped: it fails level 1 of conformance: "));
  // Who names it takes it, and is told.
  const std::string run = "run plus_one.tile --input A=random:1 --shape A=16 --device ";
  const Ended named = stria(run + "bad");
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_THAT(named.err, HasSubstr("bad:0: its plugin fails level 1 of conformance"));
  // Another plugin of the same name.
  put(fs::path(directory) / "misdeed", "\n");
  EXPECT_TRUE(of_bad().at("conformance").is_null());
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
