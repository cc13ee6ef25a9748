// SPDX-License-Identifier: Apache-2.0
// What an application leans on, on a plugin that does everything at once and on one that is slow
// and out of order: work in flight, waits, mappings, lifetimes, many threads, pipelines of one's
// own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <thread>

#include "stria/stria.h"

namespace stria {
namespace {

using testing::HasSubstr;
using Values = std::vector<float>;

RuntimeOptions built_plugins() {
  RuntimeOptions options;
  options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins/reference",
                          STRIA_BINARY_DIR "/lib/stria/test_plugins/slow_device"};
  options.only_plugin_paths = true;
  return options;
}

constexpr const char* kTwice = "function (A[N]) -> (R) { R = A + A; }";

class Embedding : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    runtime_.emplace(built_plugins());
    auto device = runtime_->open(GetParam());
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }
  Executable compile(const std::string& text, const InputTypes& inputs,
                     const CompileOptions& options = {}) {
    auto program = Program::from_tile({"test.tile", text});
    EXPECT_TRUE(program.ok()) << program.status().to_string();
    auto executable = device_.compile(*program, inputs, options);
    EXPECT_TRUE(executable.ok()) << executable.status().to_string();
    return *executable;
  }
  Executable twice() { return compile(kTwice, {{"A", {DataType::fp32, {3}}}}); }
  Tensor tensor(const Values& values) {
    return device_.create_tensor({static_cast<int64_t>(values.size())}, values).value();
  }
  std::optional<Runtime> runtime_;
  Device device_;
};
INSTANTIATE_TEST_SUITE_P(On, Embedding, testing::Values("reference", "slow_device"));

TEST_P(Embedding, RunsAreInFlightUntilWhatTheyWaitForIsDone) {
  Executable run =
      compile(kTwice, {{"A", {DataType::fp32, {3}}}}, CompileOptions{.watch_kernels = true});
  Tensor a = tensor({1, 2, 3}), b = tensor({0, 0, 0}), c = tensor({0, 0, 0});
  Event gate = device_.create_event().value();
  std::vector<Event> runs = {run.run({a}, {b}, std::vector{gate}).value(),
                             run.run({b}, {c}).value(), run.run({c}, {a}).value()};
  for (const Event& event : runs) {
    EXPECT_FALSE(event.is_done());
    EXPECT_EQ(event.status().code(), StatusCode::failed_precondition);
    EXPECT_EQ(event.kernel_times().status().code(), StatusCode::failed_precondition);
    EXPECT_EQ(event.wait(1000000).code(), StatusCode::deadline_exceeded);
  }
  ASSERT_TRUE(gate.signal().ok());
  EXPECT_FALSE(gate.signal().ok());
  EXPECT_EQ(*a.read_values<float>(), (Values{8, 16, 24}));
  for (const Event& event : runs) {
    EXPECT_TRUE(event.wait().ok());
    EXPECT_EQ(event.kernel_times()->size(), 1u);
    EXPECT_GT(*event.duration_ns(), 0u);
  }
}

TEST_P(Embedding, KernelsAreNotWatchedUnlessSomebodyWantsTo) {
  Executable run = twice();
  Tensor a = tensor({1, 2, 3}), b = tensor({0, 0, 0});
  Event event = run.run({a}, {b}).value();
  ASSERT_TRUE(event.wait().ok());
  EXPECT_TRUE(event.kernel_times()->empty());
  EXPECT_GT(*event.duration_ns(), 0u);
  EXPECT_EQ(*b.read_values<float>(), (Values{2, 4, 6}));
}

