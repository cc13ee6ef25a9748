// SPDX-License-Identifier: Apache-2.0
// A failed pass or build leaves one file that shows the same failure again; a mistake in a program
// leaves none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class ReproducerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.set_plugin_path(STRIA_BINARY_DIR "/lib/stria/test_plugins");
    folder_.write("p.tile", "function twice(A[N]) -> (R) { R = A + A; }");
  }
  Ended run(const std::string& command) { return folder_.stria(words(command)); }
  Ended run_on(const std::string& device, const std::string& more = "") {
    return run("run p.tile --input A=random:1 --shape A=4 --device failing:" + device + " " + more);
  }
  std::vector<std::string> reproducers() const {
    std::vector<std::string> out;
    for (const std::string& name : folder_.files())
      if (name != "p.tile") out.push_back(name);
    return out;
  }
  // The one reproducer there is.
  std::string reproducer() const {
    const std::vector<std::string> files = reproducers();
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? "none" : files[0];
  }
  Folder folder_;
};

TEST_F(ReproducerTest, NothingIsWrittenWhereNothingFails) {
  EXPECT_EQ(run_on("good").code, 0);
  EXPECT_THAT(reproducers(), IsEmpty());
}

TEST_F(ReproducerTest, AFailedGenericPassIsReplayedWithoutItsDevice) {
  const Ended failed = run_on("generic_pass");
  EXPECT_EQ(failed.code, 3);
  const std::string file = reproducer();
  EXPECT_THAT(file, AllOf(StartsWith("stria-repro-"), EndsWith(".stripe")));
  EXPECT_THAT(failed.err, EndsWith("\nto see it again: stria opt --run-repro " + file + "\n"));
  EXPECT_THAT(
      folder_.read(file),
      AllOf(StartsWith("// stria reproducer 1\n// To see it again: stria opt --run-repro "),
            HasSubstr("//       \"name\": \"where\""), HasSubstr("\"failing:generic_pass\""),
            HasSubstr("\"count\": 3"), Not(HasSubstr("\"clean\"")), HasSubstr("\nstripe 1.0\n")));
  folder_.set_plugin_path("");
  for (const char* verb : {"opt", "run"}) {
    const Ended again = run(std::string(verb) + " --run-repro " + file);
    EXPECT_EQ(again.code, 3) << again.err;
    const std::string what = "step 'where' (locate_memory): /loc: the hardware model has no unit";
    EXPECT_THAT(failed.err, HasSubstr(what));
    EXPECT_THAT(again.err, HasSubstr(what));
    EXPECT_EQ(again.out, "");
  }
  // A file without its failure says so.
  std::string text = folder_.read(file);
  text.replace(text.find("\"SRAM\""), 6, "\"CORE\"");
  text.replace(text.find("exec_units"), 10, "mem_units");
  folder_.write(file, text);
  const Ended mended = run("opt --run-repro " + file);
  EXPECT_EQ(mended.code, 0) << mended.err;
  EXPECT_THAT(mended.err, HasSubstr("does not fail"));
}

TEST_F(ReproducerTest, AFailedPassOfAUsersPipelineIsReplayedToo) {
  folder_.write("bad.json", R"([{"locate_memory": {"loc": {"name": "SRAM"}}}])");
  folder_.write("hw.json", R"({"exec_units": {"CORE": {}}})");
  EXPECT_EQ(run("compile p.tile --shape A=4 --device failing:good -o out.stripe").code, 0);
  const Ended failed = run("opt out.stripe --pipeline bad.json --hw hw.json");
  EXPECT_EQ(failed.code, 1);
  for (const char* name : {"bad.json", "hw.json", "out.stripe"})
    std::filesystem::remove(folder_.path(name));
  const std::string file = reproducer();
  EXPECT_THAT(failed.err, EndsWith("\nto see it again: stria opt --run-repro " + file + "\n"));
  const Ended again = run("opt --run-repro " + file);
  EXPECT_EQ(again.code, 1) << again.err;
  for (const std::string& err : {failed.err, again.err})
    EXPECT_THAT(err, HasSubstr("(locate_memory): /loc: the hardware model has no unit"));
}

TEST_F(ReproducerTest, FailuresOfThePluginAreReplayedOnItsDevice) {
  for (const char* device : {"plugin_pass", "illegal_pass", "build"}) {
    SCOPED_TRACE(device);
    const Ended failed = run_on(device, "--fast-math");
    EXPECT_EQ(failed.code, 3);
    const std::string file = reproducer();
    EXPECT_THAT(failed.err, EndsWith("\nto see it again: stria run --run-repro " + file + "\n"));
    const Ended again = run("run --run-repro " + file);
    EXPECT_EQ(again.code, 3) << again.err;
    const std::string what = device == std::string("build")
                                 ? "this device builds nothing, asked with {\"fast_math\": true"
                             : device == std::string("plugin_pass")
                                 ? "the pass 'mangle' gives up"
                                 : "the Stripe that the plugin's pass 'mangle' made is not legal";
    EXPECT_THAT(failed.err, HasSubstr(what));
    EXPECT_THAT(again.err, HasSubstr(what));
    EXPECT_THAT(reproducers(), ElementsAre(file));  // a replay writes no file
    const Ended wrong_verb = run("opt --run-repro " + file);
    EXPECT_EQ(wrong_verb.code, 2);
    EXPECT_THAT(wrong_verb.err, HasSubstr("needs the device 'failing:"));
    const Ended with_more = run("opt program.stripe --run-repro " + file);
    EXPECT_EQ(with_more.code, 2);
    EXPECT_THAT(with_more.err, HasSubstr("--run-repro excludes FILE"));
    std::filesystem::remove(folder_.path(file));
  }
}

