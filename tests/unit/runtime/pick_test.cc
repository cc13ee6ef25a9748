// SPDX-License-Identifier: Apache-2.0
// Runtime::pick on real plugins: who predicts, what is measured where the choice is close, and that
// it is kept for the next process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "stria/base/status.h"
#include "stria/runtime/device_picker.h"
#include "stria/runtime/host/kept_times.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/runtime.h"

namespace stria {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const InputTypes kSizes = {{"A", {DataType::fp32, {48, 40}}}, {"B", {DataType::fp32, {40, 56}}}};

Program product() {
  return Program::from_tile({"product",
                             "function product(A[M, K], B[K, N]) -> (C) {\n"
                             "  C[m, n : M, N] = +(A[m, k] * B[k, n]);\n}\n"})
      .value();
}

class RuntimePick : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    folder_ = fs::path(testing::TempDir()) /
              fmt::format("pick_{}_{}", ::getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    before_ ? ::setenv("XDG_CACHE_HOME", before_->c_str(), 1) : ::unsetenv("XDG_CACHE_HOME");
    fs::remove_all(folder_);
  }
  static Runtime runtime() {
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
    options.only_plugin_paths = true;
    options.only_plugins = {"llvm_cpu", "reference", "sim"};
    return Runtime(options);
  }
  static const Candidate& of(const Pick& pick, const std::string& plugin) {
    for (const Candidate& one : pick.candidates)
      if (pick.selection.devices[one.device].device.plugin == plugin) return one;
    STRIA_CHECK(false, "no candidate of {}", plugin);
  }
  std::optional<std::string> before_;
  fs::path folder_;
};

TEST_F(RuntimePick, EachDeviceSaysWhatItCan) {
  const Result<Pick> pick = runtime().pick("auto", product(), kSizes);
  ASSERT_TRUE(pick.ok()) << pick.status().message();
  EXPECT_EQ(pick->selection.devices[pick->selection.order[0]].device.plugin, "llvm_cpu");
  ASSERT_EQ(of(*pick, "llvm_cpu").predictions.size(), 2u);
  EXPECT_EQ(of(*pick, "llvm_cpu").predictions[0].by, PredictedBy::bounds);
  EXPECT_EQ(of(*pick, "llvm_cpu").predictions[1].by, PredictedBy::model);
  EXPECT_EQ(of(*pick, "sim").best()->by, PredictedBy::plugin);
  EXPECT_TRUE(of(*pick, "sim").simulated);
  EXPECT_EQ(of(*pick, "reference").best(), nullptr);
  EXPECT_THAT(of(*pick, "reference").trouble, HasSubstr("lacks rates"));
  PickOptions bounds;
  bounds.bounds_only = true;
  const Result<Pick> quick = runtime().pick("auto", product(), kSizes, bounds);
  ASSERT_TRUE(quick.ok());
  EXPECT_EQ(of(*quick, "llvm_cpu").best()->by, PredictedBy::bounds);
}

TEST_F(RuntimePick, FailsForWhatIsMalformed) {
  EXPECT_EQ(runtime().pick("auto,,", product(), kSizes).status().code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(runtime().pick("auto", product(), {}).status().code(), StatusCode::invalid_argument);
  const Result<Pick> none = runtime().pick("auto, deadline<=1ns", product(), kSizes);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->selection.order.empty());
  EXPECT_FALSE(check_any_kept(none->selection).ok());
}

// What was measured counts, also where no device is opened, and for this program alone.
TEST_F(RuntimePick, MeasuredTimesAreKept) {
  const Compilation generic = lower_program(product(), kSizes).value();
  const KeptTimes times(generic.generic, false);
  const Pick before = runtime().pick("auto", product(), kSizes).value();
  const DeviceInfo device = before.selection.devices[before.selection.order[0]].device;
  EXPECT_EQ(times.find(device), std::nullopt);
  times.keep(device, {3e-3, 2e-3, 4e-3});
  PickOptions bounds;
  bounds.bounds_only = true;
  for (const PickOptions& how : {bounds, PickOptions()}) {
    const Pick pick = runtime().pick("auto", product(), kSizes, how).value();
    const Prediction* best = of(pick, "llvm_cpu").best();
    EXPECT_EQ(best->by, PredictedBy::measured);
    EXPECT_EQ(best->run.seconds, 3e-3);
    EXPECT_EQ(best->run.most, 4e-3);
  }
  // What the model knows beside times stays.
  const Pick again = runtime().pick("auto", product(), kSizes).value();
  EXPECT_GT(of(again, "llvm_cpu").best()->peak_bytes, 0u);
  const InputTypes others = {{"A", {DataType::fp32, {48, 41}}}, {"B", {DataType::fp32, {41, 56}}}};
  EXPECT_EQ(of(runtime().pick("auto", product(), others).value(), "llvm_cpu").best()->by,
            PredictedBy::model);
  EXPECT_EQ(KeptTimes(generic.generic, true).find(device), std::nullopt);
  DeviceInfo other = device;
  other.name += ", driver 2";
  EXPECT_EQ(times.find(other), std::nullopt);
  // A file that somebody has written into is a miss.
  for (const auto& file : fs::recursive_directory_iterator(folder_ / "stria/times"))
    if (file.is_regular_file()) std::ofstream(file.path(), std::ios::trunc) << "{\"seconds\": -1}";
  EXPECT_EQ(times.find(device), std::nullopt);
}

// A plugin whose estimate is a lie is named once runs are known.
TEST_F(RuntimePick, ALieIsNamed) {
  const Compilation generic = lower_program(product(), kSizes).value();
  const Pick before = runtime().pick("sim:0", product(), kSizes).value();
  const DeviceInfo device = before.selection.devices[before.selection.order[0]].device;
  const double said = of(before, "sim").best()->run.seconds;
  KeptTimes(generic.generic, false).keep(device, {said * 20, said * 19, said * 21});
  const Pick pick = runtime().pick("sim:0", product(), kSizes).value();
  EXPECT_THAT(of(pick, "sim").trouble, HasSubstr("its plugin says"));
  KeptTimes(generic.generic, false).keep(device, {said * 2, said, said * 3});
  EXPECT_EQ(of(runtime().pick("sim:0", product(), kSizes).value(), "sim").trouble, "");
}

// Of one program on one machine, timed: an interval around what other runs take.
TEST_F(RuntimePick, MeasuresARun) {
  RuntimeOptions options;
  options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
  options.only_plugin_paths = true;
  options.only_plugins = {"llvm_cpu", "reference"};
  const Runtime both(options);
  PickOptions how;
  how.measure_s = 0.01;
  // Both are said to take about as long, so both are run.
  const Compilation generic = lower_program(product(), kSizes).value();
  const Pick pick = both.pick("auto", product(), kSizes, how).value();
  // The reference device cannot be predicted: there is nothing to compare.
  EXPECT_EQ(of(pick, "llvm_cpu").best()->by, PredictedBy::model);
  const Device device = both.open("llvm_cpu").value();
  const Result<Prediction> measured = DevicePicker::measured(device, generic, {}, 0.01);
  ASSERT_TRUE(measured.ok()) << measured.status().message();
  EXPECT_EQ(measured->by, PredictedBy::measured);
  EXPECT_GT(measured->run.least, 0);
  EXPECT_LE(measured->run.least, measured->run.seconds);
  EXPECT_LE(measured->run.seconds, measured->run.most);
}

}  // namespace
}  // namespace stria