TEST_P(Embedding, RunsInARowForMeasuring) {
  Executable run = compile(kTwice, {{"A", {DataType::fp32, {3}}}}, {});
  Tensor a = tensor({1, 2, 3}), b = tensor({0, 0, 0}), c = tensor({0, 0, 0});
  Event runs = run.run_in_a_row(50, std::vector{a}, std::vector{b}).value();
  // Another run's input, as of a single one.
  ASSERT_TRUE(run.run({b}, {c}).ok());
  EXPECT_EQ(*c.read_values<float>(), (Values{4, 8, 12}));
  ASSERT_TRUE(runs.wait().ok());
  EXPECT_TRUE(runs.kernel_times()->empty());
  EXPECT_GT(*runs.duration_ns(), 0u);
  EXPECT_THAT(run.run_in_a_row(UINT32_MAX, std::vector{a}, std::vector{b}).status().message(),
              HasSubstr("1 kernels; 4294967295 runs in a row would be more than 1048576 launches"));
  EXPECT_EQ(run.run_in_a_row(0, std::vector{a}, std::vector{b}).status().code(),
            StatusCode::invalid_argument);
}

TEST_P(Embedding, AWaitThatFailsFailsThisRunAndNoOther) {
  Executable run = twice();
  Tensor a = tensor({1, 2, 3}), b = tensor({0, 0, 0}), c = tensor({0, 0, 0});
  Event gate = device_.create_event().value();
  Event first = run.run({a}, {b}, std::vector{gate}).value();
  Event after = run.run({b}, {c}).value();
  ASSERT_TRUE(gate.signal(Status(StatusCode::data_loss, "no input today")).ok());
  EXPECT_EQ(first.wait().code(), StatusCode::data_loss);
  EXPECT_THAT(first.wait().message(), HasSubstr("no input today"));
  EXPECT_FALSE(after.wait().ok());
  EXPECT_THAT(c.read_values<float>().status().message(), HasSubstr("no input today"));
  ASSERT_TRUE(run.run({a}, {b}).value().wait().ok());
  ASSERT_TRUE(run.run({b}, {c}).value().wait().ok());
  EXPECT_EQ(*c.read_values<float>(), (Values{4, 8, 12}));
}

TEST_P(Embedding, CallbacksAndEventsThatAreNone) {
  Event none;
  EXPECT_TRUE(none.is_done() && none.wait().ok() && none.status().ok());
  EXPECT_FALSE(none.signal().ok());
  Executable run = twice();
  Tensor a = tensor({1, 2, 3}), b = tensor({0, 0, 0});
  Event gate = device_.create_event().value();
  Event done = run.run({a}, {b}, std::vector{none, gate}).value();
  Event called = device_.create_event().value();
  ASSERT_TRUE(done.on_done([called](const Status& status) { (void)called.signal(status); }).ok());
  EXPECT_FALSE(called.is_done());
  ASSERT_TRUE(gate.signal().ok());
  EXPECT_TRUE(called.wait().ok());
}

TEST_P(Embedding, MapCurrentWaitsForTheWriterAndMapDiscardForUsers) {
  Executable run = twice();
  Tensor a = tensor({1, 2, 3}), b = tensor({0, 0, 0});
  Event gate = device_.create_event().value();
  ASSERT_TRUE(run.run({a}, {b}, std::vector{gate}).ok());
  MappedTensor current = b.map_current().value();
  MappedTensor discard = a.map_discard().value();
  EXPECT_FALSE(current.ready().is_done());
  EXPECT_FALSE(discard.ready().is_done());
  ASSERT_TRUE(gate.signal().ok());
  std::span<float> seen = current.values<float>().value();
  EXPECT_EQ(Values(seen.begin(), seen.end()), (Values{2, 4, 6}));
  EXPECT_THAT(current.values<int32_t>().status().message(), HasSubstr("fp32[3]"));
  seen[1] = 40;
  // What starts now waits for both unmaps.
  std::span<float> fresh = discard.values<float>().value();
  std::iota(fresh.begin(), fresh.end(), 7.0f);
  Event second = run.run({b}, {a}).value();
  EXPECT_FALSE(second.is_done());
  ASSERT_TRUE(discard.unmap().ok());
  EXPECT_FALSE(second.is_done());
  EXPECT_EQ(discard.data(), nullptr);
  EXPECT_EQ(discard.values<float>().status().code(), StatusCode::failed_precondition);
  EXPECT_EQ(discard.unmap().status().code(), StatusCode::failed_precondition);
  {
    MappedTensor ends = std::move(current);
  }
  EXPECT_TRUE(second.wait().ok());
  EXPECT_EQ(*a.read_values<float>(), (Values{4, 80, 12}));
  EXPECT_EQ(*b.read_values<float>(), (Values{2, 40, 6}));
}