// The plugin's fault, which the command names; a sanitizer lets the signal through.
void expect_crash(const Ended& ended, int signal) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_EQ(ended.signal, signal) << ended.err;
#else
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("stria: plugin failing: "));
  EXPECT_THAT(ended.err, HasSubstr(std::string("it crashed (") + ::sigdescr_np(signal) + ")"));
#endif
}

TEST_F(ReproducerTest, ACrashIsReplayedToo) {
  for (const char* device : {"crashing_pass", "crashing_build"}) {
    SCOPED_TRACE(device);
    const Ended failed = run_on(device);
    const int signal = device == std::string("crashing_pass") ? SIGABRT : SIGSEGV;
    expect_crash(failed, signal);
    const std::string file = reproducer();
    EXPECT_THAT(failed.err,
                HasSubstr("stria: crashed; to see it again: stria run --run-repro " + file));
    expect_crash(run("run --run-repro " + file), signal);
    // It happens again: the same file, the same name.
    run_on(device);
    EXPECT_THAT(reproducers(), ElementsAre(file));
    std::filesystem::remove(folder_.path(file));
  }
}

TEST_F(ReproducerTest, NoOtherFileIsOverwritten) {
  run_on("build");
  const std::string file = reproducer(), text = folder_.read(file);
  EXPECT_THAT(run_on("build").err, HasSubstr(file));
  EXPECT_THAT(reproducers(), ElementsAre(file));
  folder_.write(file, "mine");
  const Ended other = run_on("build");
  EXPECT_EQ(folder_.read(file), "mine");
  const std::string second = file.substr(0, file.size() - 7) + "-2.stripe";
  EXPECT_THAT(reproducers(), ElementsAre(second, file));
  EXPECT_EQ(folder_.read(second), text);
  EXPECT_THAT(other.err, HasSubstr(second));
}

TEST_F(ReproducerTest, AFolderMayBeGiven) {
  std::filesystem::create_directory(folder_.path("there"));
  const Ended failed = run_on("build", "--repro-dir there");
  EXPECT_EQ(failed.code, 3);
  EXPECT_THAT(reproducer(), StartsWith("there/stria-repro-"));
  const Ended none = run_on("good", "--repro-dir nowhere");
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("--repro-dir 'nowhere': there is no such folder"));
  // Where none can be written the failure is told all the same.
  folder_.write("full", "");
  const Ended compiled = run(
      "compile p.tile --shape A=4 --device failing:generic_pass -o out.stripe --repro-dir /proc");
  EXPECT_EQ(compiled.code, 3);
  EXPECT_THAT(compiled.err,
              AllOf(HasSubstr("has no unit"), HasSubstr("no file to see it again: ")));
}

TEST_F(ReproducerTest, WhatFailsBeforeAPassOrABuildLeavesNone) {
  folder_.write("bad.json", R"([{"locate_memory": {"loc": 4}}])");
  run("compile p.tile --shape A=4 --device failing:good -o out.stripe");
  folder_.write("wrong.tile", "function f(A[N]) -> (R) { R = B; }");
  const std::vector<std::string> before = folder_.files();
  EXPECT_EQ(run("opt out.stripe --pipeline bad.json").code, 1);
  EXPECT_EQ(run("run wrong.tile --input A=random:1 --shape A=4 --device failing:build").code, 1);
  EXPECT_EQ(run("run p.tile --input A=random:1 --shape A=-4 --device failing:build").code, 2);
  EXPECT_EQ(run("run p.tile --input A=a.npy --device failing:build").code, 1);
  EXPECT_EQ(run("run p.tile --input A=random:1 --shape A=4 --device failing:nothing").code, 3);
  EXPECT_EQ(folder_.files(), before);
}

// A build that had too little time is no fault of what is built.
TEST_F(ReproducerTest, ATimeLimitLeavesNone) {
  folder_.set_plugin_path("");
  const Ended ended =
      run("run p.tile --input A=random:1 --shape A=4 --device llvm_cpu --time-limit 0.001");
  if (ended.code != 0) {
    // A wait ends in time, or the watch over the plugin's calls is first.
    EXPECT_THAT(ended.err,
                AnyOf(HasSubstr("after 0.001 s"), HasSubstr("the time limit is 0.001 s")));
  }
  EXPECT_THAT(reproducers(), IsEmpty());
}

TEST_F(ReproducerTest, AFileEditedByHandIsAnErrorWithItsPlace) {
  run_on("build");
  const std::string file = reproducer(), good = folder_.read(file);
  auto fails_with = [&](const std::string& from, const std::string& to, int code,
                        const std::string& message) {
    std::string text = good;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    folder_.write(file, text.replace(text.find(from), from.size(), to));
    const Ended ended = run("run --run-repro " + file);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(message));
  };
  fails_with("// stria reproducer 1", "// nothing", 1, file + ":1:1: error: this is no reproducer");
  fails_with("\"build\": true,", "\"build\": true", 1, file + ":6:");
  fails_with("\"pipeline\": []", "\"pipeline\": [{\"prun\": {}}]", 1,
             file + ": /pipeline:1:3: error: /0/prun: unknown pass, did you mean 'prune'?");
  fails_with("\"hw\": {", "\"hw\": {\"clock\": 3,", 1, "/clock");
  fails_with("load(A)", "load A", 1, file + ":");
  fails_with("failing:build", "failing:bild", 3, "no device matches 'failing:bild'");
  fails_with("store($", "store($x", 3, "is not legal");
  EXPECT_EQ(run("run --run-repro missing.stripe").code, 1);
  EXPECT_EQ(run("run --run-repro " + file + " --device reference").code, 2);
  EXPECT_THAT(run("run").err, HasSubstr("required"));
}

}  // namespace
}  // namespace stria::end_to_end
