// SPDX-License-Identifier: Apache-2.0
// The public interface on the plugin that interprets: what runs, what is refused, and how work that
// shares tensors orders itself.
#include "stria/runtime/runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "stria/runtime/check.h"

namespace stria {
namespace {

using testing::HasSubstr;

class RuntimeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
    options.only_plugin_paths = true;
    runtime_ = new Runtime(options);
  }
  static void TearDownTestSuite() {
    delete runtime_;
    runtime_ = nullptr;
  }
  void SetUp() override {
    auto device = runtime_->open("reference");
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }
  Executable compile(const std::string& text, const InputTypes& types) {
    auto program = Program::from_tile({"test.tile", text});
    EXPECT_TRUE(program.ok()) << program.status().to_string();
    auto executable = device_.compile(*program, types);
    EXPECT_TRUE(executable.ok()) << executable.status().to_string();
    return *executable;
  }
  Tensor tensor(const std::vector<float>& values) {
    auto tensor = device_.create_tensor(DataType::fp32, {static_cast<int64_t>(values.size())});
    EXPECT_TRUE(tensor.ok());
    EXPECT_TRUE(
        tensor->write({reinterpret_cast<const char*>(values.data()), values.size() * 4}).ok());
    return *tensor;
  }
  static std::vector<float> read(const Tensor& tensor) {
    auto host = tensor.read();
    EXPECT_TRUE(host.ok()) << host.status().to_string();
    std::vector<float> values(static_cast<size_t>(host->element_count()));
    if (!values.empty()) std::memcpy(values.data(), host->data(), host->byte_count());
    return values;
  }
  static Runtime* runtime_;
  Device device_;
};
Runtime* RuntimeTest::runtime_ = nullptr;

const InputTypes kThree = {{"A", {DataType::fp32, {3}}}};

TEST_F(RuntimeTest, RunsAProgram) {
  Executable twice = compile("function (A[N]) -> (R) { R = A + A; }", kThree);
  EXPECT_EQ(twice.inputs()[0].name, "A");
  EXPECT_EQ(twice.outputs()[0].sizes, (std::vector<int64_t>{3}));
  Tensor a = tensor({1, 2, 3}), r = tensor({0, 0, 0});
  auto run = twice.run(std::vector{a}, std::vector{r});
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_TRUE(run->wait().ok());
  EXPECT_EQ(run->kernel_times()->size(), 0u);  // nobody has asked for them
  EXPECT_EQ(read(r), (std::vector<float>{2, 4, 6}));
}

TEST_F(RuntimeTest, RunsThatShareTensorsOrderThemselves) {
  Executable twice = compile("function (A[N]) -> (R) { R = A + A; }", kThree);
  Tensor a = tensor({1, 1, 1}), b = tensor({0, 0, 0});
  // 1, 2, 4, … back and forth, nobody waits in between.
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(twice.run(std::vector{a}, std::vector{b}).ok());
    ASSERT_TRUE(twice.run(std::vector{b}, std::vector{a}).ok());
  }
  EXPECT_EQ(read(a), (std::vector<float>(3, 1099511627776.0f)));
}

TEST_F(RuntimeTest, TemporariesOfOverlappingRunsAreTheirOwn) {
  Executable square =
      compile("function (A[N]) -> (R) { S[] = +(A[i]); T = A * S; R = T * T; }", kThree);
  std::vector<Tensor> ins, outs;
  for (int i = 0; i < 16; ++i) {
    ins.push_back(tensor({static_cast<float>(i), 1, 0}));
    outs.push_back(tensor({0, 0, 0}));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 10; ++round)
        for (int i = t; i < 16; i += 4) {
          auto run = square.run(std::span(&ins[i], 1), std::span(&outs[i], 1));
          ASSERT_TRUE(run.ok()) << run.status().to_string();
        }
    });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 16; ++i) {
    const float f = static_cast<float>(i), s = f + 1;
    EXPECT_EQ(read(outs[i]), (std::vector<float>{f * s * f * s, s * s, 0}));
  }
}

