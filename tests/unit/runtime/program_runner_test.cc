// SPDX-License-Identifier: Apache-2.0
// Devices that fail hand their runs over: with the same inputs, with right results, never in
// silence. The devices are those of tests/plugins/fragile.
#include "stria/runtime/program_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include "stria/base/status.h"
#include "stria/runtime/run_failure.h"

namespace stria {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

// Two kernels, and a constant of no meaning but that its memory is asked for.
constexpr const char* kText = "function f(A[N], B[N]) -> (R, S) { R = A * B + 1; S[] = +(R[i]); }";
const InputTypes kTypes = {{"A", {DataType::fp32, {4}}}, {"B", {DataType::fp32, {4}}}};
constexpr uint64_t kWaitLimit = 150'000'000;

class ProgramRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stria_runner_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    if (const char* before = std::getenv("XDG_CACHE_HOME")) cache_before_ = before;
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    runtime_ = make_runtime();
    program_ = Program::from_tile({"f.tile", kText}).value();
    for (const float first : {1.0f, 10.0f}) {
      HostTensor tensor = HostTensor::create(DataType::fp32, {4}, "input").value();
      for (int i = 0; i < 4; ++i)
        reinterpret_cast<float*>(tensor.data())[i] = first + static_cast<float>(i);
      inputs_.push_back(std::move(tensor));
    }
  }
  void TearDown() override {
    cache_before_ ? ::setenv("XDG_CACHE_HOME", cache_before_->c_str(), 1)
                  : ::unsetenv("XDG_CACHE_HOME");
    fs::remove_all(folder_);
  }

  Runtime make_runtime() {
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/test_plugins"};
    options.only_plugin_paths = true;
    options.only_plugins = {"fragile", "failing"};
    options.plugin_options["fragile"] = "{\"faults\": \"" + faults_file() + "\"}";
    options.wait_limit_ns = kWaitLimit;
    options.probe_plugins = false;
    options.log = [this](LogLevel level, std::string_view line) {
      const std::lock_guard lock(mutex_);
      if (level >= LogLevel::warning) log_ += std::string(line) + "\n";
    };
    return Runtime(options);
  }
  std::string faults_file() const { return (folder_ / "faults").string(); }
  // What the devices do from now on: lines as tests/plugins/fragile/plugin.cc has them.
  void set_faults(const std::string& lines) const {
    std::ofstream(folder_ / "next") << lines;
    fs::rename(folder_ / "next", faults_file());
  }

  RunnerOptions options() {
    RunnerOptions out;
    out.first_wait = 10s;
    out.longest_wait = 60s;
    out.clock = [this] { return std::chrono::steady_clock::time_point(seconds_.load() * 1s); };
    out.on_hand_over = [this](const HandOver& one) {
      const std::lock_guard lock(mutex_);
      told_.push_back(one);
    };
    return out;
  }
  ProgramRunner make(const std::string& selector = "fragile:0, fragile:1, fragile:2") {
    return ProgramRunner::create(runtime_, selector, program_, kTypes, options()).value();
  }
  // Where it has run. The results are right and the inputs as they were, or this fails.
  std::string run(const ProgramRunner& runner) {
    const Result<RunResult> result = runner.run(inputs_);
    if (!result.ok()) return result.status().to_string();
    EXPECT_EQ(result->outputs.size(), 2u);
    const auto* const r = reinterpret_cast<const float*>(result->outputs[0].data());
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
      const float expected = static_cast<float>((1 + i) * (10 + i) + 1);
      EXPECT_EQ(r[i], expected) << i;
      EXPECT_EQ(reinterpret_cast<const float*>(inputs_[1].data())[i], static_cast<float>(10 + i));
      sum += expected;
    }
    EXPECT_EQ(*reinterpret_cast<const float*>(result->outputs[1].data()), sum);
    return result->device;
  }

  // Which devices `auto` would take in another process, in words.
  std::string quarantined() {
    std::string out;
    for (const DeviceVerdict& one : make_runtime().select("auto").value().devices)
      if (one.quarantine) out += one.device.selector + ": " + one.quarantine->why + "\n";
    return out;
  }

  fs::path folder_;
  std::optional<std::string> cache_before_;
  std::mutex mutex_;
  std::string log_;              // guarded by mutex_
  std::vector<HandOver> told_;   // likewise
  std::atomic<int> seconds_{0};  // what the runner's clock says
  Runtime runtime_;
  Program program_;
  std::vector<HostTensor> inputs_;
};

