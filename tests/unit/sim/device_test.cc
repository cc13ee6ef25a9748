// SPDX-License-Identifier: Apache-2.0
// The simulated accelerator as a device of the runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/runtime.h"

namespace stria {
namespace {

using testing::HasSubstr;

Runtime with(std::set<std::string> plugins) {
  RuntimeOptions options;
  options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
  options.only_plugin_paths = true;
  options.only_plugins = {plugins.begin(), plugins.end()};
  return Runtime(options);
}

constexpr const char* kProduct = R"(
function (A[M, K], B[K, N], D[N]) -> (C) {
  S[i, j: M, N] = +(A[i, k] * B[k, j]);
  E = D + D;
  C = S + E;
})";

InputTypes types(int64_t size) {
  return {{"A", {DataType::i8, {size, size}}},
          {"B", {DataType::i8, {size, size}}},
          {"D", {DataType::i32, {size}}}};
}

// It has no machine behind it, so it is never the fastest one, whatever its model promises.
TEST(SimDevice, IsNeverChosenByItself) {
  auto device = with({"sim", "reference"}).open("auto");
  ASSERT_TRUE(device.ok()) << device.status().to_string();
  EXPECT_EQ(device->info().plugin, "reference");
}

TEST(SimDevice, HasOneKernelForEachPart) {
  auto device = with({"sim"}).open("sim");
  ASSERT_TRUE(device.ok()) << device.status().to_string();
  auto program = Program::from_tile({"product", kProduct});
  ASSERT_TRUE(program.ok());
  CompileOptions options;
  options.constants = {"D"};
  auto executable = device->compile(*program, types(64), options);
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  const Compilation& compiled = Inside::compilation(*executable);
  auto loaded = CompileDriver::build(*device, compiled.device, compiled.device_text, options);
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  auto kernels = loaded->library().kernels();
  ASSERT_TRUE(kernels.ok());
  std::vector<std::string> names;
  for (const hal::KernelInfo& kernel : *kernels) names.push_back(kernel.name);
  EXPECT_THAT(names, testing::ElementsAre("prologue", "main"));
}

// Each device has a model of its own, and so times of its own.
TEST(SimDevice, SeveralModelsAtOnce) {
  const Runtime runtime = with({"sim"});
  auto program = Program::from_tile({"product", kProduct});
  std::set<uint64_t> times;
  for (const char* name : {"sim:0", "sim:1", "sim:2", "sim:3"}) {
    auto device = runtime.open(name);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    auto executable = device->compile(*program, types(64), {.watch_kernels = true});
    ASSERT_TRUE(executable.ok()) << executable.status().to_string();
    std::vector<Tensor> inputs, outputs;
    for (const TensorInfo& info : executable->inputs())
      inputs.push_back(device->create_tensor(info).value());
    outputs.push_back(device->create_tensor(executable->outputs()[0]).value());
    auto run = executable->run(inputs, outputs);
    ASSERT_TRUE(run.ok() && run->wait().ok());
    times.insert(run->kernel_times().value()[0].nanoseconds);
  }
  EXPECT_EQ(times.size(), 4u);
}

// What neither fits into the scratchpad nor comes in parts is worked on where it is.
TEST(SimDevice, RunsWhatDoesNotFitTheScratchpad) {
  auto device = with({"sim"}).open("sim");
  ASSERT_TRUE(device.ok()) << device.status().to_string();
  auto program =
      Program::from_tile({"rows", "function (D[N, M], I[K]) -> (R) { R = gather(D, I); }"});
  ASSERT_TRUE(program.ok());
  const InputTypes inputs = {{"D", {DataType::i8, {100000, 64}}}, {"I", {DataType::i32, {3}}}};
  auto executable = device->compile(*program, inputs);
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  EXPECT_THAT(executable->device_stripe(), HasSubstr("in<DRAM[0]> D"));
}

}  // namespace
}  // namespace stria
