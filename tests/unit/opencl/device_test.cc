// SPDX-License-Identifier: Apache-2.0
// The plugin `opencl` through the boundary: what it lists without a loader, and on the first device
// that there is: events, failures, memory, builds, and life beside a plugin with another LLVM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "../../chosen_device.h"
#include "scripted_host.h"
#include "stria/hal/device.h"

namespace stria::hal {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kCount = 4096;

// R = A <op> A, over parallel points.
std::string doubling(const std::string& op = "add") {
  return R"(stripe 1.0
0: #program block [] ( // double
    none new@0 A[0] fp32(4096:1)
    none new@0 R[0] fp32(4096:1)
) {
  0: #main block [] ( // main
      in A[0] fp32(4096:1)
      out R[0] fp32(4096:1)
  ) {
    0: #kernel #parallel block [x:4096] ( // double_it
        in A[x] fp32(1:1)
        out R[x] fp32(1:1)
    ) {
      0: $a = load(A)
      1: $r = )" +
         op + R"(.fp32($a, $a)
      2: R = store($r)
    }
  }
}
)";
}

Plugin load(const std::string& name, const std::string& options = "{}") {
  LoadOptions load;
  load.driver_options = options;
  LoadResult loaded = load_plugin(built_plugin(name), scripted_host(nullptr, 2), load);
  EXPECT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  return loaded.plugin;
}

Result<Device> first_device(const Plugin& plugin) {
  STRIA_ASSIGN(const std::vector<DeviceInfo> devices, plugin.devices());
  if (const std::string id = chosen_device_id(plugin.id(), devices); !id.empty())
    return plugin.open(id);
  return not_found("no device of '{}' is available: {}; the tests need pocl-opencl-icd",
                   plugin.id(), devices.empty() ? "none is listed" : devices[0].reason);
}

Result<Event> write(const Buffer& to, const std::vector<float>& from) {
  STRIA_ASSIGN(Mapping mapping, to.map_discard());
  STRIA_RETURN_IF_ERROR(mapping.ready().wait());
  std::memcpy(mapping.data(), from.data(), 4 * from.size());
  return mapping.unmap();
}

Result<std::vector<float>> read(const Buffer& from, const Event& after) {
  STRIA_ASSIGN(Mapping mapping, from.map_current({&after, 1}));
  STRIA_RETURN_IF_ERROR(mapping.ready().wait());
  std::vector<float> out(from.size() / 4);
  std::memcpy(out.data(), mapping.data(), from.size());
  // Until then the buffer may yet be written with what was read.
  STRIA_ASSIGN(const Event unmapped, mapping.unmap());
  STRIA_RETURN_IF_ERROR(unmapped.wait());
  return out;
}

std::vector<float> numbers() {
  std::vector<float> out(kCount);
  for (int64_t i = 0; i < kCount; ++i) out[static_cast<size_t>(i)] = static_cast<float>(i);
  return out;
}

// "" or what went wrong.
std::string doubles(const Device& device) {
  auto compiler = device.create_compiler();
  auto executor = device.create_executor();
  auto build = compiler->build(doubling());
  if (Status status = build->done.wait(); !status.ok()) return status.to_string();
  auto kernel = executor->prepare(build->library, 0);
  if (!kernel.ok()) return kernel.status().to_string();
  Buffer a = *device.allocate(4 * kCount), r = *device.allocate(4 * kCount);
  auto written = write(a, numbers());
  if (!written.ok()) return written.status().to_string();
  auto done = kernel->run(std::vector<Argument>{{r, 0}, {a, 0}}, {&*written, 1});
  if (!done.ok()) return done.status().to_string();
  auto result = read(r, *done);
  if (!result.ok()) return result.status().to_string();
  for (int64_t i = 0; i < kCount; ++i)
    if ((*result)[static_cast<size_t>(i)] != 2 * static_cast<float>(i))
      return fmt::format("element {} is wrong", i);
  return "";
}

TEST(OpenClWithoutDriver, ListsWhatToInstall) {
  Plugin plugin = load("opencl", R"({"loader": "libNoSuchOpenCL.so.1"})");
  auto devices = plugin.devices();
  ASSERT_TRUE(devices.ok());
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_FALSE(devices->at(0).available);
  EXPECT_THAT(devices->at(0).reason, HasSubstr("libNoSuchOpenCL.so.1"));
  EXPECT_THAT(devices->at(0).reason, HasSubstr("ocl-icd-libopencl1"));
  EXPECT_EQ(plugin.open(devices->at(0).id).status().code(), StatusCode::unavailable);
  EXPECT_TRUE(plugin.shutdown().ok());
  // A library that is no loader.
  Plugin other = load("opencl", R"({"loader": "libm.so.6"})");
  EXPECT_THAT(other.devices()->at(0).reason, HasSubstr("no function clGetPlatformIDs"));
  EXPECT_TRUE(other.shutdown().ok());
}

