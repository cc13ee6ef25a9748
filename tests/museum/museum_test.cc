// SPDX-License-Identifier: Apache-2.0
// Binaries of plugins that were built with earlier headers run with today's host, and a host of an
// earlier minor gets on with a plugin of today's header, or both ranges are said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "stria/sdk/plugin.h"
#include "stria/stria.h"

namespace stria {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Museum : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "the binaries are for x86-64";
#endif
    if (sdk::kSanitizer != STRIA_SANITIZER_NONE)
      GTEST_SKIP() << "they were built without sanitizer";
    // A checkout may be writable for a group: nobody loads plugins from there.
    folder_ = fs::path(testing::TempDir()) / ("stria_museum_" + std::string(GetParam()));
    fs::remove_all(folder_);
    fs::copy(fs::path(STRIA_MUSEUM) / GetParam(), folder_, fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      fs::permissions(entry.path(), fs::perms::group_write | fs::perms::others_write,
                      fs::perm_options::remove);
    fs::permissions(folder_, fs::perms::owner_all);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  fs::path folder_;
};

TEST_P(Museum, RunsOnTodaysHost) {
  RuntimeOptions options;
  options.plugin_paths = {folder_};
  options.only_plugin_paths = true;
  options.probe_plugins = false;
  const Runtime runtime(options);
  ASSERT_EQ(runtime.plugins().size(), 1u);
  ASSERT_TRUE(runtime.plugins()[0].status.ok()) << runtime.plugins()[0].status.to_string();
  {
    Device device = runtime.open(runtime.plugins()[0].id).value();
    Program program = Program::from_tile({"museum.tile",
                                          "function (A[M, K], B[K, N]) -> (R) {\n"
                                          "  C[m, n : M, N] = +(A[m, k] * B[k, n]);\n"
                                          "  R = C < 0 ? -C : C;\n"
                                          "}\n"})
                          .value();
    Executable executable =
        device
            .compile(program, {{"A", {DataType::fp32, {7, 19}}}, {"B", {DataType::fp32, {19, 5}}}})
            .value();
    std::vector<float> a(7 * 19), b(19 * 5), expected(7 * 5);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 37 % 17) - 8;
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 11 % 13) - 6;
    for (size_t m = 0; m < 7; ++m)
      for (size_t n = 0; n < 5; ++n) {
        float sum = 0;
        for (size_t k = 0; k < 19; ++k) sum += a[m * 19 + k] * b[k * 5 + n];
        expected[m * 5 + n] = sum < 0 ? -sum : sum;
      }
    Tensor r = device.create_tensor(executable.outputs()[0]).value();
    const std::vector<Tensor> inputs = {device.create_tensor({7, 19}, a).value(),
                                        device.create_tensor({19, 5}, b).value()},
                              outputs = {r};
    // Twice: the second writes what the first run's readers have read.
    for (int turn = 0; turn < 2; ++turn) {
      const Event run = executable.run(inputs, outputs).value();
      ASSERT_TRUE(run.wait().ok()) << run.wait().to_string();
      EXPECT_EQ(r.read_values<float>().value(), expected);
    }
    MappedTensor mapped = r.map_discard().value();
    ASSERT_TRUE(mapped.ready().wait().ok());
    std::iota(mapped.values<float>().value().begin(), mapped.values<float>().value().end(), 0.0F);
    ASSERT_TRUE(mapped.unmap().value().wait().ok());
    EXPECT_EQ(r.read_values<float>().value()[34], 34.0F);
    // What it cannot know is refused by name.
    alignas(64) std::byte memory[64];
    EXPECT_EQ(device.import_tensor(memory, DataType::fp32, {16}).status().code(),
              StatusCode::unimplemented);
  }
  EXPECT_EQ(runtime.shutdown().to_string(), "ok");
}
INSTANTIATE_TEST_SUITE_P(Plugins, Museum,
                         testing::Values("acme_0.1", "acme_0.3", "acme_0.4", "slow_device_0.3"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

class TodaysDriver final : public sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<sdk::DeviceInfo> enumerate() override { return {}; }
};

struct Answer {
  sdk::Outcome refusal;
  uint32_t minor = 0;
};
// What a plugin of today's header answers to a host of these minors.
Answer asked_by(uint32_t major, uint32_t least, uint32_t most) {
  const stria_version_range abi{sizeof(stria_version_range), nullptr, major, least, most};
  const stria_version_range stripe{sizeof(stria_version_range), nullptr, STRIA_STRIPE_MAJOR,
                                   STRIA_STRIPE_MINOR, STRIA_STRIPE_MINOR};
  stria_host_info host{};
  host.size = sizeof host;
  host.abi = &abi;
  host.stripe = &stripe;
  stria_plugin_info info{};
  info.size = sizeof info;
  stria_error* error = sdk::query<TodaysDriver>(&host, &info, "today", "1");
  Answer answer{sdk::outcome_of(error), info.abi_minor};
  if (error) error->release(error);
  return answer;
}

TEST(Skew, APluginOfTodayMeetsOlderAndNewerHosts) {
  for (uint32_t minor = STRIA_ABI_OLDEST_MINOR; minor <= STRIA_ABI_MINOR; ++minor) {
    const Answer answer = asked_by(STRIA_ABI_MAJOR, minor, minor);
    EXPECT_FALSE(answer.refusal) << minor;
    EXPECT_EQ(answer.minor, minor);
  }
  EXPECT_EQ(asked_by(STRIA_ABI_MAJOR, 3, 40).minor, uint32_t{STRIA_ABI_MINOR});
  for (const auto& [major, least, most] :
       {std::tuple<uint32_t, uint32_t, uint32_t>{0, 0, 0}, {0, 40, 41}, {1, 0, 9}}) {
    const Answer answer = asked_by(major, least, most);
    ASSERT_TRUE(answer.refusal);
    EXPECT_EQ(answer.refusal->code, STRIA_INCOMPATIBLE);
    EXPECT_THAT(answer.refusal->message, HasSubstr("the host has " + std::to_string(major) + "."));
    EXPECT_THAT(answer.refusal->message, HasSubstr("the plugin 0.1 to 0.5"));
  }
}

}  // namespace
}  // namespace stria
