// SPDX-License-Identifier: Apache-2.0
// What is measured of a device: how it is told from times, kept and read again, and refused when it
// is damaged; and all of it on a software device. How fast the device is decides nothing here.
#include "measure/device_rates.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>

#include "emit/program.h"
#include "faulty_vulkan.h"
#include "matrix_forms.h"
#include "measure/device_rates_kernels.h"
#include "measure/groups_at_once.h"
#include "measure/matrix_rate_kernel.h"
#include "stria/base/file.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/text/parser.h"
#include "vulkan_programs.h"

namespace stria::vulkan {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

const MeasuredRates kExample{1980.5, 2.25, 96, {{"matrix_fp16_fp32_16x16x16", 201.5}}, true};

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
  EXPECT_EQ(read->matrix_cycles, kExample.matrix_cycles);
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
  refused("matrix_cycles", 3);
  refused("matrix_cycles", {{"matrix_fp16_fp32_16x16x16", -1}});
  refused("matrix_cycles", {{"matrix_fp16_fp32_16x16x16", "fast"}});
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

// What a device reports that has matrices, as device_query.cc writes it.
std::string properties_with_matrices() {
  json out = {{"exec_units", {{"CU", {{"count", 10}}}}}};
  out["exec_units"]["SUBGROUP"]["max_threads"] = 64;
  out["exec_units"]["SUBGROUP"]["instructions"] =
      instructions_of({{16, 16, 16}, {16, 8, 32, DataType::u8, DataType::i8, DataType::i32}});
  out["mem_units"]["MATRIX"] = json::object();
  return out.dump();
}

HardwareModel model_of(const char* file, const std::string& properties) {
  const std::string path = std::string(STRIA_SOURCE_DIR "/plugins/vulkan/hw/") + file;
  auto model = load_hardware_model({path, read_file(path).value()}, {}, properties);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_THAT(model->numbers_without_source(), testing::IsEmpty());
  return *model;
}

TEST(MatrixModel, HasTheDevicesProductsWithTheirRates) {
  const HardwareModel model =
      model_of("gpu.json", with_rates(properties_with_matrices(), kExample));
  const MemoryUnit* home = model.find_memory("MATRIX");
  ASSERT_TRUE(home);
  EXPECT_EQ(home->count, model.unit_count("SUBGROUP"));
  EXPECT_EQ(home->count, 10 * 2048 / 64);
  EXPECT_EQ(home->size_bytes, 64 * model.find_memory("REG")->size_bytes);
  const auto& instructions = model.find_executor("SUBGROUP")->instructions;
  ASSERT_EQ(instructions.size(), 2u);
  const Instruction& measured = instructions[0];
  EXPECT_EQ(measured.name, "matrix_fp16_fp32_16x16x16");
  EXPECT_EQ(measured.cycles, 201.5);
  const Instruction& other = instructions[1];
  EXPECT_EQ(other.name, "matrix_u8_i8_i32_16x8x32");
  EXPECT_EQ(other.cycles, 0);
  std::string indices, operands;
  for (const Instruction::Index& index : other.indices)
    indices += fmt::format("{}:{} ", index.name, index.size);
  for (const InstructionOperand& operand : other.operands) {
    operands +=
        fmt::format("{} {}({}) {}{}; ", operand.name, name_of(operand.type),
                    fmt::join(operand.dims, " "), operand.home, operand.written ? " written" : "");
    EXPECT_TRUE(operand.fragment.empty());
  }
  EXPECT_EQ(indices, "m:16 n:8 k:32 ");
  EXPECT_EQ(operands, "A u8(m k) MATRIX; B i8(k n) MATRIX; C i32(m n) MATRIX written; ");
  const HardwareModel software = model_of("software.json", properties_with_matrices());
  EXPECT_EQ(software.find_memory("MATRIX")->size_bytes,
            64 * software.find_memory("REG")->size_bytes);
  EXPECT_EQ(software.find_memory("MATRIX")->count, software.unit_count("SUBGROUP"));
}

TEST(MatrixModel, HasNoneWithoutThem) {
  for (const char* file : {"gpu.json", "software.json"}) {
    // A rate of what is hidden makes no instruction.
    const HardwareModel model = model_of(file, with_rates("{}", kExample));
    EXPECT_EQ(model.find_memory("MATRIX"), nullptr);
    EXPECT_TRUE(model.find_executor("SUBGROUP")->instructions.empty());
  }
}

// What the rate is computed from.
TEST(MatrixRateKernel, DoesTheProductsItIsCountedFor) {
  for (const MatrixForm& form :
       {MatrixForm{16, 16, 16}, MatrixForm{16, 8, 32, DataType::i8, DataType::i8, DataType::i32},
        MatrixForm{256, 256, 256}}) {
    Features features;
    features.matrices = {form};
    const MatrixRateKernel kernel =
        matrix_rate_kernel(form, 10, 32, features, {.group_lanes = 1024});
    const semtree::Function& function = kernel.code.function;
    double products = 0, loops = 0;
    std::map<int64_t, int> sums;
    semtree::walk(function.body, [&](const semtree::Statement& statement) {
      if (auto* loop = std::get_if<semtree::For>(&statement.op)) {
        ++loops;
        products = static_cast<double>(loop->upper->value.i * loop->body.size());
      }
      if (auto* product = std::get_if<semtree::MatrixMultiply>(&statement.op))
        ++sums[product->sum.number];
    });
    EXPECT_EQ(loops, 1);
    EXPECT_THAT(sums, testing::ElementsAre(testing::Pair(0, 8), testing::Pair(1, 8),
                                           testing::Pair(2, 8), testing::Pair(3, 8)));
    EXPECT_EQ(kernel.code.groups, (std::array<int64_t, 3>{320, 1, 1}));
    EXPECT_EQ(kernel.code.group_lanes, 4 * 32);
    EXPECT_EQ(kernel.products, 320 * 4 * products);
    EXPECT_FALSE(kernel.code.takes_base_group);
  }
  // Of few lanes, and of many groups.
  Features cut;
  cut.whole_groups = 60;
  const MatrixRateKernel few =
      matrix_rate_kernel({16, 16, 16}, 10, 64, cut, {.group_lanes = 64, .groups = {100, 1, 1}});
  EXPECT_EQ(few.code.groups[0], 100);
  EXPECT_EQ(few.code.group_lanes, 64);
  EXPECT_TRUE(few.code.takes_base_group);
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

// The driver of these tests behind a loader that says it has matrices.
class Matrices : public DeviceRatesFile {
 protected:
  Matrices() : variable_(folder_) {}
  ~Matrices() override { fault() = kNoFault; }

  static std::atomic<int>& fault() {
    static void* const loader = ::dlopen(STRIA_FAULTY_VULKAN, RTLD_NOW | RTLD_LOCAL);
    return *static_cast<std::atomic<int>*>(::dlsym(loader, "stria_vulkan_fault"));
  }
  // The instructions of the device, once what was measured is kept.
  json measured(VulkanFault with) {
    fault() = with;
    json out;
    for (int i = 0; i < 20 && only_file(folder_ / "stria").empty(); ++i)
      out = opened(R"({"probe": true, "loader": ")" STRIA_FAULTY_VULKAN R"("})");
    EXPECT_NE(only_file(folder_ / "stria"), "");
    EXPECT_TRUE(out.contains("clock_mhz")) << out;
    return out["exec_units"]["SUBGROUP"]["instructions"];
  }

 private:
  const CacheFolder variable_;
};

TEST_F(Matrices, EachProductIsMeasured) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the compiler is so slow that the time for measuring runs out";
#endif
  const json instructions = measured(kMatrices);
  ASSERT_EQ(instructions.size(), 2u) << instructions;
  for (const char* name : {"matrix_fp16_fp32_16x16x16", "matrix_i8_i32_16x16x32"})
    EXPECT_GE(instructions.value(name, json::object()).value("cycles", -1.0), 0) << instructions;
  EXPECT_EQ(json::parse(text(folder_ / "stria"))["matrix_cycles"].size(), 2u);
}

// The rest is measured, and kept.
TEST_F(Matrices, WhatTheDriverRefusesHasNoRate) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the compiler is so slow that the time for measuring runs out";
#endif
  const json instructions = measured(kMatricesRefused);
  ASSERT_EQ(instructions.size(), 2u) << instructions;
  for (const auto& [name, instruction] : instructions.items())
    EXPECT_FALSE(instruction.contains("cycles")) << name;
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
