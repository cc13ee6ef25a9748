// SPDX-License-Identifier: Apache-2.0
// `stria calibrate`, and what reads its files. How long kernels take decides nothing here: on a
// busy machine the command refuses, and then it has written nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "command.h"

namespace stria::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Calibrate : public testing::Test {
 protected:
  Ended run(const std::string& command) {
    return folder_.stria(words(command), [folder = folder_.path("hw").string()] {
      ::setenv("STRIA_HW_DIR", folder.c_str(), 1);
    });
  }
  void expect(int code, const std::string& command, const std::string& message) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command << "\n" << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(message)) << command;
  }
  std::string device_name() {
    const auto json = nlohmann::json::parse(run("devices --json").out);
    for (const auto& plugin : json["plugins"])
      for (const auto& device : plugin["devices"])
        if (device["selector"] == "llvm_cpu:0") return device["name"];
    return "";
  }
  Folder folder_;
};

// Whatever else the machine does meanwhile: with --anyway the numbers are written, and say so.
TEST_F(Calibrate, WritesWhatHwReads) {
  const Ended ended = run("calibrate llvm_cpu --seconds 2 --anyway -o own.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("before: "), HasSubstr("now: "),
                               HasSubstr("written to own.json; --hw reads it"),
                               Not(HasSubstr("tiles chosen"))));
  const auto overlay = nlohmann::json::parse(folder_.read("own.json"));
  EXPECT_EQ(overlay["overlay_of"]["plugin"], "llvm_cpu");
  const std::string hw = run("hw --device llvm_cpu --hw own.json").out;
  EXPECT_THAT(hw, AllOf(HasSubstr("/exec_units/CORE/calibration/spread_factor = "),
                        HasSubstr("(own.json:"), HasSubstr("measured by stria calibrate, ")));
  EXPECT_EQ(ended.err.find("the device is busy") != std::string::npos,
            hw.find(", while it was busy") != std::string::npos)
      << ended.err;
}

// What tiles are chosen by is fitted on demand, and the choice is told before and after.
TEST_F(Calibrate, TilesOnDemand) {
  const Ended with = run("calibrate llvm_cpu --seconds 3 --anyway --tiles -o own.json");
  ASSERT_EQ(with.code, 0) << with.err;
  EXPECT_THAT(with.out, AllOf(HasSubstr("tiles chosen by the model, over the best of all: before "),
                              HasSubstr("now ")));
}

// Without it, either the numbers are those of a quiet machine, or there are none.
TEST_F(Calibrate, RefusesABusyMachineAndThenWritesNothing) {
  const Ended ended = run("calibrate llvm_cpu --seconds 1 -o own.json");
  if (ended.code == 0) {
    EXPECT_EQ(folder_.read("own.json").find("busy"), std::string::npos);
    EXPECT_NE(folder_.read("own.json"), "");
  } else {
    EXPECT_EQ(ended.code, 3);
    EXPECT_THAT(ended.err, HasSubstr("the device is busy, or its clock changes"));
    EXPECT_EQ(folder_.files(), std::vector<std::string>{});
  }
}

TEST_F(Calibrate, TheUsersFolderIsReadForTheDeviceThatItIsOf) {
  const std::string name = device_name();
  ASSERT_NE(name, "");
  const nlohmann::json own = {{"overlay_of", {{"plugin", "llvm_cpu"}, {"device", name}}},
                              {"launch_us", 7.5}};
  std::filesystem::create_directory(folder_.path("hw"));
  folder_.write("hw/a.json", own.dump());
  folder_.write("hw/b.json", R"({"overlay_of": {"plugin": "acme"}, "exec_units": {"X": {}}})");
  EXPECT_THAT(run("hw --device llvm_cpu").out, HasSubstr("/launch_us = 7.5"));
  folder_.write("given.json", R"({"launch_us": 8.5})");
  EXPECT_THAT(run("hw --device llvm_cpu --hw given.json").out,
              AllOf(HasSubstr("/launch_us = 8.5"), HasSubstr("(given.json:1)")));
  expect(3, "hw --device llvm_cpu --hw hw/b.json",
         "it is for the device '' of the plugin 'acme', not for");
  folder_.write("hw/c.json", "{\n");
  expect(3, "hw --device llvm_cpu", "c.json");
}

TEST_F(Calibrate, Mistakes) {
  expect(2, "calibrate", "DEVICE");
  expect(3, "calibrate nothing", "no device matches 'nothing'");
  expect(3, "calibrate sim:0", "is simulated");
  expect(1, "calibrate llvm_cpu -o no/such/folder/x.json", "no/such/folder");
}

TEST_F(Calibrate, InterruptedItWritesNothing) {
  const pid_t child = folder_.start(words("calibrate llvm_cpu --seconds 60 -o own.json"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ::kill(child, SIGINT);
  const Ended ended = folder_.end(child);
  EXPECT_TRUE(ended.signal == SIGINT || ended.code == 130) << ended.code << ended.err;
  EXPECT_EQ(folder_.files(), std::vector<std::string>{});
}

// What a model predicts stands beside what was measured.
TEST_F(Calibrate, ExplainCostShowsBoth) {
  folder_.write("m.tile",
                "function (A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[k, n]); }");
  const std::string command = "compile m.tile --device llvm_cpu --shape A=64,64 --shape B=64,64 ";
  const Ended alone = run(command + "--explain-cost");
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_THAT(alone.out,
              AllOf(HasSubstr("predicted µs"), HasSubstr("kernel_0"), HasSubstr("operations ")));
  const Ended both = run(command + "--explain-cost -o -");
  EXPECT_THAT(both.out, HasSubstr("stripe 1.0\n"));
  EXPECT_THAT(both.err, HasSubstr("predicted µs"));
  expect(2, "compile m.tile --device llvm_cpu --shape A=64,64 --shape B=64,64", "--output");
}

}  // namespace
}  // namespace stria::end_to_end
