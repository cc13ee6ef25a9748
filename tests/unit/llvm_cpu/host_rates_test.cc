// SPDX-License-Identifier: Apache-2.0
// What is measured of the machine is kept, read again, and refused when it is damaged. How fast the
// machine is decides nothing here.
#include "host_rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stria/base/cache_folder.h"

namespace stria::llvm_cpu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class HostRatesTest : public testing::Test {
 protected:
  HostRatesTest() {
    std::string name = (fs::temp_directory_path() / "stria_rates_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~HostRatesTest() override { fs::remove_all(folder_); }

  static HostRates example() {
    HostRates rates;
    rates.clock_mhz = 2500;
    rates.types["fp32"] = {30.25, 60, 20, 10, 4};
    rates.types["i8"] = {10, 8, 8, 0, 0};
    rates.complete = true;
    return rates;
  }
  fs::path only_file() const {
    fs::path out;
    for (const auto& entry : fs::directory_iterator(folder_)) out = entry.path();
    return out;
  }
  std::string text() const {
    std::ifstream in(only_file());
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
  void rewrite(const std::string& text) const { std::ofstream(only_file()) << text; }

  fs::path folder_;
};

TEST_F(HostRatesTest, WhatIsKeptIsReadAgain) {
  EXPECT_FALSE(read_host_rates(folder_, "key"));
  const fs::path inside = folder_ / "a" / "b";
  ASSERT_TRUE(write_host_rates(inside, "key", example()).ok());
  const auto read = read_host_rates(inside, "key");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->clock_mhz, 2500);
  EXPECT_EQ(read->types.at("fp32").ops_per_cycle, 30.25);
  EXPECT_EQ(read->types.at("fp32").dram_bytes, 4);
  EXPECT_EQ(read->types.at("i8").l2_bytes, 8);
  EXPECT_EQ(read->types.size(), 2u);
  EXPECT_FALSE(read_host_rates(inside, "other key"));
}

TEST_F(HostRatesTest, ADamagedFileIsNoFile) {
  ASSERT_TRUE(write_host_rates(folder_, "key", example()).ok());
  const std::string whole = text();
  // Cut anywhere.
  for (size_t size = 0; size + 2 < whole.size(); size += 7) {
    rewrite(whole.substr(0, size));
    EXPECT_FALSE(read_host_rates(folder_, "key")) << size;
  }
  const json good = json::parse(whole);
  auto refused = [&](const char* pointer, const json& value) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    rewrite(bad.dump());
    EXPECT_FALSE(read_host_rates(folder_, "key")) << pointer << " " << value;
  };
  refused("/key", "another machine");
  refused("/key", 3);
  refused("/clock_mhz", -1);
  refused("/clock_mhz", "fast");
  refused("/types", json::array());
  refused("/types/fp32", 3);
  refused("/types/fp32/ops_per_cycle", 1e300);
  refused("/types/fp32/ops_per_cycle", nullptr);
  refused("/types/fp33", good["types"]["fp32"]);
  rewrite(std::string(1 << 20, ' ') + whole);
  EXPECT_FALSE(read_host_rates(folder_, "key"));
  rewrite(whole);
  EXPECT_TRUE(read_host_rates(folder_, "key"));
}

// Nobody is waited for that writes to it or reads it.
TEST_F(HostRatesTest, APipeIsNoFileAndIsReplaced) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(write_host_rates(folder_, "key", example()).ok());
  const fs::path file = only_file();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(read_host_rates(folder_, "key"));
  EXPECT_TRUE(write_host_rates(folder_, "key", example()).ok());
  EXPECT_TRUE(read_host_rates(folder_, "key"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(HostRatesTest, EveryTypeIsMeasuredOnceAndKept) {
  const Processor processor = read_processor(1);
  const auto rates = host_rates(processor, folder_, std::chrono::minutes(2));
  ASSERT_TRUE(rates);
  EXPECT_TRUE(rates->complete);
  EXPECT_GT(rates->clock_mhz, 0);
  EXPECT_EQ(rates->types.size(), 7u);
  for (const auto& [type, of_type] : rates->types) {
    EXPECT_GT(of_type.ops_per_cycle, 0) << type;
    EXPECT_GT(of_type.l1_bytes, 0) << type;
    EXPECT_TRUE(std::isfinite(of_type.ops_per_cycle)) << type;
  }
  // A second look finds what the first one kept: the file decides, not a new measurement.
  json kept = json::parse(text());
  EXPECT_EQ(kept["key"], host_rates_key(processor));
  kept["types"]["fp32"]["ops_per_cycle"] = 123.5;
  rewrite(kept.dump());
  const auto again = host_rates(processor, folder_, std::chrono::minutes(2));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->types.at("fp32").ops_per_cycle, 123.5);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(HostRatesTest, WithoutTimeNothingIsKept) {
  const auto rates = host_rates(read_processor(1), folder_, std::chrono::milliseconds(0));
  ASSERT_TRUE(rates);
  EXPECT_FALSE(rates->complete);
  EXPECT_TRUE(rates->types.empty());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(HostRatesTest, WhereNothingCanBeKeptNothingIsMeasured) {
  EXPECT_FALSE(host_rates(read_processor(1), "", std::chrono::minutes(2)));
  std::ofstream(folder_ / "file") << "x";
  EXPECT_FALSE(host_rates(read_processor(1), folder_ / "file", std::chrono::minutes(2)));
  EXPECT_FALSE(host_rates(read_processor(1), folder_ / "file" / "in", std::chrono::minutes(2)));
}

TEST_F(HostRatesTest, TheFolderIsTheUsersCache) {
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "/x", 1), 0);
  EXPECT_EQ(user_cache_folder(), "/x/stria");
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "relative", 1), 0);
  ASSERT_EQ(setenv("HOME", "/h", 1), 0);
  EXPECT_EQ(user_cache_folder(), "/h/.cache/stria");
  ASSERT_EQ(unsetenv("HOME"), 0);
  EXPECT_EQ(user_cache_folder(), "");
}

TEST_F(HostRatesTest, PropertiesNameTheirSources) {
  Processor processor;
  processor.clock_mhz = 2445;
  processor.l1_KiB = 32;
  processor.memory_bytes = 1 << 30;
  json plain = json::parse(properties_json(processor, nullptr));
  EXPECT_EQ(plain["clock_mhz"], 2445);
  EXPECT_EQ(plain["source"]["clock_mhz"], "sysfs or /proc/cpuinfo");
  EXPECT_EQ(plain["mem_units"]["L1"]["source"]["size_KiB"], "sysfs");
  EXPECT_FALSE(plain["mem_units"].contains("L2"));
  EXPECT_FALSE(plain["exec_units"]["CORE"].contains("rates"));
  HostRates rates = example();
  rates.clock_mhz = 2617.318;
  rates.types["fp32"].ops_per_cycle = 31.41592;
  const json measured = json::parse(properties_json(processor, &rates));
  EXPECT_DOUBLE_EQ(measured["clock_mhz"].get<double>(), 2617);
  EXPECT_EQ(measured["source"]["clock_mhz"], "measured: a chain of additions");
  const json& fp32 = measured["exec_units"]["CORE"]["rates"]["fp32"];
  EXPECT_DOUBLE_EQ(fp32["ops_per_cycle"].get<double>(), 31.42);
  // There is no second cache here to say it of.
  EXPECT_EQ(fp32["read_bytes_per_cycle"], json({{"L1", 60}, {"DRAM", 4}}));
}

}  // namespace
}  // namespace stria::llvm_cpu