TEST_F(ProgramRunnerTest, RunsOnTheFirstDevice) {
  const ProgramRunner runner = make();
  EXPECT_THAT(runner.devices(), ElementsAre("fragile:0", "fragile:1", "fragile:2"));
  EXPECT_EQ(runner.inputs()[1].name, "B");
  EXPECT_EQ(runner.outputs()[0].sizes, (std::vector<int64_t>{4}));
  EXPECT_EQ(run(runner), "fragile:0");
  EXPECT_EQ(run(runner), "fragile:0");
  EXPECT_EQ(runner.handed_over(), 0u);
  EXPECT_EQ(log_, "");
}

struct Fault {
  const char *place, *what;
  RunStage stage;
  StatusCode code;
  const char* said;
};

TEST_F(ProgramRunnerTest, WhateverFailsGoesOnWithTheNext) {
  const Fault faults[] = {
      {"open 0", "gone", RunStage::open, StatusCode::not_found, "fragile:0 cannot be opened: "},
      {"open 0", "memory", RunStage::open, StatusCode::out_of_memory,
       "fragile:0 is out of memory: "},
      {"build 0", "lost", RunStage::compile, StatusCode::device_lost, "fragile:0 is lost: "},
      {"build 0", "refused", RunStage::compile, StatusCode::unsupported,
       "fragile:0 cannot take the program: "},
      // Of the two inputs, the two results and what lies between.
      {"allocate 0", "memory", RunStage::run, StatusCode::out_of_memory,
       "fragile:0 is out of memory: "},
      {"allocate 2", "memory", RunStage::run, StatusCode::out_of_memory,
       "fragile:0 is out of memory: "},
      {"allocate 1", "lost", RunStage::run, StatusCode::device_lost, "fragile:0 is lost: "},
      // Two inputs are written, two results are read.
      {"map 0", "lost", RunStage::run, StatusCode::device_lost, "fragile:0 is lost: "},
      {"map 1", "lost", RunStage::run, StatusCode::device_lost, "fragile:0 is lost: "},
      {"map 2", "lost", RunStage::run, StatusCode::device_lost, "fragile:0 is lost: "},
      {"map 3", "lost", RunStage::run, StatusCode::device_lost, "fragile:0 is lost: "},
      {"submit 0", "lost", RunStage::run, StatusCode::device_lost, "fragile:0 is lost: "},
      {"submit 1", "lost", RunStage::run, StatusCode::device_lost, "fragile:0 is lost: "},
      {"submit 0", "broken", RunStage::run, StatusCode::data_loss, "fragile:0 fails: "},
      {"work 0", "lost", RunStage::run, StatusCode::device_lost, "fragile:0 is lost: "},
      {"work 1", "lost", RunStage::run, StatusCode::device_lost, "fragile:0 is lost: "},
      {"work 1", "memory", RunStage::run, StatusCode::out_of_memory,
       "fragile:0 is out of memory: "},
      {"work 0", "hang", RunStage::run, StatusCode::deadline_exceeded,
       "fragile:0 does not end in time: "},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(std::string(fault.place) + " " + fault.what);
    set_faults(std::string("0 ") + fault.place + " " + fault.what + "\n");
    log_.clear();
    told_.clear();
    fs::remove_all(folder_ / "cache");  // what is known of the device before is another test's
    runtime_ = make_runtime();
    const ProgramRunner runner = make();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(run(runner), "fragile:1");
    // One limit, not one for each thing that could have been waited for; and none at the end.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 800ms);
    ASSERT_EQ(told_.size(), 1u);
    EXPECT_EQ(told_[0].device, "fragile:0");
    EXPECT_EQ(told_[0].next, "fragile:1");
    EXPECT_EQ(told_[0].stage, fault.stage);
    EXPECT_EQ(told_[0].why.code(), fault.code) << told_[0].why.message();
    EXPECT_EQ(told_[0].for_good, std::string(fault.what) == "refused");
    EXPECT_EQ(told_[0].kept_out, 10s);
    EXPECT_THAT(told_[0].text, AllOf(HasSubstr(fault.said), HasSubstr("; going on with fragile:1"),
                                     Not(HasSubstr("\n"))));
    EXPECT_EQ(log_, told_[0].text + "\n");
    EXPECT_EQ(runner.handed_over(), 1u);
    ASSERT_EQ(runner.hand_overs().size(), 1u);
    EXPECT_EQ(runner.hand_overs()[0].text, told_[0].text);
    // It is remembered.
    EXPECT_EQ(run(runner), "fragile:1");
    EXPECT_EQ(told_.size(), 1u);
  }
}

