// SPDX-License-Identifier: Apache-2.0
// What a device lacks is told before anything is built, and `auto` passes over such a device. The
// device is llvm_cpu with a model that says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "../onnx/model_file.h"
#include "stria/base/file.h"
#include "stria/runtime/stria.h"

namespace stria {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

// Two kernels in the type of A, one in fp32.
constexpr const char* kText = R"(function f(A[N], B[N]) -> (R, S) {
  Double = A + A;
  R = exp(Double);
  S[] = +(B[i]);
})";

class DeviceLimits : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stria_limits_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    const fs::path built = STRIA_BINARY_DIR "/lib/stria/plugins";
    for (const char* plugin : {"llvm_cpu", "reference"})
      fs::copy(built / plugin, folder_ / plugin, fs::copy_options::recursive);
    const fs::path model = folder_ / "llvm_cpu/hw/cpu.json";
    std::string text = read_file(model.string()).value();
    const size_t at = text.find("\"name\": \"cpu\",");
    ASSERT_NE(at, std::string::npos);
    text.insert(at, "\"lacks_types\": {\"fp64\": \"the made-up unit\"}, ");
    std::ofstream(model) << text;
    RuntimeOptions options;
    options.plugin_paths = {folder_};
    options.only_plugin_paths = true;
    options.log = [this](LogLevel, std::string_view line) { log_ += std::string(line) + "\n"; };
    runtime_ = Runtime(options);
    program_ = Program::from_tile({"f.tile", kText}).value();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static InputTypes types(DataType of_a) {
    return {{"A", {of_a, {4}}}, {"B", {DataType::fp32, {4}}}};
  }

  fs::path folder_;
  std::string log_;
  Runtime runtime_;
  Program program_;
};

// Sizes depend on a part that the device lacks a type for. The host computes it, and says so; the
// rest runs on the device.
TEST_F(DeviceLimits, OfWhatOnnxSizesDependOnLeaveItToTheHost) {
  onnx::GraphWriter graph;
  graph.input("x", onnx::ElementType::fp64, {500, 500});
  graph.weights<double>("limit", onnx::ElementType::fp64, {}, {3});
  graph.node("MatMul", {"x", "x"}, {"m"});
  graph.node("Greater", {"m", "limit"}, {"above"}).node("NonZero", {"above"}, {"places"});
  graph.output("places");
  std::ofstream(folder_ / "model.onnx", std::ios::binary) << graph.model();
  const OnnxModel model = OnnxModel::read(folder_ / "model.onnx").value();
  HostTensor x = HostTensor::create(DataType::fp64, {500, 500}, "x").value();
  std::fill_n(reinterpret_cast<double*>(x.data()), 250000, 0.0);
  *reinterpret_cast<double*>(x.data()) = 2;  // m[0, 0] = 4
  const Device device = runtime_.open("llvm_cpu").value();
  OnnxOptions options;
  options.at_hand = {{"x", std::make_shared<const HostTensor>(std::move(x))}};
  options.open_device = [&](const Program&) { return Result<Device>(device); };
  const Program program = model.program(options).value();
  EXPECT_THAT(program.notes(),
              testing::Contains(AllOf(HasSubstr("llvm_cpu:"), HasSubstr("so the host did"),
                                      HasSubstr("it lacks fp64 (the made-up unit)"),
                                      HasSubstr("MatMul that makes 'm'"))));
  EXPECT_EQ(device.compile(program).value().outputs()[0].sizes, (std::vector<int64_t>{2, 1}));
}

TEST_F(DeviceLimits, AreToldBeforeAnythingIsBuilt) {
  const Device device = runtime_.open("llvm_cpu").value();
  EXPECT_TRUE(device.compile(program_, types(DataType::fp32)).ok());
  const Status refused = device.compile(program_, types(DataType::fp64)).status();
  EXPECT_EQ(refused.code(), StatusCode::unsupported);
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("llvm_cpu:"), HasSubstr(device.info().name),
                    HasSubstr("it lacks fp64 (the made-up unit), which is needed by:\n  kernel_0"),
                    HasSubstr("\n  kernel_1"), Not(HasSubstr("kernel_2"))));
  EXPECT_EQ(runtime_.open("llvm_cpu", program_, types(DataType::fp64)).status().message(),
            refused.message());
}

