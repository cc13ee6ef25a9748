// SPDX-License-Identifier: Apache-2.0
// Plugins that end, change or leave the process that they are loaded into: the command lists the
// good ones beside them, says who did what, and ends with the code for a device that failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "beside_plugins.h"

namespace stria::bad_plugins {
namespace {

using end_to_end::Ended;
using ::testing::HasSubstr;

class ProcessTest : public BesidePlugins {
 protected:
  // Lists; the plugin "bad" alone may be broken. What is said of it.
  std::string listed(const std::string& command = "devices --json --time-limit 2") {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    const nlohmann::json all = nlohmann::json::parse(ended.out, nullptr, false);
    EXPECT_TRUE(all.is_object()) << ended.out << ended.err;
    std::string error;
    bool works = false, reference = false;
    if (all.is_object())
      for (const auto& plugin : all.at("plugins")) {
        if (plugin.at("id") == "bad") error = plugin.at("error");
        works = works || (plugin.at("id") == "works" && plugin.at("ok"));
        reference = reference || (plugin.at("id") == "reference" && plugin.at("ok"));
      }
    EXPECT_TRUE(works && reference) << ended.out;
    return error;
  }
  void make(const std::string& misdeed) {
    fs::remove_all(plugins());
    make_bad(plugins(), "bad", misdeed);
    make_bad(plugins(), "works");
  }
};

constexpr const char* kRun =
    "run plus_one.tile --device bad --time-limit 5 --input A=random:1 --shape A=16 --output "
    "B=b.npy";

// Sanitizers take the signals of crashes, and _exit, for themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct Doing {
  const char *what, *code, *said;
  bool of_sanitizers = false;  // a sanitizer ends the process in its own way
};

TEST_F(ProcessTest, DevicesListsAroundPluginsThatEndTheProcess) {
  const Doing doings[] = {
      {"exit", "0", "it ended the process with exit code 0"},
      {"_exit", "0", "it ended the process with exit code 0"},
      {"quick_exit", "0", "it ended the process with exit code 0"},
      {"exit", "7", "it ended the process with exit code 7"},
      {"crash", "0", "it crashed (Aborted)"},
      {"kill", "0", "it crashed (Killed)"},
      {"fault", "0", "it crashed (Segmentation fault)", true},
      {"recurse", "0", "it crashed (Segmentation fault)", true},
      {"say", "0", "its last words: said to err: no such thing\\x0asaid to out\\x1b[31m"},
  };
  const std::pair<const char*, const char*> places[] = {
      {"constructor", "while it was being loaded"},   {"query", "in stria_plugin_query"},
      {"driver.create", "in driver.create"},          {"driver.enumerate", "in driver.enumerate"},
      {"driver.open", "while device '0' was opened"}, {"driver.shutdown", "in driver.shutdown"},
  };
  for (const Doing& doing : doings) {
    if (kSanitized && doing.of_sanitizers) continue;
    for (const auto& [place, activity] : places) {
      SCOPED_TRACE(std::string(doing.what) + " " + place);
      make(std::string(doing.what) + " " + place + " " + doing.code);
      const std::string error = listed();
      EXPECT_THAT(error, HasSubstr("plugin bad: "));
      EXPECT_THAT(error, HasSubstr(doing.said));
      EXPECT_THAT(error, HasSubstr(activity));
    }
  }
}

TEST_F(ProcessTest, DevicesSaysWhatAPluginChangedOfTheProcess) {
  const std::pair<const char*, const char*> doings[] = {
      {"close_out", "it closed the host's standard output"},
      {"close_err", "it closed the host's standard error"},
      {"replace_out", "it put another file in place of the host's standard output"},
      {"chdir", "it changed the working folder to '/'"},
      {"umask", "it changed the file mode mask"},
      {"lower_limit", "it lowered resource limit"},
      {"end_thread", "it ended the thread that called it"},
  };
  for (const auto& [what, said] : doings)
    for (const std::string place : {"constructor", "query", "driver.create"}) {
      // The sanitizers' own dlopen lets nothing unwind through it, the end of a thread neither.
      if (kSanitized && what == std::string("end_thread") && place == "constructor") continue;
      SCOPED_TRACE(what + (" " + place));
      make(what + (" " + place));
      EXPECT_THAT(listed(), HasSubstr(said));
    }
}

// A process more, which goes away, does not confuse who watches.
TEST_F(ProcessTest, AForkIsNoSecondAnswer) {
  for (const char* place : {"constructor", "driver.enumerate"}) {
    make(std::string("fork ") + place);
    EXPECT_EQ(listed(), "") << place;
  }
}

TEST_F(ProcessTest, SignalHandlersStayTheHosts) {
  make("take_signals driver.create");
  EXPECT_EQ(listed(), "");
  const Ended ended = run(kRun);
  EXPECT_EQ(ended.code, 0) << ended.err;
}

// What was seen is known the second time; a plugin that changes is looked at again.
TEST_F(ProcessTest, AChangedPluginIsProbedAgain) {
  make("");
  EXPECT_EQ(listed(), "");
  put(plugins() / "bad" / "misdeed", "exit constructor 0");
  EXPECT_THAT(listed(), HasSubstr("it ended the process with exit code 0"));
  put(plugins() / "bad" / "misdeed", "");
  EXPECT_EQ(listed(), "");
}

TEST_F(ProcessTest, ARunThatAPluginEndsIsNoSuccess) {
  const Doing doings[] = {
      {"exit", "0", "it ended the process: it called exit"},
      {"quick_exit", "0", "it ended the process: it called exit"},
      {"_exit", "0", "it ended the process: it called _exit(0)", true},
      {"crash", "0", "it crashed (Aborted)", true},
      {"crash_caught", "0", "it crashed (Aborted)", true},
      {"assert", "0", "it crashed (Aborted)", true},
      {"fault", "0", "it crashed (Segmentation fault)", true},
      {"trap", "0", "it crashed (Illegal instruction)", true},
      {"recurse", "0", "it crashed (Segmentation fault)", true},
      {"end_thread", "0", "it ended the thread that called it"},
  };
  for (const Doing& doing : doings) {
    if (kSanitized && doing.of_sanitizers) continue;
    for (const char* slot :
         {"compiler.build", "executor.prepare", "executor.submit", "buffer.map_discard"}) {
      SCOPED_TRACE(std::string(doing.what) + " " + slot);
      make(std::string(doing.what) + " " + slot + " " + doing.code);
      fs::remove(files_.path("b.npy"));
      const Ended ended = run(kRun);
      EXPECT_EQ(ended.code, 3) << ended.err;
      EXPECT_THAT(ended.err, HasSubstr("plugin bad: "));
      EXPECT_THAT(ended.err, HasSubstr(doing.said));
      EXPECT_FALSE(fs::exists(files_.path("b.npy")));
    }
  }
}

// What it changes while it builds or runs would send results elsewhere.
TEST_F(ProcessTest, ARunWhoseProcessAPluginChangesWritesNothing) {
  const Doing doings[] = {
      {"chdir", "0", "it changed the working folder to '/'"},
      {"umask", "0", "it changed the file mode mask"},
      {"replace_out", "0", "it put another file in place of the host's standard output"},
      {"close_out", "0", "it closed the host's standard output"},
      {"lower_limit", "0", "it lowered resource limit"},
  };
  for (const Doing& doing : doings)
    for (const char* slot : {"compiler.build", "executor.submit"}) {
      SCOPED_TRACE(std::string(doing.what) + " " + slot);
      make(std::string(doing.what) + " " + slot);
      const Ended ended = run(kRun);
      EXPECT_EQ(ended.code, 3) << ended.err;
      EXPECT_THAT(ended.err, HasSubstr("stria: plugin bad: "));
      EXPECT_THAT(ended.err, HasSubstr(doing.said));
      EXPECT_FALSE(fs::exists(files_.path("b.npy")));
      EXPECT_FALSE(fs::exists("/b.npy"));
    }
}

// Two processes go on; one of them is ours.
TEST_F(ProcessTest, ACopyOfTheProcessPrintsNothing) {
  make("fork executor.submit");
  const Ended ended =
      run("run plus_one.tile --device bad --time-limit 5 --input A=random:1 --shape A=16");
  EXPECT_EQ(ended.code, 0) << ended.err;
  const size_t first = ended.out.find("B: fp32[16]");
  EXPECT_NE(first, std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("B: fp32[16]", first + 1), std::string::npos) << ended.out;
}

// Results are whole before the plugin's objects go.
TEST_F(ProcessTest, WhatAPluginDoesAtItsEndTakesNoResultAway) {
  for (const char* misdeed : {"exit library.release 0", "exit kernel.release 0"}) {
    SCOPED_TRACE(misdeed);
    make(misdeed);
    const Ended ended =
        run("run plus_one.tile --device bad --time-limit 5 --input A=random:1 --shape A=16");
    EXPECT_THAT(ended.out, HasSubstr("B: fp32[16]")) << ended.err;
  }
}

TEST_F(ProcessTest, AutoTakesAGoodDeviceBesideBadOnes) {
  for (const char* misdeed : {"exit constructor 0", "crash driver.open", "hang driver.enumerate",
                              "hang driver.open", "kill driver.create"}) {
    SCOPED_TRACE(misdeed);
    make(misdeed);
    const Ended ended =
        run("run plus_one.tile --device auto --input A=random:1 --shape A=16 --output B=b.npy");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(fs::exists(files_.path("b.npy")));
  }
}

}  // namespace
}  // namespace stria::bad_plugins