TEST_F(ProgramRunnerTest, GoesOnUntilOneIsWell) {
  set_faults("0 open 0 gone\n1 work 1 lost\n");
  const ProgramRunner runner = make();
  EXPECT_EQ(run(runner), "fragile:2");
  EXPECT_EQ(runner.handed_over(), 2u);
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[0].next, "fragile:1");
  EXPECT_EQ(told_[1].device, "fragile:1");
  EXPECT_EQ(told_[1].next, "fragile:2");
}

TEST_F(ProgramRunnerTest, AFailedDeviceIsTriedAgainAfterATimeThatDoubles) {
  set_faults("0 submit 0 lost\n");
  const ProgramRunner runner = make();
  // From the failures that the first device has had, how long it is kept out.
  for (const int wait : {10, 20, 40, 60, 60}) {
    EXPECT_EQ(run(runner), "fragile:1");
    EXPECT_EQ(told_.back().kept_out, wait * 1s);
    const size_t told = told_.size();
    seconds_ += wait - 1;
    EXPECT_EQ(run(runner), "fragile:1");
    EXPECT_EQ(told_.size(), told) << "tried before its time";
    seconds_ += 1;
  }
  EXPECT_EQ(runner.handed_over(), 5u);
  // It is well again, and then it begins anew.
  set_faults("");
  EXPECT_EQ(run(runner), "fragile:0");
  EXPECT_EQ(run(runner), "fragile:0");
  set_faults("0 work 0 lost\n");
  EXPECT_EQ(run(runner), "fragile:1");
  EXPECT_EQ(told_.back().kept_out, 10s);
}

TEST_F(ProgramRunnerTest, WhatCannotTakeTheProgramIsNotTriedAgain) {
  set_faults("0 build 0 refused\n");
  const ProgramRunner runner = make();
  EXPECT_EQ(run(runner), "fragile:1");
  set_faults("");
  seconds_ += 100'000;
  EXPECT_EQ(run(runner), "fragile:1");
  EXPECT_EQ(runner.handed_over(), 1u);
  EXPECT_EQ(runner.prepare().value(), "fragile:1");
}

TEST_F(ProgramRunnerTest, DevicesThatAreKeptOutAreTriedBeforeARunFails) {
  set_faults("0 work 0 lost\n");
  const ProgramRunner runner = make("fragile:0, fragile:1");
  EXPECT_EQ(run(runner), "fragile:1");
  set_faults("1 work 0 lost\n");
  EXPECT_EQ(run(runner), "fragile:0");
  EXPECT_THAT(told_.back().text, HasSubstr("fragile:1 is lost"));
  EXPECT_EQ(told_.back().next, "fragile:0");
  // That was no mistake: it stays the first.
  EXPECT_EQ(run(runner), "fragile:0");
  EXPECT_EQ(runner.handed_over(), 2u);
}

TEST_F(ProgramRunnerTest, NothingLeftNamesEachDeviceWithItsReason) {
  set_faults("0 open 0 gone\n1 build 0 refused\n2 submit 0 lost\n");
  const ProgramRunner runner = make("fragile:0, fragile:1, fragile:2, failing:0, kind:fragile");
  const Status none = runner.run(inputs_).status();
  EXPECT_EQ(none.code(), StatusCode::unavailable);
  EXPECT_THAT(
      none.message(),
      AllOf(HasSubstr("no device is left of 'fragile:0,fragile:1,fragile:2,failing:0,kind:fragile' "
                      "that runs 'f':"),
            HasSubstr("\n  fragile:0 cannot be opened: "),
            HasSubstr("\n  fragile:1 cannot take the program: "),
            HasSubstr("\n  fragile:2 is lost: "),
            HasSubstr("\n  failing:0: 'kind:fragile': its kind is 'good'")));
  EXPECT_EQ(runner.handed_over(), 2u);
  // The second one is not tried again, and named all the same.
  const Status again = runner.run(inputs_).status();
  EXPECT_THAT(again.message(), HasSubstr("\n  fragile:1 cannot take the program: "));
  EXPECT_EQ(runner.handed_over(), 3u);
}