// With queues as the device has them, and with queues in order.
class OpenClDevice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    plugin_ = load("opencl", GetParam());
    auto device = first_device(plugin_);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
    compiler_ = *device_.create_compiler();
    executor_ = *device_.create_executor();
  }
  void TearDown() override {
    compiler_ = {};
    executor_ = {};
    device_ = {};
    Status status = plugin_.shutdown();
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  Plugin plugin_;
  Device device_;
  Compiler compiler_;
  Executor executor_;
};

TEST_P(OpenClDevice, EverythingReturnsBeforeItIsDoneAndWaitsForWhatItShould) {
  Event gate = *device_.create_event();
  Build build = *compiler_.build(doubling(), "{}", {&gate, 1});
  EXPECT_FALSE(build.done.is_done());
  EXPECT_EQ(build.library.kernels().status().code(), StatusCode::failed_precondition);
  ASSERT_TRUE(gate.signal().ok());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer a = *device_.allocate(4 * kCount), b = *device_.allocate(4 * kCount),
         r = *device_.allocate(4 * kCount);
  Event written = *write(a, numbers());
  Event open = *device_.create_event();
  // copy a to b, then r = 2 b, then b = 2 r: all behind the open event.
  Event copied = *executor_.copy(a, 0, b, 0, 4 * kCount, std::vector<Event>{written, open});
  std::vector<Event> each;
  Event done = *executor_.submit(
      std::vector<Launch>{{kernel, {{r, 0}, {b, 0}}, {}}, {kernel, {{b, 0}, {r, 0}}, {0}}},
      {&copied, 1}, &each);
  Mapping late = *b.map_current({&done, 1});
  EXPECT_FALSE(copied.is_done() || done.is_done() || late.ready().is_done());
  EXPECT_EQ(executor_.drain(1'000'000).code(), StatusCode::deadline_exceeded);
  ASSERT_TRUE(open.signal().ok());
  ASSERT_TRUE(late.ready().wait().ok());
  for (int64_t i : {int64_t{0}, int64_t{1}, kCount - 1})
    EXPECT_EQ(reinterpret_cast<float*>(late.data())[i], 4 * static_cast<float>(i));
  ASSERT_EQ(each.size(), 2u);
  EXPECT_GT(*each[0].duration_ns(), 0u);
  EXPECT_GE(*done.duration_ns(), *each[1].duration_ns());
  ASSERT_TRUE(late.unmap()->wait().ok());
  EXPECT_TRUE(executor_.drain().ok());
}

TEST_P(OpenClDevice, ChainsRunWithoutTheHost) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer x = *device_.allocate(4 * kCount), y = *device_.allocate(4 * kCount);
  Event last = *write(x, std::vector<float>(kCount, 1.0f));
  for (int i = 0; i < 100; ++i)
    last = *kernel.run(
        i % 2 ? std::vector<Argument>{{x, 0}, {y, 0}} : std::vector<Argument>{{y, 0}, {x, 0}},
        {&last, 1});
  auto result = read(x, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[kCount - 1], 0x1p100f);
}

// Each behind the one before it, which the driver need not be told of.
TEST_P(OpenClDevice, ChainsInABatchRunInTheirOrder) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer x = *device_.allocate(4 * kCount), y = *device_.allocate(4 * kCount);
  std::vector<Launch> chain;
  for (uint32_t i = 0; i < 20; ++i)
    chain.push_back(
        {kernel,
         i % 2 ? std::vector<Argument>{{x, 0}, {y, 0}} : std::vector<Argument>{{y, 0}, {x, 0}},
         i ? std::vector<uint32_t>{i - 1} : std::vector<uint32_t>{}});
  // Between work of other kinds, on both sides of it.
  for (const bool with_each : {false, true}) {
    Event written = *write(x, std::vector<float>(kCount, 1.0f));
    std::vector<Event> each;
    Event once = *executor_.submit(chain, {&written, 1}, with_each ? &each : nullptr);
    Event twice = *executor_.submit(chain, {&once, 1}, with_each ? &each : nullptr);
    Event copied = *executor_.copy(x, 0, y, 0, 4 * kCount, {&twice, 1});
    auto result = read(y, copied);
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    EXPECT_EQ((*result)[kCount - 1], 0x1p40f);
    ASSERT_TRUE(twice.wait().ok());
    EXPECT_GT(*twice.duration_ns(), 0u);
  }
  Event bad = *device_.create_event();
  Event never = *executor_.submit(chain, {&bad, 1});
  ASSERT_TRUE(bad.signal(make_error(StatusCode::data_loss, "the disk is gone")).ok());
  EXPECT_EQ(never.wait().code(), StatusCode::data_loss);
}

