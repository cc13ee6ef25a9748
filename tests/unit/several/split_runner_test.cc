// SPDX-License-Identifier: Apache-2.0
// A device of several that fails is left out: the results are right all the same, and the loss is
// told. The devices are those of tests/plugins/fragile.
#include "stria/several/split_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "stria/base/status.h"

namespace stria {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

// Rows of A are cut; B is whole on each device.
constexpr const char* kText =
    "function f(A[N, K], B[K]) -> (R) { S[n : N] = +(A[n, k] * B[k]); R = S + index(S, 0); }";
constexpr int64_t kRows = 7, kColumns = 3;
const InputTypes kTypes = {{"A", {DataType::fp32, {kRows, kColumns}}},
                           {"B", {DataType::fp32, {kColumns}}}};

class SplitRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stria_several_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    RuntimeOptions options;
    options.device_history = false;  // a device that is lost here is well in the next test
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/test_plugins"};
    options.only_plugin_paths = true;
    options.only_plugins = {"fragile"};
    options.plugin_options["fragile"] = "{\"faults\": \"" + (folder_ / "faults").string() + "\"}";
    options.wait_limit_ns = 150'000'000;
    options.probe_plugins = false;
    options.log = [this](LogLevel level, std::string_view line) {
      const std::lock_guard lock(mutex_);
      if (level >= LogLevel::warning) log_ += std::string(line) + "\n";
    };
    runtime_ = Runtime(options);
    for (const TensorType& type : {kTypes.at("A"), kTypes.at("B")}) {
      HostTensor tensor = HostTensor::create(type.type, type.sizes, "input").value();
      for (int64_t n = 0; n < tensor.element_count(); ++n)
        reinterpret_cast<float*>(tensor.data())[n] = static_cast<float>(n % 5 + 1);
      inputs_.push_back(std::move(tensor));
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Lines as tests/plugins/fragile/plugin.cc has them.
  void set_faults(const std::string& lines) const {
    std::ofstream(folder_ / "next") << lines;
    fs::rename(folder_ / "next", folder_ / "faults");
  }
  SplitRunner make(const std::string& devices = "fragile:0;fragile:1;fragile:2") {
    SplitRunnerOptions options;
    options.first_wait = 10s;
    options.longest_wait = 60s;
    options.clock = [this] { return std::chrono::steady_clock::time_point(seconds_.load() * 1s); };
    options.on_loss = [this](const DeviceLoss& one) {
      const std::lock_guard lock(mutex_);
      told_.push_back(one);
    };
    return SplitRunner::create(runtime_, devices, program(), kTypes, options).value();
  }
  static Program program() { return Program::from_tile({"f.tile", kText}).value(); }
  // The devices that had a part. The results are right, or this fails.
  std::vector<std::string> run(const SplitRunner& runner) {
    const Result<SplitResult> result = runner.run(inputs_);
    if (!result.ok()) return {result.status().to_string()};
    const auto* const a = reinterpret_cast<const float*>(inputs_[0].data());
    const auto* const b = reinterpret_cast<const float*>(inputs_[1].data());
    const auto* const r = reinterpret_cast<const float*>(result->outputs.at(0).data());
    for (int64_t n = 0; n < kRows; ++n) {
      float expected = static_cast<float>(n);
      for (int64_t k = 0; k < kColumns; ++k) expected += a[n * kColumns + k] * b[k];
      EXPECT_EQ(r[n], expected) << n;
    }
    return result->devices;
  }

  fs::path folder_;
  std::mutex mutex_;
  std::string log_;               // guarded by mutex_
  std::vector<DeviceLoss> told_;  // likewise
  std::atomic<int> seconds_{0};   // what the runner's clock says
  Runtime runtime_;
  std::vector<HostTensor> inputs_;
};

TEST_F(SplitRunnerTest, AllDevicesHaveAPart) {
  const SplitRunner runner = make();
  EXPECT_THAT(runner.devices(), ElementsAre("fragile:0", "fragile:1", "fragile:2"));
  EXPECT_EQ(runner.inputs()[0].name, "A");
  EXPECT_EQ(runner.prepare().value(),
            "7 units of 1 along dimension 0 of 'R': 3 on fragile:0, 2 on fragile:1, 2 on "
            "fragile:2");
  EXPECT_THAT(run(runner), ElementsAre("fragile:0", "fragile:1", "fragile:2"));
  EXPECT_EQ(log_, "");
  EXPECT_TRUE(runner.losses().empty());
  // A selector stands for all that it keeps, and one device may come twice.
  EXPECT_THAT(run(make("fragile:[01]*, !fragile:0")), ElementsAre("fragile:1"));
  EXPECT_THAT(run(make("fragile:2;fragile:2")), ElementsAre("fragile:2", "fragile:2"));
}

struct Fault {
  const char *place, *what;
  RunStage stage;
  StatusCode code;
  const char* says;
};

TEST_F(SplitRunnerTest, WhateverFailsIsLeftOut) {
  const Fault faults[] = {
      {"open 0", "gone", RunStage::open, StatusCode::not_found, "cannot be opened"},
      {"build 0", "lost", RunStage::compile, StatusCode::device_lost, "is lost"},
      {"build 0", "refused", RunStage::compile, StatusCode::unsupported, "cannot take the program"},
      {"allocate 0", "memory", RunStage::run, StatusCode::out_of_memory, "is out of memory"},
      {"allocate 2", "memory", RunStage::run, StatusCode::out_of_memory, "is out of memory"},
      {"map 1", "lost", RunStage::run, StatusCode::device_lost, "is lost"},
      {"submit 0", "lost", RunStage::run, StatusCode::device_lost, "is lost"},
      {"submit 1", "lost", RunStage::run, StatusCode::device_lost, "is lost"},
      {"work 1", "broken", RunStage::run, StatusCode::data_loss, "fails"},
      {"work 0", "hang", RunStage::run, StatusCode::deadline_exceeded, "does not end in time"},
  };
  for (const Fault& fault : faults)
    for (const char* device : {"0", "1", "2"}) {
      set_faults(std::string(device) + " " + fault.place + " " + fault.what + "\n");
      told_.clear();
      log_.clear();
      const SplitRunner runner = make();
      std::vector<std::string> left;
      for (const char* one : {"0", "1", "2"})
        if (std::string(one) != device) left.push_back(std::string("fragile:") + one);
      EXPECT_EQ(run(runner), left) << fault.place << " " << fault.what << " " << device;
      ASSERT_EQ(told_.size(), 1u) << fault.place << " " << fault.what << " " << device;
      EXPECT_EQ(told_[0].device, std::string("fragile:") + device);
      EXPECT_EQ(told_[0].stage, fault.stage);
      EXPECT_EQ(told_[0].why.code(), fault.code) << told_[0].why.to_string();
      EXPECT_EQ(told_[0].left, left);
      EXPECT_THAT(told_[0].text,
                  AllOf(HasSubstr("; going on with " + left[0] + ", " + left[1]),
                        HasSubstr(std::string("fragile:") + device + " " + fault.says + ": ")));
      EXPECT_EQ(log_, told_[0].text + "\n");
      EXPECT_EQ(runner.losses().size(), 1u);
    }
}

TEST_F(SplitRunnerTest, SeveralAtOnceAreLeftOutToo) {
  set_faults("0 submit 0 lost\n2 submit 0 lost\n");
  EXPECT_THAT(run(make()), ElementsAre("fragile:1"));
  EXPECT_EQ(told_.size(), 2u);
}

TEST_F(SplitRunnerTest, ADeviceComesBackAfterAWhile) {
  set_faults("1 submit 0 lost\n");
  const SplitRunner runner = make();
  EXPECT_THAT(run(runner), ElementsAre("fragile:0", "fragile:2"));
  EXPECT_EQ(told_[0].kept_out, 10s);
  set_faults("");
  seconds_ = 9;
  EXPECT_THAT(run(runner), ElementsAre("fragile:0", "fragile:2"));
  seconds_ = 11;
  EXPECT_THAT(run(runner), ElementsAre("fragile:0", "fragile:1", "fragile:2"));
  // What cannot be built for it does not go away.
  set_faults("1 build 0 refused\n");
  const SplitRunner other = make();
  EXPECT_THAT(run(other), ElementsAre("fragile:0", "fragile:2"));
  EXPECT_TRUE(told_.back().for_good);
  set_faults("");
  seconds_ = 1000;
  EXPECT_THAT(run(other), ElementsAre("fragile:0", "fragile:2"));
}

TEST_F(SplitRunnerTest, WhenAllFailEachIsNamed) {
  set_faults("0 submit 0 lost\n1 submit 0 lost\n2 submit 0 lost\n");
  const SplitRunner runner = make();
  const Status status = runner.run(inputs_).status();
  EXPECT_EQ(status.code(), StatusCode::device_lost);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("no device is left that runs 'f':"),
                    HasSubstr("\n  fragile:0 is lost: "), HasSubstr("\n  fragile:2 is lost: ")));
  // Who is kept out is better than none.
  set_faults("");
  EXPECT_EQ(run(runner).size(), 3u);
}

