// SPDX-License-Identifier: Apache-2.0
// Parameters of a device's pipeline that a caller sets, on the one that changes most: convolutions
// in fewer products.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "stria/runtime/runtime.h"

namespace stria {
namespace {

using testing::HasSubstr;

constexpr int64_t kSize = 13, kChannels = 32;

class PipelineParametersTest : public testing::Test {
 protected:
  void SetUp() override {
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
    options.only_plugin_paths = true;
    auto device = Runtime(options).open("llvm_cpu");
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }
  Result<Executable> compile(const std::map<std::string, std::string>& parameters) {
    STRIA_ASSIGN(
        Program program,
        Program::from_tile({"conv.tile", R"(function (I[N, H, W, C], F[A, B, C, K]) -> (O) {
      O[n, y, x, k : N, H, W, K] = +(I[n, y + i - 1, x + j - 1, c] * F[i, j, c, k]);
    })"}));
    CompileOptions how;
    how.parameters = parameters;
    how.constants = {"F"};
    return device_.compile(program,
                           {{"I", {DataType::fp32, {1, kSize, kSize, kChannels}}},
                            {"F", {DataType::fp32, {3, 3, kChannels, kChannels}}}},
                           how);
  }
  Tensor random(const std::vector<int64_t>& sizes, uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<float> normal;
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = normal(generator);
    auto tensor = device_.create_tensor(DataType::fp32, sizes);
    EXPECT_TRUE(tensor.ok());
    EXPECT_TRUE(
        tensor->write({reinterpret_cast<const char*>(values.data()), values.size() * 4}).ok());
    return *tensor;
  }
  std::vector<float> results(const Executable& executable) {
    Tensor image = random({1, kSize, kSize, kChannels}, 1),
           taps = random({3, 3, kChannels, kChannels}, 2);
    Tensor out = random({1, kSize, kSize, kChannels}, 3);
    auto run = executable.run(std::vector{image, taps}, std::vector{out});
    EXPECT_TRUE(run.ok()) << run.status().to_string();
    auto host = out.read();
    EXPECT_TRUE(host.ok()) << host.status().to_string();
    std::vector<float> values(static_cast<size_t>(host->element_count()));
    std::memcpy(values.data(), host->data(), host->byte_count());
    return values;
  }
  Device device_;
};

TEST_F(PipelineParametersTest, TransformedConvolutionsGiveTheResultsOfTheSum) {
  auto direct = compile({});
  ASSERT_TRUE(direct.ok()) << direct.status().to_string();
  EXPECT_THAT(direct->device_stripe(), Not(HasSubstr("#winograd")));
  const std::vector<float> expected = results(*direct);
  double square = 0;
  for (const float value : expected) square += static_cast<double>(value) * value;
  const double size = std::sqrt(square / static_cast<double>(expected.size()));
  for (const auto& [tile, limit] : {std::pair("2", 5e-6), std::pair("4", 5e-5)}) {
    auto transformed = compile({{"WINOGRAD", tile}});
    ASSERT_TRUE(transformed.ok()) << transformed.status().to_string();
    EXPECT_THAT(transformed->device_stripe(), HasSubstr("#winograd"));
    const std::vector<float> got = results(*transformed);
    double largest = 0;
    for (size_t i = 0; i < got.size(); ++i)
      largest = std::max(largest, std::isnan(got[i])
                                      ? HUGE_VAL
                                      : std::abs(static_cast<double>(got[i]) - expected[i]));
    EXPECT_GT(largest, 0) << "nothing was transformed";
    RecordProperty(std::string("error_of_tile_") + tile, fmt::format("{}", largest / size));
    EXPECT_LE(largest, limit * size) << "tile " << tile;
  }
}

TEST_F(PipelineParametersTest, OthersAreRefused) {
  auto unknown = compile({{"WINOGRADE", "2"}});
  EXPECT_EQ(unknown.status().code(), StatusCode::not_found);
  EXPECT_THAT(unknown.status().message(), HasSubstr("no parameter 'WINOGRADE'"));
  EXPECT_THAT(unknown.status().message(), HasSubstr("WINOGRAD'?"));
  for (const char* value : {"3", "-1", "x", "0.5", "", "2.5"}) {
    auto other = compile({{"WINOGRAD", value}});
    EXPECT_EQ(other.status().code(), StatusCode::invalid_argument) << value;
    EXPECT_THAT(other.status().message(), HasSubstr("which is not 0, 2 or 4")) << value;
  }
}

}  // namespace
}  // namespace stria
