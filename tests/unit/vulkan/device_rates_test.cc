// SPDX-License-Identifier: Apache-2.0
// What is measured of a device: how it is told from times, kept and read again, and refused when it
// is damaged; and all of it on a software device. How fast the device is decides nothing here.
#include "measure/device_rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>

#include "emit/program.h"
#include "measure/device_rates_kernels.h"
#include "measure/groups_at_once.h"
#include "stria/stripe/text/parser.h"
#include "vulkan_programs.h"

namespace stria::vulkan {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr MeasuredRates kExample{1980.5, 2.25, 96, true};

TEST(GroupsAtOnce, TheTimeStepsUpWhereGroupsComeOneAfterTheOther) {
  EXPECT_EQ(groups_at_once({50, 51, 50, 52, 53, 55, 101, 102}), 6);
  EXPECT_EQ(groups_at_once({50, 100}), 1);
  EXPECT_EQ(groups_at_once({50, 55, 60, 64, 98}), 4);  // they hinder each other a little
  // With 2 beside each other the fourth is no worse than the third.
  EXPECT_EQ(groups_at_once({50, 50, 100, 100, 150}), 2);
}

TEST(GroupsAtOnce, WithoutAStepThereIsNoAnswer) {
  EXPECT_EQ(groups_at_once({}), 0);
  EXPECT_EQ(groups_at_once({50}), 0);
  EXPECT_EQ(groups_at_once({50, 50, 51, 50, 52, 50}), 0);
  EXPECT_EQ(groups_at_once({50, 60, 72, 85, 99, 150}), 0);  // little by little, then a step
  EXPECT_EQ(groups_at_once({50, 78}), 0);                   // neither nor
  EXPECT_EQ(groups_at_once({0, 50}), 0);
  EXPECT_EQ(groups_at_once({-1, 50}), 0);
}

// How often a word is in the module of a kernel.
int count(const std::string& text, size_t kernel, const std::string& word, int64_t* lanes) {
  auto program = stripe::parse({"kernels that measure", text});
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  const auto kernels = build_kernels(*program, Features{},
                                     source_options({.group_lanes = 256, .groups = {1 << 20}}));
  EXPECT_TRUE(kernels.ok()) << kernels.status().to_string();
  const KernelCode& code = (*kernels)[kernel];
  *lanes = code.groups[0] * code.groups[1] * code.groups[2] * code.group_lanes;
  const auto module = disassemble(*emit(code, Features{}));
  int out = 0;
  for (size_t at = module->find(word); at != std::string::npos; at = module->find(word, at + 1))
    ++out;
  return out;
}

// What the rate is computed from: a multiply-add is one instruction, on registers.
TEST(DeviceRatesKernels, DoWhatTheyAreCountedFor) {
  int64_t lanes = 0;
  EXPECT_EQ(count(rates_text(8), 0, " Fma ", &lanes), 8 * 32);
  EXPECT_EQ(kLaneMultiplyAdds % (8 * 32), 0);
  EXPECT_EQ(lanes, 8 * kGroupPointsOfRates);
  EXPECT_EQ(count(rates_text(8), 0, " Aligned ", &lanes), 8 + 2 + 1);
  EXPECT_EQ(count(beside_text(3, 32, 4096, 4), 3, " Fma ", &lanes), 128);
  EXPECT_EQ(kChainMultiplyAdds % 128, 0);
  EXPECT_EQ(lanes, 4 * 3 * 32);
  EXPECT_EQ(count(beside_text(3, 32, 4096, 4), 0, "OpControlBarrier", &lanes), 1);
  EXPECT_EQ(lanes, 3 * 32);
}

class DeviceRatesFile : public testing::Test {
 protected:
  DeviceRatesFile() {
    std::string name = (fs::temp_directory_path() / "stria_rates_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~DeviceRatesFile() override { fs::remove_all(folder_); }

  fs::path only_file(const fs::path& folder) const {
    fs::path out;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
      if (entry.path().filename().string().starts_with("vulkan-")) out = entry.path();
    return out;
  }
  std::string text(const fs::path& folder) const {
    std::ifstream in(only_file(folder));
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
  void rewrite(const fs::path& folder, const std::string& text) const {
    std::ofstream(only_file(folder)) << text;
  }

  fs::path folder_;
};

TEST_F(DeviceRatesFile, WhatIsKeptIsReadAgain) {
  EXPECT_FALSE(read_device_rates(folder_, "key"));
  const fs::path inside = folder_ / "a" / "b";
  ASSERT_TRUE(write_device_rates(inside, "key", kExample).ok());
  const auto read = read_device_rates(inside, "key");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->clock_mhz, 1980.5);
  EXPECT_EQ(read->launch_us, 2.25);
  EXPECT_EQ(read->unit_KiB, 96);
  EXPECT_TRUE(read->complete);
  EXPECT_FALSE(read_device_rates(inside, "other key"));
}

TEST_F(DeviceRatesFile, ADamagedFileIsNoFile) {
  ASSERT_TRUE(write_device_rates(folder_, "key", kExample).ok());
  const std::string whole = text(folder_);
  for (size_t size = 0; size + 2 < whole.size(); size += 3) {
    rewrite(folder_, whole.substr(0, size));
    EXPECT_FALSE(read_device_rates(folder_, "key")) << size;
  }
  const json good = json::parse(whole);
  const auto refused = [&](const char* field, const json& value) {
    json bad = good;
    bad[field] = value;
    rewrite(folder_, bad.dump());
    EXPECT_FALSE(read_device_rates(folder_, "key")) << field << " " << value;
  };
  refused("key", "another device");
  refused("key", 3);
  refused("clock_mhz", -1);
  refused("clock_mhz", "fast");
  refused("launch_us", nullptr);
  refused("launch_us", 1e300);
  refused("unit_KiB", 1.5);
  refused("unit_KiB", json::array());
  rewrite(folder_, std::string(1 << 20, ' ') + whole);
  EXPECT_FALSE(read_device_rates(folder_, "key"));
  rewrite(folder_, whole);
  EXPECT_TRUE(read_device_rates(folder_, "key"));
}

// Nobody is waited for that writes to it or reads it.
TEST_F(DeviceRatesFile, APipeIsNoFileAndIsReplaced) {
  ASSERT_TRUE(write_device_rates(folder_, "key", kExample).ok());
  const fs::path file = only_file(folder_);
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(read_device_rates(folder_, "key"));
  EXPECT_TRUE(write_device_rates(folder_, "key", kExample).ok());
  EXPECT_TRUE(read_device_rates(folder_, "key"));
}

TEST(DeviceRatesKey, NamesDeviceAndDriver) {
  FoundDevice device;
  device.build_key = "uuid driver 7.1";
  const std::string key = device_rates_key(device);
  EXPECT_THAT(key, HasSubstr("uuid driver 7.1"));
  device.build_key = "uuid driver 7.2";
  EXPECT_NE(device_rates_key(device), key);
}

TEST(DeviceRatesOverlay, LeavesOutWhatWasNotMeasured) {
  const std::string listed = R"({"mem_units": {"LOCAL": {"size_KiB": 48}}})";
  EXPECT_EQ(json::parse(with_rates(listed, kExample)), json::parse(R"({"clock_mhz": 1980.5,
      "launch_us": 2.25, "mem_units": {"LOCAL": {"size_KiB": 48, "unit_KiB": 96}}})"));
  EXPECT_EQ(json::parse(with_rates(listed, {})), json::parse(listed));
}

// The properties of the first device after it was opened; in `seconds` what opening took.
json opened(const std::string& options, double* seconds = nullptr) {
  hal::Plugin plugin = hal::load_vulkan(options);
  const auto begin = std::chrono::steady_clock::now();
  json out;
  {
    auto device = hal::first_device(plugin);
    EXPECT_TRUE(device.ok()) << device.status().to_string();
    if (device.ok()) {
      out = json::parse(device->info().properties);
      // Opened again it is the same device.
      EXPECT_EQ(json::parse(hal::first_device(plugin)->info().properties), out);
      EXPECT_EQ(hal::doubles(*device), "");
    }
  }
  if (seconds)
    *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_TRUE(plugin.shutdown().ok());
  return out;
}

// The folder that holds what is kept is another one as long as this lives.
class CacheFolder {
 public:
  explicit CacheFolder(const fs::path& folder) {
    if (const char* old = std::getenv(kVariable)) old_ = old;
    ::setenv(kVariable, folder.c_str(), 1);
  }
  ~CacheFolder() {
    if (old_)
      ::setenv(kVariable, old_->c_str(), 1);
    else
      ::unsetenv(kVariable);
  }

 private:
  static constexpr const char* kVariable = "XDG_CACHE_HOME";
  std::optional<std::string> old_;
};

constexpr const char* kMeasure = R"({"probe": true})";

// The device of these tests is a software one, which is measured only if it is asked for.
TEST_F(DeviceRatesFile, ADeviceIsMeasuredOnceAndKept) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the compiler is so slow that the time for measuring runs out";
#endif
  const CacheFolder variable(folder_);
  const fs::path cache = folder_ / "stria";
  const json listed = opened(R"({"probe": false})");
  EXPECT_FALSE(listed.contains("clock_mhz"));
  EXPECT_EQ(opened("{}"), listed);
  EXPECT_EQ(only_file(cache), "");

  // On a busy machine the time may run out; then nothing is kept.
  json measured;
  for (int i = 0; i < 20 && only_file(cache).empty(); ++i) {
    double seconds = 0;
    measured = opened(kMeasure, &seconds);
    EXPECT_LT(seconds, 20);
  }
  ASSERT_NE(only_file(cache), "");
  ASSERT_TRUE(measured.contains("clock_mhz") && measured.contains("launch_us")) << measured;
  EXPECT_GT(measured["clock_mhz"], 10);
  EXPECT_LT(measured["clock_mhz"], 1e5);
  EXPECT_GT(measured["launch_us"], 0.1);
  EXPECT_LT(measured["launch_us"], 1e5);
  RecordProperty("properties", measured.dump());

  // What is there holds, whatever would be measured; not if it is damaged.
  json other = json::parse(text(cache));
  EXPECT_EQ(other["clock_mhz"], measured["clock_mhz"]);
  EXPECT_EQ(other["launch_us"], measured["launch_us"]);
  other["clock_mhz"] = 3;
  other["unit_KiB"] = 77;
  rewrite(cache, other.dump());
  EXPECT_EQ(opened(kMeasure)["clock_mhz"], 3);
  EXPECT_EQ(opened(kMeasure)["mem_units"]["LOCAL"]["unit_KiB"], 77);
  EXPECT_EQ(opened(R"({"probe": false})"), listed);
  EXPECT_EQ(opened("{}"), listed);
  rewrite(cache, "{");
  EXPECT_NE(opened(kMeasure)["clock_mhz"], 3);
}

TEST(DeviceRatesOption, IsABoolean) {
  hal::LoadOptions load;
  load.driver_options = R"({"probe": "yes"})";
  const auto loaded =
      hal::load_plugin(hal::built_plugin("vulkan"), hal::scripted_host(nullptr, 2), load);
  EXPECT_FALSE(loaded.status().ok());
  EXPECT_THAT(loaded.status().to_string(), HasSubstr(R"("probe": true)"));
}

}  // namespace
}  // namespace stria::vulkan