TEST_P(Embedding, AMappingThatEndsBeforeItIsReadyChangesNothing) {
  Executable run = twice();
  Tensor a = tensor({1, 2, 3}), b = tensor({0, 0, 0});
  for (int round = 0; round < 20; ++round) {
    Event gate = device_.create_event().value();
    ASSERT_TRUE(run.run({a}, {b}, std::vector{gate}).ok());
    Event unmapped = b.map_current().value().unmap().value();
    {
      MappedTensor dropped = b.map_current().value();
    }
    EXPECT_FALSE(unmapped.is_done());
    ASSERT_TRUE(gate.signal().ok());
    EXPECT_EQ(*b.read_values<float>(), (Values{2, 4, 6}));
  }
}

TEST_P(Embedding, AFailedWriterShowsThroughAMapping) {
  Executable run = twice();
  Tensor a = tensor({1, 2, 3}), b = tensor({0, 0, 0});
  Event gate = device_.create_event().value();
  ASSERT_TRUE(run.run({a}, {b}, std::vector{gate}).ok());
  ASSERT_TRUE(gate.signal(Status(StatusCode::data_loss, "no input today")).ok());
  MappedTensor mapped = b.map_current().value();
  EXPECT_EQ(mapped.values<float>().status().code(), StatusCode::data_loss);
  EXPECT_EQ(mapped.unmap().value().wait().code(), StatusCode::data_loss);
  EXPECT_EQ(b.read_values<float>().status().code(), StatusCode::data_loss);
  ASSERT_TRUE(b.write_values(Values{1, 2, 3}).ok());
  EXPECT_EQ(*b.read_values<float>(), (Values{1, 2, 3}));
}

TEST_P(Embedding, AssigningAMappingEndsTheOldOne) {
  Tensor a = tensor({1, 2}), b = tensor({3, 4});
  MappedTensor mapped = a.map_current().value();
  mapped.values<float>().value()[0] = 9;
  mapped = b.map_current().value();
  EXPECT_EQ(*a.read_values<float>(), (Values{9, 2}));
  EXPECT_EQ(b.read_values<float>().status().code(), StatusCode::failed_precondition);
}

TEST_P(Embedding, ATensorOutlivesAllItCameFrom) {
  Tensor result = tensor({0, 0, 0});
  Event gate = device_.create_event().value();
  {
    Executable run = twice();
    Tensor a = tensor({1, 2, 3});
    ASSERT_TRUE(run.run({a}, {result}, std::vector{gate}).ok());
  }
  device_ = Device();
  runtime_.reset();
  ASSERT_TRUE(gate.signal().ok());
  EXPECT_EQ(*result.read_values<float>(), (Values{2, 4, 6}));
}

// Several threads compile and run programs of their own and one they share, on shared inputs, with
// a second runtime at work beside them.
TEST_P(Embedding, ManyThreadsAtOnce) {
  Executable shared_run = twice();
  Tensor input = tensor({1, 2, 3});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const float scale = static_cast<float>(t + 1);
      Executable own = compile("function (A[N]) -> (R) { R = A * " + std::to_string(t + 1) + "; }",
                               {{"A", {DataType::fp32, {3}}}});
      Tensor x = tensor({0, 0, 0}), y = tensor({0, 0, 0});
      for (int round = 0; round < 10; ++round) {
        ASSERT_TRUE(own.run({input}, {x}).ok());
        ASSERT_TRUE(shared_run.run({x}, {y}).ok());
        ASSERT_TRUE(own.run({y}, {x}).ok());
        EXPECT_EQ(*x.read_values<float>(),
                  (Values{2 * scale * scale, 4 * scale * scale, 6 * scale * scale}));
        ASSERT_TRUE(y.write_values(Values{0, 0, 0}).ok());
      }
    });
  threads.emplace_back([] {
    for (int round = 0; round < 3; ++round) {
      Runtime other(built_plugins());
      auto device = other.open(GetParam());
      ASSERT_TRUE(device.ok());
      auto program = Program::from_tile({"test.tile", kTwice});
      auto run = device->compile(*program, {{"A", {DataType::fp32, {1}}}});
      ASSERT_TRUE(run.ok()) << run.status().to_string();
      Tensor a = device->create_tensor({1}, Values{21}).value();
      Tensor b = device->create_tensor(run->outputs()[0]).value();
      ASSERT_TRUE(run->run({a}, {b}).ok());
      EXPECT_EQ(*b.read_values<float>(), Values{42});
    }
  });
  for (std::thread& thread : threads) thread.join();
}

