// SPDX-License-Identifier: Apache-2.0
// The hardware model of an OpenCL device: what its driver says, and what the plugin's file says
// instead, field by field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "scripted_host.h"
#include "stria/base/file.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/runtime.h"

namespace stria {
namespace {

using ::testing::Not;

const std::filesystem::path kPlugin = STRIA_BINARY_DIR "/lib/stria/plugins/opencl";

// Opens the plugin in this folder.
Result<Device> open(const std::filesystem::path& plugin) {
  RuntimeOptions options;
  options.plugin_paths = {plugin};
  options.only_plugin_paths = true;
  return Runtime(options).open("opencl");
}

// The whole program as vectors of so many elements?
bool has_vectors_of(const Device& device, int lanes) {
  auto program = Program::from_tile({"test.tile", "function (A[N]) -> (R) { R = A + A; }"});
  auto made = device.compile(*program, {{"A", {DataType::fp32, {4096}}}});
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return made->device_stripe().find("i1:" + std::to_string(lanes) + "]") != std::string::npos;
}

TEST(OpenClModel, IsWhatTheDriverSaysUnlessAFileSaysOtherwise) {
  auto found = open(kPlugin);
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  const HardwareModel model = Inside::model(*found);
  EXPECT_GT(model.clock_mhz, 0);
  EXPECT_THAT(model.explain(), testing::ContainsRegex("/clock_mhz = .*device"));
  EXPECT_THAT(model.explain(), testing::ContainsRegex("/mem_units/DRAM/size_KiB = .*device"));
  EXPECT_THAT(model.numbers_without_source(), testing::IsEmpty());

  // A copy of the plugin whose file has numbers in place of what it asks the device for.
  const hal::TemporaryFolder folder;
  const std::filesystem::path copy = folder.path() / "opencl";
  std::filesystem::copy(kPlugin, copy, std::filesystem::copy_options::recursive);
  for (const auto& [file, asked, number] :
       {std::tuple{"hw/cpu.json", "{{ device.clock_mhz | default(2500) }}", "123"},
        std::tuple{"hw/gpu.json", "{{ device.clock_mhz | default(1500) }}", "123"},
        std::tuple{"hw/cpu.json",
                   "{% set VECTOR = device.exec_units.CU.vector_bytes | default(32) %}",
                   "{% set VECTOR = 8 %}"},
        std::tuple{"hw/gpu.json", "\"vector_bytes\": 16", "\"vector_bytes\": 8"}}) {
    std::string text = read_file((copy / file).string()).value();
    const size_t at = text.find(asked);
    ASSERT_NE(at, std::string::npos) << file << " has no " << asked;
    ASSERT_TRUE(
        write_file((copy / file).string(), text.replace(at, std::string_view(asked).size(), number))
            .ok());
  }
  auto overridden = open(copy);
  ASSERT_TRUE(overridden.ok()) << overridden.status().to_string();
  const HardwareModel other = Inside::model(*overridden);
  EXPECT_EQ(other.clock_mhz, 123);
  EXPECT_THAT(other.explain(), Not(testing::ContainsRegex("/clock_mhz = [^\n]*device")));
  EXPECT_THAT(other.explain(), testing::ContainsRegex("/mem_units/DRAM/size_KiB = .*device"));
  // The passes read the model, and nothing else.
  EXPECT_TRUE(has_vectors_of(*overridden, 2));
  EXPECT_FALSE(has_vectors_of(*found, 2));
}

}  // namespace
}  // namespace stria