TEST_F(RuntimeTest, WorkWaitsForTheUnmap) {
  Executable twice = compile("function (A[N]) -> (R) { R = A + A; }", kThree);
  Tensor a = tensor({0, 0, 0}), r = tensor({0, 0, 0});
  auto mapped = a.map_discard();
  ASSERT_TRUE(mapped.ok()) << mapped.status().to_string();
  ASSERT_TRUE(mapped->ready().wait().ok());
  auto run = twice.run(std::vector{a}, std::vector{r});
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(run->is_done());
  EXPECT_EQ(a.map_current().status().code(), StatusCode::failed_precondition);
  EXPECT_EQ(a.read().status().code(), StatusCode::failed_precondition);
  const float values[] = {5, 6, 7};
  std::memcpy(mapped->data(), values, sizeof values);
  ASSERT_TRUE(mapped->unmap().ok());
  EXPECT_FALSE(mapped->unmap().ok());
  EXPECT_TRUE(run->wait().ok());
  EXPECT_EQ(read(r), (std::vector<float>{10, 12, 14}));
  auto again = a.map_current();
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(again->ready().wait().ok());
  EXPECT_EQ(std::memcmp(again->data(), values, sizeof values), 0);
}

TEST_F(RuntimeTest, TensorsOutliveProgramAndDevice) {
  Tensor r = tensor({0, 0, 0});
  {
    Executable twice = compile("function (A[N]) -> (R) { R = A + A; }", kThree);
    Tensor a = tensor({1, 2, 3});
    ASSERT_TRUE(twice.run(std::vector{a}, std::vector{r}).ok());
    device_ = Device();
  }
  EXPECT_EQ(read(r), (std::vector<float>{2, 4, 6}));
}

TEST_F(RuntimeTest, UnusedInputsAndEmptyTensors) {
  Executable unused = compile("function (A[N], B[M]) -> (R) { R = A * 2; }",
                              {{"A", {DataType::fp32, {0}}}, {"B", {DataType::i8, {2}}}});
  auto b = device_.create_tensor(DataType::i8, {2});
  Tensor a = tensor({}), r = tensor({});
  auto run = unused.run(std::vector{a, *b}, std::vector{r});
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_TRUE(run->wait().ok());
  EXPECT_EQ(read(r), std::vector<float>{});
}

TEST_F(RuntimeTest, RefusesWhatDoesNotFit) {
  Executable twice = compile("function (A[N]) -> (R) { R = A + A; }", kThree);
  Tensor a = tensor({1, 2, 3}), r = tensor({0, 0, 0}), four = tensor({1, 2, 3, 4});
  auto failure = [&](std::vector<Tensor> ins, std::vector<Tensor> outs) {
    auto run = twice.run(ins, outs);
    return run.ok() ? "ok" : run.status().message();
  };
  EXPECT_THAT(failure({}, {r}), HasSubstr("1 inputs and 1 outputs, got 0 and 1"));
  EXPECT_THAT(failure({four}, {r}), HasSubstr("input 'A' is fp32[4]"));
  EXPECT_THAT(failure({a}, {four}), HasSubstr("output 'R' is fp32[4]"));
  EXPECT_THAT(failure({a}, {a}), HasSubstr("same tensor"));
  EXPECT_THAT(failure({Tensor()}, {r}), HasSubstr("is no tensor"));
  auto other = runtime_->open("reference");
  auto foreign = other->create_tensor(DataType::fp32, {3});
  EXPECT_THAT(
      failure({*foreign}, {r}),
      HasSubstr("input 'A' fp32[3] lives on reference:interpreter, the program was compiled "
                "for reference:interpreter, opened at another time"));
  EXPECT_THAT(failure({a}, {*foreign}),
              HasSubstr("output 'R' fp32[3] lives on reference:interpreter"));
  EXPECT_THAT(a.write("abc").message(), HasSubstr("has 12 bytes, got 3"));
}

TEST_F(RuntimeTest, OpeningFails) {
  EXPECT_EQ(runtime_->open("").status().code(), StatusCode::invalid_argument);
  auto missing = runtime_->open("referense");
  EXPECT_EQ(missing.status().code(), StatusCode::not_found);
  EXPECT_THAT(missing.status().message(), HasSubstr("did you mean 'reference'"));
  EXPECT_THAT(missing.status().message(), HasSubstr("reference:0"));
}

