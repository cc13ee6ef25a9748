// SPDX-License-Identifier: Apache-2.0
// The plugin `vulkan` through the boundary, on the first device that there is: beside what every
// device with queues does (tests/unit/queues), times, many arguments, memory, modules, options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "vulkan_programs.h"

namespace stria::hal {
namespace {

using ::testing::HasSubstr;

class VulkanDevice : public QueuedDevice {};

TEST_P(VulkanDevice, ShowsWhatItGenerated) {
  Build build = *compiler_.build(doubling(), R"({"dump_source": true})");
  ASSERT_TRUE(build.done.wait().ok());
  auto texts = build.library.source();
  ASSERT_TRUE(texts.ok());
  ASSERT_EQ(texts->size(), 2u);
  EXPECT_EQ(texts->at(0).name, "k0_double_it.spvasm");
  EXPECT_THAT(texts->at(0).text, HasSubstr("OpEntryPoint"));
  EXPECT_EQ(texts->at(1).name, "k0_double_it.semtree");
}

TEST_P(VulkanDevice, LaunchesOfABatchHaveTimesOfTheirOwn) {
  Kernel kernel = prepared(doubling());
  Buffer x = *device_.allocate(4 * kCount), y = *device_.allocate(4 * kCount);
  std::vector<Launch> chain;
  for (uint32_t i = 0; i < 5; ++i)
    chain.push_back(
        {kernel, {{y, 0}, {x, 0}}, i ? std::vector<uint32_t>{i - 1} : std::vector<uint32_t>{}});
  std::vector<Event> each;
  Event done = *executor_.submit(chain, {}, &each);
  ASSERT_TRUE(done.wait().ok());
  uint64_t sum = 0;
  for (const Event& event : each) {
    ASSERT_TRUE(event.wait().ok());
    sum += *event.duration_ns();
  }
  EXPECT_EQ(sum, *done.duration_ns());
  EXPECT_GT(sum, 0u);
}

TEST_P(VulkanDevice, MoreArgumentsThanPushConstantsHold) {
  constexpr int kTensors = 40;
  Kernel kernel = prepared(sum_of(kTensors));
  std::vector<Argument> arguments = {{*device_.allocate(256), 0}};
  std::vector<Event> written;
  for (int i = 0; i < kTensors; ++i) {
    arguments.push_back({*device_.allocate(256), 0});
    written.push_back(
        *write(arguments.back().buffer, std::vector<float>(64, static_cast<float>(i))));
  }
  const std::vector<Launch> twice = {{kernel, arguments, {}}, {kernel, arguments, {0}}};
  for (int turn = 0; turn < 3; ++turn) {
    Event done = *executor_.submit(twice, written);
    auto result = read(arguments[0].buffer, done);
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    EXPECT_EQ((*result)[63], kTensors * (kTensors - 1) / 2);
  }
}

// All memory of the device, in buffers that go again.
TEST_P(VulkanDevice, MemoryThatIsUsedUpIsRefusedAndComesBack) {
  const uint64_t bytes = device_.info().memory_bytes;
  if (bytes > uint64_t{8} << 30) GTEST_SKIP() << "the device has too much";
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<Buffer> all;
    Status status;
    while (status.ok() && all.size() < 1000) {
      auto buffer = device_.allocate(uint64_t{100} << 20);
      status = buffer.status();
      if (buffer.ok()) all.push_back(*buffer);
    }
    EXPECT_EQ(status.code(), StatusCode::out_of_memory);
    EXPECT_GE(all.size() * (uint64_t{100} << 20), bytes / 2);
    EXPECT_THAT(status.message(), HasSubstr(fmt::format("{} buffers of", all.size())));
    EXPECT_TRUE(device_.allocate(1).ok());
  }
}

// With memory that the host reaches, if the device has it, and through staging memory; with what a
// driver may lack.
const auto kPlugins = ::testing::Values(
    PluginWith{"vulkan", "{}"}, PluginWith{"vulkan", R"({"staging": "always"})"},
    PluginWith{"vulkan", R"({"dispatch_limit_ms": 0.001})"},
    PluginWith{"vulkan", R"({"hang_limit_ms": 60000, "hide_features": ["subgroupSizeControl"]})"},
    PluginWith{"vulkan", R"({"hide_features": ["hostQueryReset", "computeFullSubgroups"]})"});
INSTANTIATE_TEST_SUITE_P(Vulkan, QueuedDevice, kPlugins);
INSTANTIATE_TEST_SUITE_P(Options, VulkanDevice, kPlugins);

TEST(VulkanOptions, AreNamedWhereTheyAreWrong) {
  for (const char* options :
       {R"({"loader": 3})", R"({"stagin": "auto"})", "[]", R"({"hang_limit_ms": -1})",
        R"({"dispatch_limit_ms": -1})", R"({"staging": "never"})",
        R"({"hide_features": ["shaderInt99"]})", R"({"inject": {"submit": 0, "then": "fail"}})",
        R"({"inject": {"submit": 1}})", R"({"inject": {"submit": 1, "then": "explode"}})",
        R"({"hang_limit_ms": 4294967296})"}) {
    LoadOptions load;
    load.driver_options = options;
    LoadResult loaded = load_plugin(built_plugin("vulkan"), scripted_host(nullptr, 2), load);
    EXPECT_EQ(loaded.status().code(), StatusCode::invalid_argument) << options;
    EXPECT_THAT(loaded.status().message(), HasSubstr(options));
  }
}

TEST(VulkanModules, AreKeptWhereTheVariableSays) {
  const TemporaryFolder folder;
  const std::filesystem::path place = folder.path() / "new";
  const char* before = std::getenv("STRIA_KEEP_SPIRV");
  const std::string old = before ? before : "";
  ::setenv("STRIA_KEEP_SPIRV", place.c_str(), 1);
  Plugin plugin = load_vulkan();
  EXPECT_EQ(doubles(first_device(plugin).value()), "");
  EXPECT_TRUE(plugin.shutdown().ok());
  before ? ::setenv("STRIA_KEEP_SPIRV", old.c_str(), 1) : ::unsetenv("STRIA_KEEP_SPIRV");
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(place))
    names.push_back(file.path().filename());
  ASSERT_EQ(names.size(), 1u);
  EXPECT_THAT(names[0], ::testing::MatchesRegex("[0-9a-f]+\\.spv"));
}

}  // namespace
}  // namespace stria::hal
