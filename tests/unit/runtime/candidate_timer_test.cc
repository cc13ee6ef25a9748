// SPDX-License-Identifier: Apache-2.0
// Pipelines whose passes time candidates on a real device, and what is kept of that.
#include "stria/runtime/candidate_timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "stria/runtime/busy_device.h"
#include "stria/runtime/inside.h"

namespace stria {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kProduct = R"(function (A[M, K], B[K, N]) -> (C) {
  T[i, j : M, N] = +(A[i, k] * B[k, j]);
  C = T + T;
})";

class CandidateTimerTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("stria_candidates_" + std::string(GetParam()));
    fs::remove_all(folder_);
    ASSERT_EQ(setenv("XDG_CACHE_HOME", folder_.c_str(), 1), 0);
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
    options.only_plugin_paths = true;
    auto device = Runtime(options).open(GetParam());
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
    for (const fs::path& file : files()) fs::remove(file);  // the device's own
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    fs::remove_all(folder_);
  }

  // Without the folder of what plugins keep.
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    if (fs::exists(folder_ / "stria"))
      for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "stria"))
        if (entry.is_regular_file()) out.push_back(entry.path());
    return out;
  }

  // What the step that chooses has counted.
  std::map<std::string, int64_t> counts(const std::string& options) {
    auto program = Program::from_tile({"product.tile", kProduct});
    EXPECT_TRUE(program.ok()) << program.status().to_string();
    CompileOptions how;
    how.pipeline = {"pipeline", "[{\"autotile\": {" + options +
                                    "}}, {\"agg_init\": {\"cut\": true}}, "
                                    "{\"locate_memory\": {\"reqs\": [\"program\"], \"loc\": "
                                    "{\"name\": \"DRAM\"}}}, {\"prune\": {}}]"};
    auto executable = device_.compile(
        *program, {{"A", {DataType::fp32, {12, 10}}}, {"B", {DataType::fp32, {10, 14}}}}, how);
    EXPECT_TRUE(executable.ok()) << executable.status().to_string();
    if (!executable.ok()) return {};
    stripe_ = executable->device_stripe();
    return Inside::compilation(*executable).steps.at(0).counters;
  }

  fs::path folder_;
  Device device_;
  std::string stripe_;
};

constexpr const char* kTimed = R"("reqs": ["contraction"], "max_points": 512, "measure_top": 3)";

TEST_P(CandidateTimerTest, WhatKeepsADeviceAtWorkEnds) {
  BusyDevice busy(device_);
  for (const double ns : {0.0, 1e6}) {
    auto ahead = busy.start(ns);
    ASSERT_TRUE(ahead.ok()) << ahead.status().to_string();
    EXPECT_TRUE(ahead->wait().ok());
  }
}

TEST_P(CandidateTimerTest, WhatIsTimedIsKeptAndNotTimedAgain) {
  EXPECT_EQ(counts(kTimed)["candidates_timed"], 3);
  EXPECT_EQ(files().size(), 3u);
  const std::string first = stripe_;
  std::map<std::string, int64_t> again = counts(kTimed);
  EXPECT_EQ(again["times_known"], 3);
  EXPECT_EQ(again.count("candidates_timed"), 0u);
  EXPECT_EQ(stripe_, first);
}

TEST_P(CandidateTimerTest, ADamagedTimeIsMeasuredAgain) {
  counts(kTimed);
  ASSERT_FALSE(files().empty());
  std::ofstream(files().front()) << "{\"version\": 1";
  std::map<std::string, int64_t> again = counts(kTimed);
  EXPECT_EQ(again["times_known"], 2);
  EXPECT_EQ(again["candidates_timed"], 1);
}

TEST_P(CandidateTimerTest, ALaterStepIsPartOfWhatIsTimed) {
  counts(kTimed);
  auto program = Program::from_tile({"product.tile", kProduct});
  ASSERT_TRUE(program.ok());
  counts(std::string(kTimed) + R"(}}, {"name": "more", "prune": {)");
  EXPECT_EQ(files().size(), 6u);
}