constexpr const char* kMatmul =
    "function (A[M, L], B[L, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }";

TEST_P(Embedding, WhatConstantsMakeIsMadeOncePerContent) {
  const std::string text = "function net(X[N], W[N]) -> (R) { K = W * W + 1; R = X * K; }";
  const InputTypes types = {{"X", {DataType::fp32, {3}}}, {"W", {DataType::fp32, {3}}}};
  CompileOptions options;
  options.pipeline = SourceText{"mine.json", R"([{"split_prologue": {}}, {"agg_init": {}}])"};
  options.constants = {"W"};
  options.watch_kernels = true;
  Executable net = compile(text, types, options);
  EXPECT_THAT(net.device_stripe(), HasSubstr("#prologue"));
  ASSERT_EQ(net.inputs().size(), 2u);
  EXPECT_EQ(net.inputs()[1].name, "W");

  Tensor w = tensor({0, 1, 2}), other = tensor({3, 0, 0}), r = tensor({0, 0, 0});
  auto result = [&](const Values& x, const Tensor& constant) {
    auto run = net.run({tensor(x), constant}, {r});
    EXPECT_TRUE(run.ok()) << run.status().to_string();
    EXPECT_TRUE(run->wait().ok());
    EXPECT_EQ(run->kernel_times()->size(), 1u);  // the other one is the prologue's
    return r.read_values<float>().value();
  };
  EXPECT_EQ(result({1, 1, 1}, w), (Values{1, 2, 5}));
  EXPECT_EQ(result({1, 2, 3}, w), (Values{1, 4, 15}));
  EXPECT_EQ(result({1, 2, 3}, other), (Values{10, 2, 3}));
  EXPECT_EQ(result({1, 1, 1}, w), (Values{1, 2, 5}));
  ASSERT_TRUE(w.write_values(Values{3, 3, 3}).ok());
  EXPECT_EQ(result({1, 1, 2}, w), (Values{10, 10, 20}));

  options.constants = {"V"};
  auto program = Program::from_tile({"test.tile", text});
  Status wrong = device_.compile(*program, types, options).status();
  EXPECT_EQ(wrong.code(), StatusCode::not_found);
  EXPECT_THAT(wrong.message(), HasSubstr("constants: 'net' has no input 'V'"));
}