TEST_P(OpenClDevice, BatchesRunInTheOrderOfTheirWaits) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer a = *device_.allocate(4 * kCount), b = *device_.allocate(4 * kCount),
         c = *device_.allocate(4 * kCount), d = *device_.allocate(4 * kCount);
  Event last = *write(a, std::vector<float>(kCount, 1.0f));
  // b = 2a, then c = 2b and d = 2b, which both end the batch, then a = 2c behind both.
  for (int i = 0; i < 20; ++i) {
    last = *executor_.submit(std::vector<Launch>{{kernel, {{b, 0}, {a, 0}}, {}},
                                                 {kernel, {{c, 0}, {b, 0}}, {0}},
                                                 {kernel, {{d, 0}, {b, 0}}, {0}}},
                             {&last, 1});
    last = *kernel.run(std::vector<Argument>{{a, 0}, {c, 0}}, {&last, 1});
  }
  auto result = read(a, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[kCount - 1], 0x1p60f);
  result = read(d, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[0], 0x1p59f);
}

// Work that overwrites what earlier work uses, in batches of one kernel and of several, all handed
// in before the first has ended.
TEST_P(OpenClDevice, WhatOverwritesComesAfterTheEndOfWhatItOverwrites) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer a = *device_.allocate(4 * kCount), b = *device_.allocate(4 * kCount);
  Event written = *write(a, std::vector<float>(kCount, 1.0f));
  Event gate = *device_.create_event();
  // b = 2a, a = 2b: each comes after the one before, by its end alone.
  std::vector<Launch> there = {{kernel, {{b, 0}, {a, 0}}, {}}},
                      back = {{kernel, {{a, 0}, {b, 0}}, {}}},
                      both = {there[0], {kernel, {{a, 0}, {b, 0}}, {0}}};
  const std::vector<Event> begin = {written, gate};
  Event last = *executor_.submit(both, begin);
  for (int i = 0; i < 10; ++i) {
    for (const std::vector<Launch>& batch : {there, back, both}) {
      Event end = *last.end();
      last = *executor_.submit(batch, {&end, 1});
    }
  }
  EXPECT_FALSE(last.is_done());
  ASSERT_TRUE(gate.signal().ok());
  auto result = read(a, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[kCount - 1], 0x1p42f);
  // After a failure, too.
  Event bad = *device_.create_event();
  Event failed = *executor_.submit(both, {&bad, 1});
  Event end = *failed.end();
  last = *executor_.submit(both, {&end, 1});
  ASSERT_TRUE(bad.signal(make_error(StatusCode::data_loss, "the disk is gone")).ok());
  EXPECT_EQ(failed.wait().code(), StatusCode::data_loss);
  result = read(a, last);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[0], 0x1p44f);
}

TEST_P(OpenClDevice, FailuresTravelWithTheirFirstCause) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer a = *device_.allocate(4 * kCount), r = *device_.allocate(4 * kCount);
  Event good = *executor_.fill(a, 0, 4 * kCount, std::vector<std::byte>(4));
  Event bad = *device_.create_event();
  Event run = *kernel.run(std::vector<Argument>{{r, 0}, {a, 0}}, std::vector<Event>{good, bad});
  Event copied = *executor_.copy(r, 0, a, 0, 16, {&run, 1});
  Mapping mapping = *a.map_current({&copied, 1});
  ASSERT_TRUE(bad.signal(make_error(StatusCode::data_loss, "the disk is gone")).ok());
  for (const Event& event : {run, copied, mapping.ready()}) {
    Status status = event.wait();
    EXPECT_EQ(status.code(), StatusCode::data_loss);
    EXPECT_THAT(status.message(), HasSubstr("the disk is gone"));
  }
  EXPECT_EQ(mapping.unmap()->wait().code(), StatusCode::data_loss);
  EXPECT_EQ(*run.duration_ns(), 0u);
  // The device goes on.
  EXPECT_EQ(doubles(device_), "");
}