TEST_F(SplitRunnerTest, MistakesOfTheCallerLeaveNobodyOut) {
  const SplitRunner runner = make();
  EXPECT_THAT(runner.run({}).status().message(), HasSubstr("'f' has 2 inputs, got 0"));
  std::vector<HostTensor> swapped;
  swapped.push_back(inputs_[1].clone().value());
  swapped.push_back(inputs_[0].clone().value());
  EXPECT_THAT(runner.run(swapped).status().message(), HasSubstr("'f': input 'A' is fp32[3]"));
  set_faults("1 work 0 wrong\n");
  EXPECT_EQ(runner.run(inputs_).status().code(), StatusCode::invalid_argument);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(SplitRunner::create(runtime_, "fragile:0;nosuch:1", program(), kTypes).status().code(),
            StatusCode::not_found);
  EXPECT_EQ(SplitRunner::create(runtime_, "fragile:0;;", program(), kTypes).status().code(),
            StatusCode::invalid_argument);
  const Program total =
      Program::from_tile({"t", "function (A[N]) -> (S) { S[] = +(A[i]); }"}).value();
  const SplitRunner cannot =
      SplitRunner::create(runtime_, "fragile:0;fragile:1", total, {{"A", {DataType::fp32, {4}}}})
          .value();
  EXPECT_EQ(cannot.prepare().status().code(), StatusCode::unsupported);
  EXPECT_TRUE(cannot.losses().empty());
}

TEST_F(SplitRunnerTest, ThreadsThatMeetOneLossLeaveOneDeviceOut) {
  set_faults("1 submit 3 lost\n");
  const SplitRunner runner = make();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int n = 0; n < 10; ++n) {
        const Result<SplitResult> result = runner.run(inputs_);
        right += result.ok();
        if (!result.ok()) ADD_FAILURE() << result.status().to_string();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
  for (const DeviceLoss& one : runner.losses()) EXPECT_EQ(one.device, "fragile:1");
  for (const DeviceLoss& one : runner.losses()) EXPECT_EQ(one.kept_out, 10s);
  EXPECT_THAT(run(runner), ElementsAre("fragile:0", "fragile:2"));
}

}  // namespace
}  // namespace stria