TEST_P(Embedding, APipelineOfOnesOwnAndItsStripeLoadedAgain) {
  const InputTypes types = {{"A", {DataType::fp32, {8, 8}}}, {"B", {DataType::fp32, {8, 8}}}};
  Values numbers(64);
  std::iota(numbers.begin(), numbers.end(), -30.0f);
  Tensor a = device_.create_tensor({8, 8}, numbers).value();
  auto result = [&](const Executable& executable) {
    Tensor c = device_.create_tensor(executable.outputs()[0]).value();
    EXPECT_TRUE(executable.run({a, a}, {c}).ok());
    return c.read_values<float>().value();
  };
  Executable usual = compile(kMatmul, types);
  EXPECT_TRUE(usual.stages().empty());
  EXPECT_TRUE(usual.sources()->empty());
  CompileOptions options;
  options.keep_stages = true;
  options.pipeline = SourceText{"mine.json", R"([
    {"name": "cut", "tile": {"tile_sizes": {"i": 4, "j": 2, "k": 2}, "inner_set": ["mine"]}},
    {"agg_init": {}}])"};
  Executable own = compile(kMatmul, types, options);
  ASSERT_EQ(own.stages().size(), 4u);
  EXPECT_EQ(own.stages()[2].name, "02_cut.stripe");
  EXPECT_EQ(own.stages()[3].text, own.device_stripe());
  EXPECT_THAT(own.device_stripe(), HasSubstr("#mine"));
  EXPECT_EQ(result(own), result(usual));

  auto loaded = device_.load_stripe({"own.stripe", own.device_stripe()});
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(loaded->device_stripe(), own.device_stripe());
  ASSERT_EQ(loaded->inputs().size(), 2u);
  EXPECT_EQ(loaded->inputs()[0].sizes, (std::vector<int64_t>{8, 8}));
  EXPECT_EQ(result(*loaded), result(usual));
  // Generic Stripe and a pipeline.
  auto lowered = device_.load_stripe(own.stages()[1], options);
  ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
  EXPECT_EQ(lowered->device_stripe(), own.device_stripe());

  options.pipeline->text = R"([{"agg_innit": {}}])";
  auto program = Program::from_tile({"test.tile", kMatmul});
  Status wrong = device_.compile(*program, types, options).status();
  EXPECT_EQ(wrong.code(), StatusCode::invalid_argument);
  EXPECT_THAT(wrong.message(), HasSubstr("mine.json"));
  EXPECT_THAT(wrong.message(), HasSubstr("agg_init"));
  wrong = device_.load_stripe({"own.stripe", "0: #program block ["}).status();
  EXPECT_THAT(wrong.message(), HasSubstr("own.stripe:1:"));
  std::string unknown_unit = own.device_stripe();
  unknown_unit.replace(unknown_unit.find("#main block"), 11, "#main block<NPU>");
  wrong = device_.load_stripe({"own.stripe", unknown_unit}).status();
  EXPECT_THAT(wrong.message(), HasSubstr("NPU"));
}

TEST_P(Embedding, ListsPluginsAndDevices) {
  RuntimeOptions options = built_plugins();
  options.plugin_paths.push_back(STRIA_SOURCE_DIR "/tests/unit/runtime");  // no plugin there
  Runtime runtime(options);
  std::vector<PluginInfo> plugins = runtime.plugins();
  ASSERT_GE(plugins.size(), 2u);
  EXPECT_EQ(plugins[0].id, "reference");
  EXPECT_TRUE(plugins[0].status.ok());
  for (const DeviceInfo& info : runtime.devices()) {
    EXPECT_TRUE(info.available) << info.reason;
    auto device = runtime.open(info.selector);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    EXPECT_EQ(device->info().selector, info.selector);
    EXPECT_EQ(device->info().id, info.id);
    EXPECT_EQ(device->name(), info.plugin + ":" + info.id);
  }
}

TEST_P(Embedding, ATensorOfAnotherDeviceIsRefusedByName) {
  const bool slow = GetParam() == std::string("slow_device");
  Device other = runtime_->open(slow ? "reference" : "slow_device").value();
  Tensor foreign = other.create_tensor({3}, Values{1, 2, 3}).value();
  const Status refused = twice().run({foreign}, {tensor({0, 0, 0})}).status();
  EXPECT_EQ(refused.code(), StatusCode::invalid_argument);
  EXPECT_THAT(
      refused.message(),
      HasSubstr(fmt::format("input 'A' fp32[3] lives on {}, the program was compiled for {}",
                            other.name(), device_.name())));
}

TEST_P(Embedding, ValuesMustFit) {
  Tensor a = tensor({1, 2, 3});
  EXPECT_THAT(a.write_values(Values{1, 2}).message(),
              HasSubstr("fp32[3] has 3 elements of fp32, got 2 of fp32"));
  EXPECT_THAT(a.read_values<double>().status().message(), HasSubstr("of fp64"));
  EXPECT_EQ(device_.create_tensor({2, 2}, Values{1, 2, 3}).status().code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(device_.create_tensor(DataType::fp32, {-1}).status().code(),
            StatusCode::invalid_argument);
}

}  // namespace
}  // namespace stria