TEST_P(OpenClDevice, ArgumentsMayStartAnywhere) {
  Build build = *compiler_.build(doubling());
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = *executor_.prepare(build.library, 0);
  Buffer both = *device_.allocate(4 * (2 * kCount + 3));
  std::vector<float> values(2 * kCount + 3, -1);
  for (int64_t i = 0; i < kCount; ++i) values[static_cast<size_t>(i + 1)] = static_cast<float>(i);
  Event written = *write(both, values);
  Event done =
      *kernel.run(std::vector<Argument>{{both, 4 * (kCount + 2)}, {both, 4}}, {&written, 1});
  auto result = read(both, done);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[0], -1);
  EXPECT_EQ((*result)[kCount + 1], -1);
  EXPECT_EQ((*result)[kCount + 2 + 7], 14);
  EXPECT_EQ(result->back(), -1);
}

TEST_P(OpenClDevice, FillsRepeatPatternsAtAnyOffset) {
  Buffer buffer = *device_.allocate(64);
  Event zero = *executor_.fill(buffer, 0, 64, std::vector<std::byte>(1));
  const std::vector<std::byte> pattern = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  Event odd = *executor_.fill(buffer, 6, 8, pattern, {&zero, 1});
  Event even = *executor_.fill(buffer, 32, 16, pattern, {&odd, 1});
  Mapping mapping = *buffer.map_current({&even, 1});
  ASSERT_TRUE(mapping.ready().wait().ok());
  for (int i = 0; i < 64; ++i) {
    const int expected = i >= 6 && i < 14 ? (i - 6) % 4 + 1 : i >= 32 && i < 48 ? i % 4 + 1 : 0;
    EXPECT_EQ(static_cast<int>(mapping.data()[i]), expected) << i;
  }
}

TEST_P(OpenClDevice, RefusesByName) {
  auto huge = device_.allocate(uint64_t{1} << 50);
  EXPECT_EQ(huge.status().code(), StatusCode::out_of_memory);
  EXPECT_THAT(huge.status().message(), HasSubstr("1125899906842624 bytes"));
  EXPECT_EQ(device_.allocate(16, "LOCAL").status().code(), StatusCode::not_found);
  EXPECT_TRUE(device_.allocate(0).ok());
  Build build = *compiler_.build("stripe 1.0\nnonsense");
  EXPECT_EQ(build.done.wait().code(), StatusCode::invalid_argument);
  Build options = *compiler_.build(doubling(), R"({"fast_math": 3})");
  EXPECT_THAT(options.done.wait().message(), HasSubstr("fast_math"));
  Build unknown = *compiler_.build(doubling("frobnicate"));
  EXPECT_THAT(unknown.done.wait().message(), HasSubstr("frobnicate"));
}

// What may be rounded otherwise, and by how much, is up to the device: it stays near.
TEST_P(OpenClDevice, RoundsAsIsFastestOnlyIfAsked) {
  std::string text = doubling();
  text.replace(text.find("$r = add.fp32($a, $a)"), 21,
               "$s = sqrt.fp32($a)\n      2: $l = log.fp32($s)\n      3: $r = exp.fp32($l)");
  text.replace(text.find("2: R = store"), 1, "4");
  for (const bool fast : {false, true}) {
    Build build = *compiler_.build(text, fast ? R"({"fast_math": true})" : "{}");
    ASSERT_TRUE(build.done.wait().ok()) << build.done.wait().to_string();
    EXPECT_EQ(build.library.source()->at(0).text.find("native_log") != std::string::npos, fast);
    Kernel kernel = *executor_.prepare(build.library, 0);
    Buffer a = *device_.allocate(4 * kCount), r = *device_.allocate(4 * kCount);
    Event written = *write(a, numbers());
    Event done = *kernel.run(std::vector<Argument>{{r, 0}, {a, 0}}, {&written, 1});
    auto result = read(r, done);
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    for (size_t i = 1; i < kCount; ++i)
      ASSERT_NEAR((*result)[i], std::sqrt(static_cast<float>(i)), 1e-4 * std::sqrt(i)) << i;
  }
}

