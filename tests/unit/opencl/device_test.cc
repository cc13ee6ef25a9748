// SPDX-License-Identifier: Apache-2.0
// The plugin `opencl` through the boundary: what it lists without a loader, and on the first device
// that there is, beside what every device with queues does (tests/unit/queues): builds, rounding,
// options, and life beside a plugin with another LLVM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "queued_device.h"

namespace stria::hal {
namespace {

using ::testing::HasSubstr;

TEST(OpenClWithoutDriver, ListsWhatToInstall) {
  Plugin plugin = load_with("opencl", R"({"loader": "libNoSuchOpenCL.so.1"})");
  auto devices = plugin.devices();
  ASSERT_TRUE(devices.ok());
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_FALSE(devices->at(0).available);
  EXPECT_THAT(devices->at(0).reason, HasSubstr("libNoSuchOpenCL.so.1"));
  EXPECT_THAT(devices->at(0).reason, HasSubstr("ocl-icd-libopencl1"));
  EXPECT_EQ(plugin.open(devices->at(0).id).status().code(), StatusCode::unavailable);
  EXPECT_TRUE(plugin.shutdown().ok());
  // A library that is no loader.
  Plugin other = load_with("opencl", R"({"loader": "libm.so.6"})");
  EXPECT_THAT(other.devices()->at(0).reason, HasSubstr("no function clGetPlatformIDs"));
  EXPECT_TRUE(other.shutdown().ok());
}

class OpenClDevice : public QueuedDevice {};

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

// With queues as the device has them, and with queues in order.
const auto kPlugins =
    ::testing::Values(PluginWith{"opencl", "{}"}, PluginWith{"opencl", R"({"in_order": true})"},
                      PluginWith{"opencl", R"({"event_each": true})"},
                      PluginWith{"opencl", R"({"hang_limit_ms": 60000, "build_parts": 2})"});
INSTANTIATE_TEST_SUITE_P(OpenCl, QueuedDevice, kPlugins);
INSTANTIATE_TEST_SUITE_P(Queues, OpenClDevice, kPlugins);

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
          plugins.push_back(load_with(name));
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
