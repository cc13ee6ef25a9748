// SPDX-License-Identifier: Apache-2.0
// Moves between devices: which way there is, what it is measured to take, and that bytes arrive.
#include "stria/several/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>

#include "stria/base/status.h"
#include "stria/runtime/runtime.h"
#include "stria/several/kept_rates.h"

namespace stria {
namespace {

using ::testing::HasSubstr;

class TopologyTest : public testing::Test {
 protected:
  // Rates are kept in a folder of the test's own.
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "stria_rates_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    const char* const before = std::getenv("XDG_CACHE_HOME");
    before_ = before != nullptr ? before : "";
    ::setenv("XDG_CACHE_HOME", name.c_str(), 1);
    RuntimeOptions options;
    options.device_history = false;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins",
                            STRIA_BINARY_DIR "/lib/stria/test_plugins"};
    options.only_plugin_paths = true;
    options.only_plugins = {"reference", "llvm_cpu", "fragile", "opencl"};
    options.plugin_options["opencl"] = "{\"shared_context\": true}";
    options.probe_plugins = false;
    runtime_ = Runtime(options);
  }
  void TearDown() override {
    if (before_.empty())
      ::unsetenv("XDG_CACHE_HOME");
    else
      ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }

  // Copies a tensor and looks whether it is there.
  static void expect_copy(const Device& from, const Device& to, MoveWay way) {
    std::vector<int32_t> values(1000);
    std::iota(values.begin(), values.end(), 5);
    const Tensor source = from.create_tensor<int32_t>({1000}, values).value();
    const Tensor target = to.create_tensor<int32_t>({1000}, std::vector<int32_t>(1000, -1)).value();
    const Result<Event> copied = copy_tensor(from, source, to, target, way);
    ASSERT_TRUE(copied.ok()) << copied.status().to_string();
    EXPECT_EQ(target.read_values<int32_t>().value(), values) << name_of(way);
  }

  std::filesystem::path folder_;
  std::string before_;
  Runtime runtime_;
};

TEST_F(TopologyTest, TwoDevicesOfOnePluginOnHostMemoryCopyToEachOther) {
  const std::vector<Device> devices = {runtime_.open("llvm_cpu").value(),
                                       runtime_.open("llvm_cpu").value(),
                                       runtime_.open("reference").value()};
  const Topology all = measure_topology(devices).value();
  ASSERT_EQ(all.links.size(), 6u);
  for (const DeviceLink& link : all.links) {
    EXPECT_EQ(link.reaches, link.from < 2 && link.to < 2) << link.from << " " << link.to;
    EXPECT_EQ(link.peer.known(), link.reaches);
    EXPECT_TRUE(link.host.known());
    if (!link.reaches) {
      EXPECT_EQ(link.way(1 << 20), MoveWay::host);
    }
    expect_copy(devices[link.from], devices[link.to], MoveWay::host);
    if (link.reaches) expect_copy(devices[link.from], devices[link.to], MoveWay::peer);
  }
  const Tensor a = devices[0].create_tensor(DataType::u8, {8}).value();
  const Tensor b = devices[2].create_tensor(DataType::u8, {8}).value();
  const Status refused = copy_tensor(devices[0], a, devices[2], b, MoveWay::peer).status();
  EXPECT_EQ(refused.code(), StatusCode::unsupported);
  EXPECT_THAT(refused.message(), HasSubstr("do not reach each other's memory"));
  const Tensor longer = devices[2].create_tensor(DataType::u8, {9}).value();
  EXPECT_EQ(copy_tensor(devices[0], a, devices[2], longer, MoveWay::host).status().code(),
            StatusCode::invalid_argument);
}

TEST_F(TopologyTest, TheQuickerWayIsTaken) {
  DeviceLink link;
  link.host = {1e9, 10e-6};
  EXPECT_EQ(link.way(100), MoveWay::host);
  link.peer = {100e9, 50e-6};
  EXPECT_EQ(link.way(100), MoveWay::host);
  EXPECT_EQ(link.way(10 << 20), MoveWay::peer);
  EXPECT_EQ(MoveRate().seconds(1), std::numeric_limits<double>::infinity());
}

TEST_F(TopologyTest, RatesAreKeptAndMeasuredAgainIfAsked) {
  const Device device = runtime_.open("reference").value();
  const MoveRate lie{12345, 0.5};
  const KeptRate kept("to device", device.info(), device.info());
  EXPECT_FALSE(kept.find().has_value());
  kept.keep(lie);
  EXPECT_EQ(measure_to_device(device).value().bytes_per_s, 12345);
  const MoveRate measured = measure_to_device(device, {.again = true}).value();
  EXPECT_GT(measured.bytes_per_s, 1e6);
  EXPECT_EQ(measure_to_device(device).value().bytes_per_s, measured.bytes_per_s);
  // What nobody can have measured is a miss.
  kept.keep({0, 0});
  EXPECT_FALSE(kept.find().has_value());
}

// Whether the driver has one device or several: within one context it copies by itself.
TEST_F(TopologyTest, DevicesOfOneDriverContextCopyWithoutTheHost) {
  const Result<Device> one = runtime_.open("opencl:0");
  if (!one.ok()) GTEST_SKIP() << one.status().to_string();
  const Result<Device> second = runtime_.open("opencl:1");
  const Device other = second.ok() ? *second : runtime_.open("opencl:0").value();
  const DeviceLink link = measure_link(*one, other).value();
  EXPECT_TRUE(link.reaches);
  EXPECT_TRUE(link.peer.known());
  for (const MoveWay way : {MoveWay::peer, MoveWay::host}) {
    expect_copy(*one, other, way);
    expect_copy(other, *one, way);
  }
}

}  // namespace
}  // namespace stria