// A candidate runs in a program of its own, where nothing is constant.
TEST_P(CandidateTimerTest, KernelsOfThePrologueAreTimedToo) {
  auto program = Program::from_tile(
      {"sum.tile", "function (A[M, K], B[M]) -> (C) { S[i : M] = +(A[i, k]); C = S + B; }"});
  ASSERT_TRUE(program.ok());
  CompileOptions how;
  how.constants = {"A"};
  how.pipeline = {"pipeline", R"([{"split_prologue": {}}, {"autotile": {"reqs": ["contraction"],
      "max_points": 64, "measure_top": 3}}, {"agg_init": {"cut": true}}])"};
  auto executable = device_.compile(
      *program, {{"A", {DataType::fp32, {12, 70}}}, {"B", {DataType::fp32, {12}}}}, how);
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  EXPECT_THAT(executable->device_stripe(), HasSubstr("#prologue"));
  EXPECT_EQ(Inside::compilation(*executable).steps.at(1).counters.at("candidates_timed"), 3);
}

INSTANTIATE_TEST_SUITE_P(Devices, CandidateTimerTest, testing::Values("reference", "llvm_cpu"));

Device slow_device(const char* options) {
  RuntimeOptions how;
  how.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/test_plugins"};
  how.only_plugin_paths = true;
  how.plugin_options["slow_device"] = options;
  auto device = Runtime(how).open("slow_device");
  EXPECT_TRUE(device.ok()) << device.status().to_string();
  return *device;
}

// It takes this device far longer to give memory, and to fill it, than the host to queue nothing,
// which once in a while takes long, too.
TEST(BusyDevice, TakingItsMemoryIsNoQueueing) {
  const Device device = slow_device(R"({"delay_us": 1})");
  size_t least = SIZE_MAX;
  for (int i = 0; i < 10 && least > 1; ++i) {
    BusyDevice busy(device);
    size_t times = 0;
    auto out = busy.behind(BusyDevice::kMostNs / 2, [&](const hal::Event& ahead) {
      ++times;
      return Result<hal::Event>(ahead);
    });
    ASSERT_TRUE(out.ok()) << out.status().to_string();
    EXPECT_TRUE(out->wait().ok());
    least = std::min(least, times);
  }
  EXPECT_EQ(least, 1u);
}

TEST(BusyDevice, ADeviceWithoutMemoryForLongerCopiesIsKeptAtWorkByShortOnes) {
  BusyDevice busy(slow_device(R"({"delay_us": 1, "memory_bytes": 201326592})"));
  for (int i = 0; i < 2; ++i) {
    auto ahead = busy.start(1e9);
    ASSERT_TRUE(ahead.ok()) << ahead.status().to_string();
    EXPECT_TRUE(ahead->wait().ok());
  }
}

TEST(BusyDevice, NeedsMemory) {
  BusyDevice busy(slow_device(R"({"memory_bytes": 67108864})"));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(busy.start(1e6).status().code(), StatusCode::out_of_memory);
}

class TuneTest : public CandidateTimerTest {};

TEST_P(TuneTest, IsForPipelinesThatTime) {
  auto program = Program::from_tile({"product.tile", kProduct});
  ASSERT_TRUE(program.ok());
  CompileOptions how;
  how.tune = 2;
  auto executable = device_.compile(
      *program, {{"A", {DataType::fp32, {24, 10}}}, {"B", {DataType::fp32, {10, 64}}}}, how);
  if (std::string(GetParam()) == "reference") {
    EXPECT_THAT(executable.status().message(),
                HasSubstr("tune 2: the pipeline times no candidates"));
    return;
  }
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  EXPECT_EQ(files().size(), 2u);
  how.parameters = {{"MEASURE_TOP", "2"}};
  auto twice = device_.compile(
      *program, {{"A", {DataType::fp32, {24, 10}}}, {"B", {DataType::fp32, {10, 64}}}}, how);
  EXPECT_EQ(twice.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(twice.status().message(), HasSubstr("tune 2 and MEASURE_TOP=2 both say"));
}

INSTANTIATE_TEST_SUITE_P(Devices, TuneTest, testing::Values("reference", "llvm_cpu"));

}  // namespace
}  // namespace stria
