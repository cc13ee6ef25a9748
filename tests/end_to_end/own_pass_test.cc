// SPDX-License-Identifier: Apache-2.0
// A pass of a plugin's own: the example plugin's, used rightly and wrongly, and passes that break
// the program, fail, or write Stripe of another version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace stria::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OwnPassTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.set_plugin_path(STRIA_BINARY_DIR "/lib/stria/own_pass");
    folder_.write("p.tile", "function (A[N, K]) -> (R) { R[n : N] = +(A[n, k]); }");
  }
  Ended stria(const std::string& command) { return folder_.stria(words(command)); }
  // The example with these options of its step.
  void set_options(const std::string& options) {
    const fs::path from = STRIA_BINARY_DIR "/lib/stria/own_pass/own_pass";
    const fs::path plugins = folder_.path("plugins"), to = plugins / "own_pass";
    fs::remove_all(plugins);
    fs::create_directory(plugins);
    fs::copy(from, to, fs::copy_options::recursive);
    const std::string name = "plugins/own_pass/passes/chip.json";
    const std::string before = "{\"pass\": \"unroll_short\", \"options\": {\"points\": 8}}";
    std::string text = folder_.read(name);
    const size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos);
    folder_.write(name, text.replace(at, before.size(), options));
    fs::permissions(plugins, fs::perms(0755));
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(plugins))
      fs::permissions(entry.path(), entry.is_directory() ? fs::perms(0755) : fs::perms(0644));
    folder_.set_plugin_path(plugins);
  }
  Folder folder_;
};

TEST_F(OwnPassTest, ItChangesTheProgramAndNotItsValues) {
  const Ended compiled =
      stria("compile p.tile --device own_pass --shape A=5,6 --dump-dir stages -o p.stripe");
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_THAT(folder_.read("p.stripe"), HasSubstr("#unroll_hint block [k:6]"));
  const Ended ran = stria("run p.tile --device own_pass --input A=random:1 --shape A=5,6 --check");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(": ok"));
}

TEST_F(OwnPassTest, ItObeysItsOptions) {
  set_options("{\"pass\": \"unroll_short\", \"options\": {\"points\": 4}}");
  const Ended compiled = stria("compile p.tile --device own_pass --shape A=5,6 -o p.stripe");
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_THAT(folder_.read("p.stripe"), Not(HasSubstr("#unroll_hint")));
}

TEST_F(OwnPassTest, StagesBeforeAFailureAreWritten) {
  set_options(R"({"pass": "unroll_short", "options": {"points": 1}})");
  const Ended failed =
      stria("compile p.tile --device own_pass --shape A=5,6 --dump-dir stages -o p.stripe");
  EXPECT_EQ(failed.code, 3);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("step 'short_loops'"),
                                HasSubstr("the stages so far are in stages: ")));
  EXPECT_THAT(folder_.read("stages/00_program.tile"), HasSubstr("function"));
  EXPECT_THAT(folder_.read("stages/01_lower.stripe"), HasSubstr("#program"));
  EXPECT_EQ(folder_.read("p.stripe"), "");
}

TEST_F(OwnPassTest, WrongOptionsAndNamesAreErrorsWithTheStepAndThePass) {
  const struct {
    const char *options, *message;
  } kCases[] = {{R"({"pass": "unroll_short", "options": {"points": 1}})",
                 "option 'points': 1 is no whole number from 2 to 64"},
                {R"({"pass": "unroll_short", "options": {"pionts": 8}})",
                 "there is no option 'pionts'; the pass has points"},
                {R"({"pass": "unroll_short", "options": {"points": [8]}})",
                 "the options are no object of numbers, truth values and texts at character 11"},
                {R"({"pass": "unrol_short"})",
                 "there is no pass 'unrol_short'; this plugin has unroll_short"}};
  for (const auto& [options, message] : kCases) {
    set_options(options);
    const Ended failed = stria("compile p.tile --device own_pass --shape A=5,6 -o p.stripe");
    EXPECT_EQ(failed.code, 3) << options;
    EXPECT_THAT(failed.err,
                AllOf(HasSubstr("step 'short_loops' (plugin_pass)"), HasSubstr(message)))
        << options;
  }
}

// What a pass can do wrong; the plugin `failing` does it.
TEST_F(OwnPassTest, WhatAPassBreaksIsReportedWithItsName) {
  folder_.set_plugin_path(STRIA_BINARY_DIR "/lib/stria/test_plugins");
  const struct {
    const char *device, *message;
  } kCases[] = {{"illegal_pass", "the Stripe that the plugin's pass 'mangle' made is not legal: "},
                {"plugin_pass", ": the pass 'mangle' gives up"},
                {"newer_pass", "Stripe from the pass 'mangle':1:"},
                {"garbled_pass", "Stripe from the pass 'mangle':"},
                {"silent_pass", "the plugin's pass 'mangle': "}};
  for (const auto& [device, message] : kCases) {
    const Ended failed =
        stria(std::string("compile p.tile --shape A=5,6 -o p.stripe --device failing:") + device);
    EXPECT_EQ(failed.code, 3) << device << failed.err;
    EXPECT_THAT(failed.err, AllOf(HasSubstr("step 'own' (plugin_pass)"), HasSubstr(message)))
        << device;
  }
}

}  // namespace
}  // namespace stria::end_to_end