TEST(RuntimeShutdown, EndsPluginsOnceNothingOfThemIsLeft) {
  RuntimeOptions options;
  options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
  options.only_plugin_paths = true;
  options.only_plugins = {"reference"};
  const Runtime runtime(options);
  {
    auto device = runtime.open("reference");
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    const Status used = runtime.shutdown();
    EXPECT_EQ(used.code(), StatusCode::failed_precondition);
    EXPECT_THAT(used.message(), HasSubstr("plugin reference is still used: 1 x device"));
    // What there is goes on; nothing new comes.
    EXPECT_TRUE(device->create_tensor(DataType::fp32, {4}).ok());
    EXPECT_EQ(runtime.open("reference").status().code(), StatusCode::failed_precondition);
  }
  EXPECT_TRUE(runtime.shutdown().ok()) << runtime.shutdown().to_string();
  EXPECT_TRUE(runtime.shutdown().ok());
  EXPECT_EQ(runtime.open("reference").status().message(), "this runtime has been shut down");
  EXPECT_TRUE(runtime.devices().empty());
  EXPECT_TRUE(runtime.plugins().empty());
  // One that has loaded nothing has nothing to end.
  EXPECT_TRUE(Runtime(options).shutdown().ok());
}

TEST_F(RuntimeTest, CheckFindsAWrongElement) {
  auto program = Program::from_tile({"t", "function (A[N]) -> (R) { R = A + A; }"});
  auto compilation = lower_program(*program, kThree);
  ASSERT_TRUE(compilation.ok()) << compilation.status().to_string();
  std::vector<HostTensor> ins, outs;
  ins.push_back(*tensor({1, 2, 3}).read());
  outs.push_back(*tensor({2, 4, 6}).read());
  EXPECT_TRUE((*check_outputs(*compilation, ins, outs, std::nullopt))[0].report.passed());
  reinterpret_cast<float*>(outs[0].data())[1] = 4.5f;
  for (std::optional<int64_t> sample : {std::optional<int64_t>(), std::optional<int64_t>(3)}) {
    auto checks = check_outputs(*compilation, ins, outs, sample);
    ASSERT_TRUE(checks.ok()) << checks.status().to_string();
    EXPECT_EQ((*checks)[0].report.failures, 1);
    EXPECT_THAT((*checks)[0].report.worst_text, HasSubstr("R[1]"));
  }
}

// Rule M23: what the device's model says reaches the bounds.
TEST_F(RuntimeTest, CheckAllowsForFlushedSubnormals) {
  auto program = Program::from_tile({"t", "function (A[N]) -> (R) { R = A + A; }"});
  auto compilation = lower_program(*program, kThree);
  ASSERT_TRUE(compilation.ok()) << compilation.status().to_string();
  std::vector<HostTensor> ins, outs;
  ins.push_back(*tensor({0x1p-130f, 2, 3}).read());
  outs.push_back(*tensor({0, 4, 6}).read());
  for (std::optional<int64_t> sample : {std::optional<int64_t>(), std::optional<int64_t>(3)}) {
    compilation->flushed = {};
    EXPECT_EQ((*check_outputs(*compilation, ins, outs, sample))[0].report.failures, 1);
    compilation->flushed.add(DataType::fp32);
    EXPECT_EQ((*check_outputs(*compilation, ins, outs, sample))[0].report.failures, 0);
  }
}

TEST_F(RuntimeTest, CountsOperations) {
  auto program = Program::from_tile({"t",
                                     "function (A[M, L], B[L, N]) -> (R) { C[i, j : M, N] = +(A[i, "
                                     "k] * B[k, j]); R = C > 0 ? C : 0; }"});
  auto compilation =
      lower_program(*program, {{"A", {DataType::fp32, {4, 5}}}, {"B", {DataType::fp32, {5, 6}}}});
  ASSERT_TRUE(compilation.ok()) << compilation.status().to_string();
  auto operations = kernel_operations(compilation->generic);
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations.begin()->second, 2.0 * 4 * 5 * 6);
}

}  // namespace
}  // namespace stria