TEST_F(DeviceLimits, AutoPassesOverTheDeviceAndSaysSo) {
  EXPECT_EQ(runtime_.open("auto").value().info().plugin, "llvm_cpu");
  EXPECT_EQ(runtime_.open("auto", program_, types(DataType::fp32)).value().info().plugin,
            "llvm_cpu");
  EXPECT_THAT(log_, Not(HasSubstr("passes over")));
  EXPECT_EQ(runtime_.open("auto", program_, types(DataType::fp64)).value().info().plugin,
            "reference");
  EXPECT_THAT(log_, AllOf(HasSubstr("'auto' passes over llvm_cpu:0: "),
                          HasSubstr("it lacks fp64 (the made-up unit)")));
}

TEST_F(DeviceLimits, AutoWithoutAnyDeviceTellsWhatEachLacks) {
  fs::remove_all(folder_ / "reference");
  const Status none = runtime_.open("auto", program_, types(DataType::fp64)).status();
  EXPECT_EQ(none.code(), StatusCode::unavailable);
  EXPECT_THAT(none.message(), AllOf(HasSubstr("none of the 1 available devices can be used"),
                                    HasSubstr("lacks fp64")));
}

TEST_F(DeviceLimits, ListsPassOverTheDeviceToo) {
  EXPECT_EQ(
      runtime_.open("llvm_cpu, reference", program_, types(DataType::fp64)).value().info().plugin,
      "reference");
  EXPECT_THAT(log_, HasSubstr("'llvm_cpu,reference' passes over llvm_cpu:0: it lacks fp64"));
  EXPECT_EQ(runtime_.open("reference, llvm_cpu").value().info().plugin, "reference");
  EXPECT_EQ(runtime_.open("dtype:fp64").value().info().plugin, "reference");
}

TEST_F(DeviceLimits, SelectSaysWhatBecomesOfEachDevice) {
  const Selection all = runtime_.select("auto").value();
  ASSERT_EQ(all.devices.size(), 2u);
  ASSERT_EQ(all.order.size(), 2u);
  EXPECT_EQ(all.devices[all.order[0]].device.selector, "llvm_cpu:0");
  const Selection typed = runtime_.select("auto", program_, types(DataType::fp64)).value();
  ASSERT_EQ(typed.order.size(), 1u);
  EXPECT_EQ(typed.devices[typed.order[0]].device.selector, "reference:0");
  for (const DeviceVerdict& one : typed.devices) {
    if (one.kept()) continue;
    ASSERT_EQ(one.objections.size(), 1u);
    EXPECT_EQ(one.objections[0].gate, Gate::types);
    EXPECT_THAT(one.objections[0].why, HasSubstr("it lacks fp64 (the made-up unit), which is "
                                                 "needed by kernel_0"));
  }
  EXPECT_TRUE(runtime_.select("!*").value().order.empty());
  EXPECT_EQ(runtime_.select("a,,b").status().code(), StatusCode::invalid_argument);
}

TEST_F(DeviceLimits, WhatCannotBeKeptIsRefused) {
  for (const char* text : {"auto:energy", "llvm_cpu, runs=5", "auto, deadline<=1ms", "power<=5W"})
    EXPECT_EQ(runtime_.open(text).status().code(), StatusCode::unsupported) << text;
  EXPECT_EQ(runtime_.select("auto:energy").value().selector.objective, Objective::energy);
}

TEST_F(DeviceLimits, MemoryCounts) {
  const Device device = runtime_.open("llvm_cpu").value();
  const int64_t more = static_cast<int64_t>(device.info().memory_bytes / 4 + 1);
  const Status refused =
      runtime_
          .open("llvm_cpu", program_,
                {{"A", {DataType::fp32, {more}}}, {"B", {DataType::fp32, {more}}}})
          .status();
  EXPECT_THAT(refused.message(), HasSubstr("it lacks memory: inputs and outputs have "));
}

// A sum of bytes beyond 64 bits is not a small one.
TEST_F(DeviceLimits, MemoryBeyondAllNumbersCounts) {
  constexpr int64_t kLarge = int64_t{1} << 59;  // 8 tensors of 2^61 bytes: 2^64
  std::string inputs, sum = "0";
  InputTypes types;
  for (int i = 0; i < 7; ++i) {
    const std::string name = "A" + std::to_string(i);
    inputs += (i == 0 ? "" : ", ") + name + "[N]";
    sum += " + " + name;
    types[name] = {DataType::fp32, {kLarge}};
  }
  const Result<Program> program =
      Program::from_tile({"g.tile", "function (" + inputs + ") -> (R) { R = " + sum + "; }"});
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Result<Selection> selection = runtime_.select("llvm_cpu", *program, types);
  ASSERT_TRUE(selection.ok()) << selection.status().message();
  EXPECT_TRUE(selection->order.empty());
}

}  // namespace
}  // namespace stria