// All that a device lacks, in one line that no text of a plugin breaks.
TEST(WhatHappened, ToldWithAllItsLines) {
  const auto told = [](const char* text) {
    return what_happened("a:0", RunStage::compile, unsupported("{}", text));
  };
  EXPECT_EQ(told("it lacks i64, which is needed by:\n  Cast 'a'\n  Abs 'b'\nfp16:\n  Sin 's'\n"),
            "a:0 cannot take the program: it lacks i64, which is needed by: Cast 'a', Abs 'b'; "
            "fp16: Sin 's'");
  EXPECT_EQ(told("\n\n  one\x1b[31m\n"), "a:0 cannot take the program: one\\x1b[31m");
}

TEST_F(ProgramRunnerTest, ReasonsThatAgreeGiveTheirCode) {
  set_faults("0 build 0 refused\n1 build 0 refused\n");
  const Status none = make("fragile:0, fragile:1").run(inputs_).status();
  EXPECT_EQ(none.code(), StatusCode::unsupported) << none.message();
}

TEST_F(ProgramRunnerTest, OneNameIsADemand) {
  set_faults("0 submit 0 lost\n");
  const ProgramRunner runner = make("fragile");
  EXPECT_THAT(runner.devices(), ElementsAre("fragile:0"));
  const Status lost = runner.run(inputs_).status();
  EXPECT_EQ(lost.code(), StatusCode::device_lost);
  EXPECT_THAT(lost.message(), Not(HasSubstr("no device is left")));
  EXPECT_EQ(runner.handed_over(), 0u);
  set_faults("");
  EXPECT_EQ(run(runner), "fragile:0");
}

