// SPDX-License-Identifier: Apache-2.0
// Runtime::pick on real plugins: who predicts, what is measured where the choice is close, and that
// it is kept for the next process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

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

// A model that no device has: llvm_cpu's own, of a machine with more and quicker cores.
class PickModels : public RuntimePick {
 protected:
  static ModelFile file(const std::string& text, const std::string& kind = "") {
    return {{"next.json", text}, kind};
  }
  static std::string cpu_model() {
    std::ifstream in(STRIA_BINARY_DIR "/lib/stria/plugins/llvm_cpu/hw/cpu.json");
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  static std::string quick() {
    std::string text = cpu_model();
    const std::string clock = "{{ device.clock_mhz | default(2500) }}";
    return text.replace(text.find(clock), clock.size(), "50000");
  }
  static Result<Pick> pick(std::vector<ModelFile> models, const std::string& selector = "auto",
                           bool bounds_only = false) {
    PickOptions how;
    how.models = std::move(models);
    how.bounds_only = bounds_only;
    return runtime().pick(selector, product(), kSizes, how);
  }
};

TEST_F(PickModels, StandBesideTheDevices) {
  const Pick alone = pick({}).value();
  const Result<Pick> made = pick({file(quick()), file(cpu_model(), "cpu")});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->selection.order, alone.selection.order);
  ASSERT_EQ(made->models.size(), 2u);
  for (const PickedModel& one : made->models) {
    EXPECT_EQ(one.name, "cpu");
    EXPECT_EQ(one.kind, "llvm_cpu:cpu");
    EXPECT_TRUE(one.kept());
    ASSERT_EQ(one.predictions.size(), 2u);
    EXPECT_EQ(one.predictions[0].by, PredictedBy::bounds);
    EXPECT_EQ(one.predictions[1].by, PredictedBy::model);
    EXPECT_FALSE(one.predictions[1].kernels.empty());
    EXPECT_GT(one.predictions[1].peak_bytes, 0u);
    EXPECT_GT(one.predictions[1].build_s, 0.015);  // the model says 15 ms for a kernel
  }
  // Twenty times the clock: what is not the way to the device and back shrinks.
  EXPECT_LT(made->models[0].best()->run.seconds, made->models[1].best()->run.seconds);
  EXPECT_EQ(made->models[0].place, 0u);
  const Pick quickly = pick({file(quick())}, "auto", true).value();
  ASSERT_EQ(quickly.models[0].predictions.size(), 1u);
  EXPECT_EQ(quickly.models[0].best()->by, PredictedBy::bounds);
}

// The prediction is that of the same model on its device, if they are the same.
TEST_F(PickModels, AgreeWithTheDeviceWhoseModelItIs) {
  const Runtime own = runtime();
  const Device device = own.open("llvm_cpu").value();
  const Pick pick = PickModels::pick({file(Inside::model(device).to_string())}).value();
  // A device that is opened may have measured its rates anew.
  EXPECT_NEAR(pick.models[0].best()->run.seconds / of(pick, "llvm_cpu").best()->run.seconds, 1,
              0.2);
  EXPECT_EQ(pick.models[0].best()->kernels.size(), of(pick, "llvm_cpu").best()->kernels.size());
}

TEST_F(PickModels, WhatIsWrongWithOneIsOneError) {
  const auto wrong = [&](const ModelFile& model) {
    const Result<Pick> made = pick({model});
    EXPECT_FALSE(made.ok());
    return made.ok() ? std::string() : made.status().message();
  };
  EXPECT_THAT(wrong(file("{\"name\": \"x\", \"clok_mhz\": 5}")), HasSubstr("next.json:1"));
  EXPECT_THAT(wrong(file("{")), HasSubstr("next.json"));
  EXPECT_THAT(wrong(file(quick(), "cpuu")),
              HasSubstr("next.json: no plugin has devices of the kind 'cpuu'"));
  EXPECT_THAT(wrong(file(quick(), "llvm_cpu:gpu")), HasSubstr("kinds: llvm_cpu:cpu, "));
  EXPECT_THAT(wrong(file("{\"name\": \"x\", \"clock_mhz\": 5, \"exec_units\": {\"ODD\": {}}}")),
              HasSubstr("no kind of device has a model with units of these names (ODD)"));
  // A pipeline that names units that the model does not have.
  EXPECT_THAT(wrong(file("{\"name\": \"x\", \"clock_mhz\": 5}", "llvm_cpu:cpu")),
              HasSubstr("next.json"));
}

TEST_F(PickModels, LackWhatTheirFileSays) {
  std::string text = quick();
  text.insert(text.find("\"clock_mhz\""), "\"lacks_types\": {\"fp32\": \"a cheap core\"}, ");
  const Pick made = pick({file(text)}).value();
  ASSERT_EQ(made.models[0].objections.size(), 1u);
  EXPECT_EQ(made.models[0].objections[0].gate, Gate::types);
  EXPECT_THAT(made.models[0].objections[0].why, HasSubstr("it lacks fp32 (a cheap core)"));
}

// What a choice stands on is asked for, and the choice is the same.
TEST_F(RuntimePick, ExplainingAChoiceChangesNothing) {
  const Runtime all = runtime();
  const Compilation generic = lower_program(product(), kSizes).value();
  for (const char* text : {"auto", "reference, llvm_cpu", "sim, reference", "reference",
                           "auto:latency, !sim", "auto, sim, reference", "sim:2"}) {
    Pick picked;
    const Selection plain = Inside::order(all, text, &generic).value();
    const Selection explained = Inside::order(all, text, &generic, &picked).value();
    EXPECT_EQ(plain.order, explained.order) << text;
    EXPECT_EQ(picked.selection.order, plain.order) << text;
    // Each device that is left has its line.
    EXPECT_EQ(picked.candidates.size(), plain.order.size()) << text;
    Pick opened;
    const Device device = Inside::open(all, text, &generic, &opened).value();
    EXPECT_EQ(device.info().selector,
              opened.selection.devices[opened.selection.order[0]].device.selector)
        << text;
  }
  // Without a program there is the selection alone.
  Pick picked;
  ASSERT_TRUE(Inside::open(all, "auto", nullptr, &picked).ok());
  EXPECT_FALSE(picked.selection.order.empty());
  EXPECT_TRUE(picked.candidates.empty());
}

}  // namespace
}  // namespace stria