// Built as one program or as two, and each once more for tensors that begin anywhere.
TEST_P(OpenClDevice, KernelsOfOneProgramAreBuiltInParts) {
  std::string text = R"(stripe 1.0
0: #program block [] ( // several
    none new@0 A[0] fp32(4096:1)
    none new@0 R[0] fp32(4096:1)
) {
  0: #main block [] ( // main
      in A[0] fp32(4096:1)
      out R[0] fp32(4096:1)
  ) {
)";
  for (int k = 0; k < 5; ++k)
    text += fmt::format(R"(    {0}: #kernel #parallel block [x:512] ( // plus_{0}
        in A[8*x] fp32(8:1)
        out R[8*x] fp32(8:1)
    ) {{
      0: #vector block [l:8] (
          in A[l] fp32(1:1)
          out R[l] fp32(1:1)
      ) {{
        0: $a = load(A)
        1: $k = (fp32){0}.0
        2: $r = add.fp32($a, $k)
        3: R = store($r)
      }}
    }}
)",
                        k);
  Build build = *compiler_.build(text + "  }\n}\n");
  ASSERT_TRUE(build.done.wait().ok()) << build.done.wait().to_string();
  ASSERT_EQ(build.library.kernels()->size(), 5u);
  Buffer a = *device_.allocate(4 * kCount + 4), r = *device_.allocate(4 * kCount + 4);
  std::vector<float> values = numbers();
  values.push_back(static_cast<float>(kCount));
  Event written = *write(a, values);
  for (size_t k = 0; k < 5; ++k) {
    Kernel kernel = *executor_.prepare(build.library, k);
    for (const uint64_t offset : {0, 4}) {
      Event done = *kernel.run(std::vector<Argument>{{r, offset}, {a, offset}}, {&written, 1});
      auto result = read(r, done);
      ASSERT_TRUE(result.ok()) << result.status().to_string();
      for (size_t i : {size_t{1}, size_t{777}, size_t{4095}})
        EXPECT_EQ((*result)[i], static_cast<float>(i + k)) << k;
    }
  }
}

TEST_P(OpenClDevice, ShowsWhatItGenerated) {
  Build build = *compiler_.build(doubling(), R"({"dump_source": true})");
  ASSERT_TRUE(build.done.wait().ok());
  auto texts = build.library.source();
  ASSERT_TRUE(texts.ok());
  ASSERT_EQ(texts->size(), 2u);
  EXPECT_EQ(texts->at(0).name, "program.cl");
  EXPECT_THAT(texts->at(0).text, HasSubstr("k0_double_it"));
  EXPECT_EQ(texts->at(1).name, "k0_double_it.semtree");
}

TEST_P(OpenClDevice, SeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> outcomes(3);
  for (std::string& outcome : outcomes) threads.emplace_back([&] { outcome = doubles(device_); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& outcome : outcomes) EXPECT_EQ(outcome, "");
}

INSTANTIATE_TEST_SUITE_P(Queues, OpenClDevice,
                         ::testing::Values("{}", R"({"in_order": true})", R"({"event_each": true})",
                                           R"({"hang_limit_ms": 60000, "build_parts": 2})"));

TEST(OpenClOptions, AreNamedWhereTheyAreWrong) {
  for (const char* options :
       {R"({"loader": 3})", R"({"in_ordr": true})", "[]", R"({"hang_limit_ms": -1})",
        R"({"build_parts": 0})", R"({"event_each": 1})", R"({"hang_limit_ms": 4294967296})"}) {
    LoadOptions load;
    load.driver_options = options;
    LoadResult loaded = load_plugin(built_plugin("opencl"), scripted_host(nullptr, 2), load);
    EXPECT_EQ(loaded.status().code(), StatusCode::invalid_argument) << options;
    EXPECT_THAT(loaded.status().message(), HasSubstr(options));
  }
}

// The CPU driver behind OpenCL brings an LLVM of its own; llvm_cpu has another, hidden.
class BesideLlvm : public ::testing::TestWithParam<bool> {};

TEST_P(BesideLlvm, BothWorkInEitherOrder) {
  // The order of loading is a process's own affair: each order runs in a child of its own.
  EXPECT_EXIT(
      {
        std::vector<Plugin> plugins;
        for (const char* name :
             GetParam() ? std::vector{"opencl", "llvm_cpu"} : std::vector{"llvm_cpu", "opencl"})
          plugins.push_back(load(name));
        std::string problems;
        for (int turn = 0; turn < 2; ++turn)
          for (const Plugin& plugin : plugins) {
            auto device = first_device(plugin);
            problems += device.ok() ? doubles(*device) : device.status().to_string();
          }
        for (Plugin& plugin : plugins)
          if (Status status = plugin.shutdown(); !status.ok()) problems += status.to_string();
        std::fprintf(stderr, "problems: %s.\n", problems.c_str());
        std::exit(problems.empty() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "problems: \\.");
}

INSTANTIATE_TEST_SUITE_P(Orders, BesideLlvm, ::testing::Bool());

}  // namespace
}  // namespace stria::hal

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  // Children start anew: drivers have threads, which a fork alone would lose.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  return RUN_ALL_TESTS();
}