TEST_F(ProgramRunnerTest, MistakesOfTheCallerHandNothingOver) {
  const ProgramRunner runner = make();
  const auto wrong = [&](std::vector<HostTensor> inputs) {
    const Status status = runner.run(inputs).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    return status.message();
  };
  std::vector<HostTensor> inputs;
  EXPECT_EQ(wrong({}), "'f' has 2 inputs, got 0");
  inputs.push_back(inputs_[0].clone().value());
  inputs.push_back(HostTensor::create(DataType::fp32, {5}, "B").value());
  EXPECT_EQ(wrong(std::move(inputs)),
            "'f': input 'B' is fp32[5], the program was compiled for fp32[4]");
  set_faults("0 submit 0 wrong\n");
  EXPECT_EQ(runner.run(inputs_).status().code(), StatusCode::invalid_argument);

  RunnerOptions broken = options();
  broken.compile.pipeline = SourceText{"mine.json", "[{\"no_such_pass\": {}}]"};
  const Result<ProgramRunner> made =
      ProgramRunner::create(runtime_, "fragile:0, fragile:1", program_, kTypes, broken);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->run(inputs_).status().code(), StatusCode::invalid_argument);

  EXPECT_EQ(ProgramRunner::create(runtime_, "fragile:0,,", program_, kTypes).status().code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(ProgramRunner::create(runtime_, "auto", program_, {}).status().code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(ProgramRunner::create(runtime_, "fragile:7, nobody", program_, kTypes).status().code(),
            StatusCode::not_found);
  EXPECT_EQ(told_.size(), 0u);
}

TEST_F(ProgramRunnerTest, ALossIsKeptForLaterProcesses) {
  // Whatever else goes wrong is no loss.
  for (const char* fault : {"0 build 0 refused\n", "0 work 1 memory\n", "0 submit 0 broken\n"}) {
    set_faults(fault);
    EXPECT_EQ(run(make()), "fragile:1");
    EXPECT_EQ(quarantined(), "") << fault;
  }
  for (const char* fault : {"0 build 0 lost\n", "0 work 1 lost\n", "0 map 0 lost\n"}) {
    set_faults(fault);
    EXPECT_EQ(run(make()), "fragile:1");
    EXPECT_THAT(quarantined(), HasSubstr("fragile:0: ")) << fault;
    EXPECT_THAT(quarantined(), Not(HasSubstr("fragile:1"))) << fault;
    // Another process does without it, and says so.
    set_faults("");
    runtime_ = make_runtime();
    log_.clear();
    const ProgramRunner others = make("auto, fragile");
    EXPECT_THAT(others.devices(), ElementsAre("fragile:1", "fragile:2", "fragile:3"));
    EXPECT_THAT(log_, HasSubstr("'auto,fragile' passes over fragile:0: quarantine: lost "));
    // Who names it takes it as it is, and is told. A preparation shows nothing of it.
    log_.clear();
    const ProgramRunner named = make("fragile:0");
    EXPECT_THAT(log_, HasSubstr("fragile:0: in quarantine: lost "));
    EXPECT_TRUE(named.prepare().ok());
    EXPECT_NE(quarantined(), "") << fault;
    EXPECT_EQ(run(named), "fragile:0");
    EXPECT_EQ(quarantined(), "") << fault;
  }
}

TEST_F(ProgramRunnerTest, NothingIsLeftButWhatIsInQuarantine) {
  set_faults("0 work 0 lost\n");
  EXPECT_FALSE(make("fragile:0").run(inputs_).ok());
  const Status none = ProgramRunner::create(runtime_, "auto, fragile:0", program_, kTypes).status();
  EXPECT_EQ(none.code(), StatusCode::unavailable);
  EXPECT_THAT(none.message(), HasSubstr("fragile:0: quarantine: lost "));
}

TEST_F(ProgramRunnerTest, ARuntimeMayDoWithoutHistory) {
  set_faults("0 work 0 lost\n");
  const auto forgetful = [&] {
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/test_plugins"};
    options.only_plugin_paths = true;
    options.only_plugins = {"fragile"};
    options.plugin_options["fragile"] = "{\"faults\": \"" + faults_file() + "\"}";
    options.probe_plugins = false;
    options.device_history = false;
    return Runtime(options);
  };
  const Runtime runtime = forgetful();
  const auto lose = [&](const Runtime& on) {
    return ProgramRunner::create(on, "fragile:0", program_, kTypes).value().run(inputs_).status();
  };
  EXPECT_EQ(lose(runtime).code(), StatusCode::device_lost);
  EXPECT_EQ(quarantined(), "");
  EXPECT_EQ(lose(runtime_).code(), StatusCode::device_lost);
  EXPECT_NE(quarantined(), "");
  EXPECT_TRUE(runtime.select("auto").value().devices[0].kept());
}

TEST_F(ProgramRunnerTest, TakesTheOrderOfAPick) {
  set_faults("0 submit 0 lost\n");
  const Pick pick = runtime_.pick("fragile:0, fragile:3", program_, kTypes).value();
  const ProgramRunner runner =
      ProgramRunner::create(runtime_, pick, program_, kTypes, options()).value();
  EXPECT_THAT(runner.devices(), ElementsAre("fragile:0", "fragile:3"));
  EXPECT_EQ(run(runner), "fragile:3");
  Pick none = pick;
  none.selection.order.clear();
  for (DeviceVerdict& one : none.selection.devices)
    one.objections.push_back({Gate::limit, std::nullopt, "it is too slow"});
  const Status dropped = ProgramRunner::create(runtime_, none, program_, kTypes).status();
  EXPECT_EQ(dropped.code(), StatusCode::unsupported);
  EXPECT_THAT(dropped.message(), HasSubstr("it is too slow"));
}

TEST_F(ProgramRunnerTest, ManyThreadsLoseADeviceOnce) {
  constexpr int kThreads = 8, kRuns = 25;
  const ProgramRunner runner = make();
  std::atomic<int> right{0};
  std::atomic<bool> broken{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRuns; ++i) {
        if (t == 0 && i == kRuns / 2 && !broken.exchange(true)) set_faults("0 submit 0 lost\n");
        const std::string device = run(runner);
        right += device == "fragile:0" || device == "fragile:1";
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kRuns);
  // Runs that were under way are handed over one by one; the device has failed once.
  EXPECT_GE(runner.handed_over(), 1u);
  EXPECT_LE(runner.handed_over(), static_cast<uint64_t>(kThreads));
  for (const HandOver& one : told_) EXPECT_EQ(one.kept_out, 10s);
  EXPECT_EQ(run(runner), "fragile:1");
}

// The device that hangs is dropped at once, and its plugin ends when the work has.
TEST_F(ProgramRunnerTest, NobodyWaitsForWhatHangs) {
  set_faults("0 work 0 hang\n");
  const auto begin = std::chrono::steady_clock::now();
  {
    const ProgramRunner runner = make();
    EXPECT_EQ(run(runner), "fragile:1");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 800ms);
  while (!runtime_.shutdown().ok() && std::chrono::steady_clock::now() - begin < 10s)
    std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(runtime_.shutdown().ok());
}

TEST_F(ProgramRunnerTest, ARuntimeThatHasEndedIsNoFailureOfDevices) {
  const ProgramRunner runner = make();
  EXPECT_TRUE(runtime_.shutdown().ok());
  EXPECT_EQ(runner.run(inputs_).status().code(), StatusCode::failed_precondition);
  EXPECT_EQ(runner.handed_over(), 0u);
}

}  // namespace
}  // namespace stria
