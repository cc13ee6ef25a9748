// SPDX-License-Identifier: Apache-2.0
// Device Stripe that is kept between processes: found again for the same program, pipeline and
// model, and whatever else is there is a miss.
#include "stria/runtime/host/kept_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "stria/base/file.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/runtime.h"
#include "stria/stripe/text/printer.h"

namespace stria {
namespace {

namespace fs = std::filesystem;

// A program over which the passes take longer than KeptPlan::kShortMs on any machine: products of
// many sizes.
std::string many_products(int count) {
  std::string text = "function (A[M, K], B[K, N]) -> (R) {\n  T0 = A;\n";
  for (int i = 0; i < count; ++i)
    text += fmt::format(
        "  P{0}[m, n : M, N] = +(T{0}[m, k] * B[k, n]);\n"
        "  T{1}[m, k : M, K] = +(P{0}[m, n] * B[k, n]);\n",
        i, i + 1);
  return text + fmt::format("  R = T{};\n}}\n", count);
}

Device open(const std::string& selector) {
  RuntimeOptions options;
  options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
  options.only_plugin_paths = true;
  return Runtime(options).open(selector).value();
}

class KeptPlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kVerifyEachByDefault) GTEST_SKIP() << "the verifier needs the passes to run";
    const char* before = std::getenv("XDG_CACHE_HOME");
    if (before) before_ = before;
    had_ = before != nullptr;
    folder_ = fs::path(testing::TempDir()) /
              fmt::format("kept_plan_{}_{}", ::getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    had_ ? ::setenv("XDG_CACHE_HOME", before_.c_str(), 1) : ::unsetenv("XDG_CACHE_HOME");
    fs::remove_all(folder_);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    if (!fs::exists(folder_ / "stria/plans")) return out;
    for (const auto& file : fs::directory_iterator(folder_ / "stria/plans"))
      out.push_back(file.path());
    return out;
  }
  // As a new process would: the device's own pipeline, on `products` pairs of products.
  struct Compiled {
    bool by_passes = false;
    std::string device_stripe;
  };
  static constexpr int kPairs = 24;
  Compiled compile(int products = kPairs, const CompileOptions& options = {}) const {
    constexpr int64_t kRows = 240, kDepth = 136, kColumns = 176;
    const Device device = open("llvm_cpu");
    const Program program = Program::from_tile({"products.tile", many_products(products)}).value();
    Executable executable = device
                                .compile(program,
                                         {{"A", {DataType::fp32, {kRows, kDepth}}},
                                          {"B", {DataType::fp32, {kDepth, kColumns}}}},
                                         options)
                                .value();
    const std::vector<float> a(kRows * kDepth, 1), b(kDepth * kColumns, 0.0078125f);
    const Tensor r = device.create_tensor(DataType::fp32, {kRows, kDepth}).value();
    const Status ran = executable
                           .run({device.create_tensor({kRows, kDepth}, a).value(),
                                 device.create_tensor({kDepth, kColumns}, b).value()},
                                {r})
                           ->wait();
    EXPECT_TRUE(ran.ok()) << ran.to_string();
    float expected = 1;
    for (int i = 0; i < products; ++i) expected *= kDepth * 0.0078125f * kColumns * 0.0078125f;
    const std::vector<float> got = r.read_values<float>().value();
    Compiled out;
    out.by_passes = !Inside::compilation(executable).steps.empty();
    out.device_stripe = executable.device_stripe();
    EXPECT_TRUE(std::all_of(got.begin(), got.end(), [&](float value) {
      return std::abs(value - expected) <= 1e-3f * expected;
    }));
    return out;
  }

 private:
  fs::path folder_;
  std::string before_;
  bool had_ = false;
};

TEST_F(KeptPlanTest, IsFoundAgainAndIsTheSame) {
  const Compiled first = compile();
  EXPECT_TRUE(first.by_passes);
  EXPECT_EQ(files().size(), 1u);
  const Compiled second = compile();
  EXPECT_FALSE(second.by_passes);
  EXPECT_EQ(second.device_stripe, first.device_stripe);
  // fast_math is the plugin's affair.
  EXPECT_FALSE(compile(kPairs, {.fast_math = true}).by_passes);
}

// Another program, constants, stages that are looked at.
TEST_F(KeptPlanTest, IsForNothingElse) {
  EXPECT_TRUE(compile().by_passes);
  EXPECT_TRUE(compile(kPairs + 1).by_passes);
  EXPECT_TRUE(compile(kPairs, {.constants = {"B"}}).by_passes);
  EXPECT_TRUE(compile(kPairs, {.keep_stages = true}).by_passes);
}

// A file that is cut, changed, of another entry, or that holds no Stripe.
TEST_F(KeptPlanTest, ThatIsDamagedIsMadeAgain) {
  const Compiled first = compile();
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files()[0];
  const std::string whole = read_file(file).value();
  std::string changed = whole;
  changed[changed.size() / 2] ^= 1;
  compile(kPairs + 1);
  std::string other;
  for (const fs::path& one : files())
    if (one != file) other = read_file(one).value();
  ASSERT_FALSE(other.empty());
  for (const std::string& text : {whole.substr(0, whole.size() / 2), changed, other,
                                  std::string("stripe 1.0\n"), std::string()}) {
    std::ofstream(file, std::ios::binary) << text;
    const Compiled again = compile();
    EXPECT_TRUE(again.by_passes) << text.substr(0, 80);
    EXPECT_EQ(again.device_stripe, first.device_stripe);
    // It has been put right.
    EXPECT_EQ(read_file(file).value(), whole);
  }
}

// Whole entries that hold something else than the key says are as good as damaged.
TEST_F(KeptPlanTest, ThatIsNoStripeIsAMiss) {
  const Device device = open("llvm_cpu");
  const HardwareModel& model = Inside::model(device);
  Pipeline pipeline;
  pipeline.steps.push_back({.name = "one", .pass = "prune", .json = R"({"prune": {}})"});
  stripe::Program program;
  program.entry.name = "p";
  const KeptPlan plan(program, pipeline, model);
  std::string text;
  EXPECT_FALSE(plan.find(text).has_value());
  plan.keep("no Stripe");
  EXPECT_FALSE(plan.find(text).has_value());
  const std::string good = stripe::print(program);
  plan.keep(good);
  ASSERT_TRUE(plan.find(text).has_value());
  EXPECT_EQ(text, good);
  // Each part of the key counts.
  pipeline.steps[0].json = R"({"prune": {"reqs": ["kernel"]}})";
  EXPECT_FALSE(KeptPlan(program, pipeline, model).find(text).has_value());
  pipeline.steps[0].json = R"({"prune": {}})";
  EXPECT_TRUE(KeptPlan(program, pipeline, model).find(text).has_value());
  const Device other = open("reference");
  EXPECT_FALSE(KeptPlan(program, pipeline, Inside::model(other)).find(text).has_value());
  // A step of a plugin's: nobody knows when it changes.
  pipeline.steps[0].pass = "plugin_pass";
  const KeptPlan by_plugin(program, pipeline, model);
  by_plugin.keep(good);
  EXPECT_FALSE(by_plugin.find(text).has_value());
}

}  // namespace
}  // namespace stria
