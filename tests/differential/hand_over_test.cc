// SPDX-License-Identifier: Apache-2.0
// Generated programs on a device that is lost at a random submit: each must end, with the results
// that the interpreter gets, on a device behind it. Every third one loses the device in this
// process, the next the process of the device at a submit, the last that process at any moment.
//   STRIA_HAND_OVER_SEED=<seed> STRIA_HAND_OVER_PROGRAMS=1 hand_over_test
// runs the programs from that seed on.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "case_tensors.h"
#include "stria/base/status.h"
#include "stria/runtime/check.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/program_runner.h"
#include "tile_case.h"

namespace stria::differential {
namespace {

namespace fs = std::filesystem;

const uint64_t kPrograms = number_from("STRIA_HAND_OVER_PROGRAMS", 60);
const uint64_t kSeed = number_from("STRIA_HAND_OVER_SEED", 1);
constexpr GeneratorOptions kChains = {2, 8, 90, 80};

enum Way { in_process, at_a_submit, at_any_moment, kWays };

// Processes that this one has started and not waited for.
std::vector<pid_t> children() {
  std::vector<pid_t> out;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t child; list >> child;) out.push_back(child);
  }
  return out;
}

class HandOverTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stria_hand_over_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Runtime runtime() const {
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/test_plugins"};
    options.only_plugin_paths = true;
    options.only_plugins = {"fragile"};
    options.plugin_options["fragile"] = "{\"faults\": \"" + (folder_ / "faults").string() + "\"}";
    options.probe_plugins = false;
    options.wait_limit_ns = 20'000'000'000;
    return Runtime(options);
  }
  // What is wrong, or "".
  std::string run_one(uint64_t seed, Way way);

  fs::path folder_;
  uint64_t handed_over_[kWays] = {}, programs_[kWays] = {};
};

std::string HandOverTest::run_one(uint64_t seed, Way way) {
  std::mt19937_64 random(seed);
  const GeneratedProgram generated = generate(seed, kChains);
  const auto program = Program::from_tile({"generated", generated.tile_text()});
  if (!program.ok()) return program.status().to_string();
  const auto generic = lower_program(*program, types_of(generated));
  if (!generic.ok()) return generic.status().to_string();
  std::vector<HostTensor> inputs, before;
  for (size_t n = 0; n < generated.inputs.size(); ++n) {
    inputs.push_back(tensor_of(generated.inputs[n], &generated.input_values[n]));
    before.push_back(inputs.back().clone().value());
  }
  // The first device, and at times the one behind it too, is lost at one of the kernels.
  std::ofstream faults(folder_ / "faults");
  const size_t kernels = std::max<size_t>(1, generic->generic.main()->stmts.size());
  const char* const what = way == in_process ? "lost" : "crash";
  if (way != at_any_moment) {
    faults << "0 submit " << random() % kernels << " " << what << "\n";
    if (random() % 4 == 0) faults << "1 submit " << random() % kernels << " " << what << "\n";
  } else {
    faults << "0 work 0 slow\n";
  }
  faults.close();
  const Runtime runtime = this->runtime();
  const std::string devices = "fragile:0, fragile:1, fragile:2";
  const auto runner = ProgramRunner::create(
      runtime, way == in_process ? devices : "isolated:" + devices, *program, types_of(generated));
  if (!runner.ok()) return runner.status().to_string();
  std::thread killer;
  if (way == at_any_moment) {
    if (const auto ready = runner->prepare(); !ready.ok()) return ready.status().to_string();
    killer = std::thread([wait = std::chrono::microseconds(random() % 30'000)] {
      std::this_thread::sleep_for(wait);
      for (const pid_t child : children()) ::kill(child, SIGKILL);
    });
  }
  const Result<RunResult> result = runner->run(inputs);
  if (killer.joinable()) killer.join();
  ++programs_[way];
  handed_over_[way] += runner->handed_over();
  if (!result.ok()) return result.status().to_string();
  for (size_t n = 0; n < inputs.size(); ++n)
    if (inputs[n].bytes() != before[n].bytes()) return fmt::format("input {} has changed", n);
  if (way != at_any_moment && runner->handed_over() == 0) return "no device was lost";
  const auto checks = check_outputs(*generic, inputs, result->outputs, std::nullopt);
  if (!checks.ok()) return checks.status().to_string();
  for (const OutputCheck& check : *checks)
    if (!check.report.passed()) return check.report.worst_text;
  return "";
}

TEST_F(HandOverTest, ProgramsEndRightWithADeviceLostAtARandomSubmit) {
  uint64_t right = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t n = 0; n < kPrograms; ++n) {
    const uint64_t seed = kSeed + n;
    const std::string wrong = run_one(seed, static_cast<Way>(seed % kWays));
    right += wrong.empty();
    EXPECT_EQ(wrong, "") << "STRIA_HAND_OVER_SEED=" << seed
                         << " STRIA_HAND_OVER_PROGRAMS=1 hand_over_test";
    if (n + 1 - right >= 5) break;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%lu of %lu programs end right, in %.1f s\n"
      "lost in this process: %lu programs, %lu hand-overs\n"
      "process ended at a submit: %lu programs, %lu hand-overs\n"
      "process killed at any moment: %lu programs, %lu hand-overs\n",
      right, kPrograms, took.count(), programs_[in_process], handed_over_[in_process],
      programs_[at_a_submit], handed_over_[at_a_submit], programs_[at_any_moment],
      handed_over_[at_any_moment]);
  EXPECT_EQ(right, kPrograms);
  if (kPrograms >= 60) {
    EXPECT_GT(handed_over_[at_any_moment], programs_[at_any_moment] / 4);
  }
}

}  // namespace
}  // namespace stria::differential
