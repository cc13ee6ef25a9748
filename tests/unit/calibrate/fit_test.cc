// SPDX-License-Identifier: Apache-2.0
// Times that a model predicts, fitted by another model, lead back to the first one's predictions.
#include "stria/calibrate/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stria/cost/kernel/kernel_time.h"
#include "stria/stripe/text/parser.h"

namespace stria::calibrate {
namespace {

constexpr const char* kModel = R"({"clock_mhz": 2000, "launch_us": 1, "source": "estimate",
  "mem_units": {
    "DRAM": {"count": 1, "size_KiB": 1048576, "policy": "managed"},
    "L1": {"count": 2, "size_KiB": 32, "line_bytes": 64, "policy": "lru"},
    "L2": {"count": 2, "size_KiB": 512, "line_bytes": 64, "policy": "lru"}},
  "exec_units": {"CORE": {"count": 2, "vector_bytes": 32, "vector_registers": 16,
    "fma_latency_cycles": 4, "source": "estimate",
    "rates": {"fp32": {"ops_per_cycle": 32,
                       "read_bytes_per_cycle": {"L1": 64, "L2": 32, "DRAM": 8}}}}}})";

HardwareModel model() {
  auto out = load_hardware_model({"m.json", kModel});
  EXPECT_TRUE(out.ok()) << out.status().to_string();
  return std::move(out).value();
}

// A kernel of n rows of vectors, each computed `slow` times by a function of 16 instructions.
MeasuredKernel kernel(int64_t rows, int slow) {
  const std::string n = std::to_string(rows);
  std::string text =
      "stripe 1.0\n0: #program block [] (\n    none new@0x00000000 A[0, 0] fp32(" + n +
      ":64, 64:1)\n    none new@0x00000000 C[0, 0] fp32(" + n +
      ":64, 64:1)\n) {\n  0: #main block [] (\n      in A[0, 0] fp32(" + n +
      ":64, 64:1)\n      out C[0, 0] fp32(" + n +
      ":64, 64:1)\n  ) {\n    0: #kernel #parallel block<CORE> [i:" + n +
      "] (in A[i, 0] fp32(1:64, 64:1), out C[i, 0] fp32(1:64, 64:1)) {\n"
      "      0: block [j:8] (in A[0, 8*j] fp32(1:64, 8:1), out C[0, 8*j] fp32(1:64, "
      "8:1)) {\n        0: #vector block [v:8] (in A[0, v] fp32(1:64, 1:1), out C[0, "
      "v] fp32(1:64, 1:1)) {\n          0: $x0 = load(A)\n";
  for (int s = 0; s < slow; ++s)
    text += "          " + std::to_string(s + 1) + ": $x" + std::to_string(s + 1) +
            " = exp.fp32($x" + std::to_string(s) + ")\n";
  text += "          " + std::to_string(slow + 1) + ": C = store($x" + std::to_string(slow) +
          ")\n        }\n      }\n    }\n  }\n}\n";
  const auto program = stripe::parse({"kernel", text});
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  return {n + " rows, " + std::to_string(slow),
          cost::kernel_nest(*program->main(), *program->main()->stmts[0].block()), 0};
}

std::vector<MeasuredKernel> measured_on(const HardwareModel& machine) {
  std::vector<MeasuredKernel> out;
  for (const int64_t rows : {16, 100, 700, 5000, 40000})
    for (const int slow : {0, 1, 4}) {
      out.push_back(kernel(rows, slow));
      const auto time = cost::kernel_time(out.back().nest, machine);
      EXPECT_TRUE(time.has_value());
      out.back().seconds = time ? time->seconds : 1;
    }
  return out;
}

TEST(Fit, LeadsBackToTheMachine) {
  HardwareModel machine = model();
  machine.launch_us = 6;
  machine.executors[0].calibration.core.kernel_function_factor = 0.4;
  machine.executors[0].calibration.core.kernel_part_cycles = 9000;
  machine.executors[0].rates[DataType::fp32].read_bytes_per_cycle["DRAM"] = 3;
  const std::vector<MeasuredKernel> kernels = measured_on(machine);
  HardwareModel fitted = model();
  const FitError before = error_of(fitted, kernels);
  EXPECT_LT(before.within, 0.6);
  fit(fitted, numbers_to_fit(fitted, kernels, false), kernels);
  const FitError after = error_of(fitted, kernels);
  EXPECT_GT(after.within, 0.95);
  EXPECT_LT(after.median_factor, 1.06);
}

// Of a memory that the model gives no rate of.
TEST(Fit, FindsRatesThatNothingSays) {
  std::string text = kModel;
  const std::string rate = ", \"DRAM\": 8";
  text.erase(text.find(rate), rate.size());
  auto machine = load_hardware_model({"m.json", text});
  ASSERT_TRUE(machine.ok()) << machine.status().to_string();
  // Each row is a part; parts alone would decide.
  machine->executors[0].calibration.core.kernel_part_cycles = 0;
  HardwareModel slower = *machine, fitted = *machine;
  slower.executors[0].calibration.core.next_memory_part = 0.04;
  const std::vector<MeasuredKernel> kernels = measured_on(slower);
  EXPECT_LT(error_of(fitted, kernels).within, 0.8);
  fit(fitted, numbers_to_fit(fitted, kernels, false), kernels);
  EXPECT_GT(error_of(fitted, kernels).within, 0.95);
  // Nearer to the machine's 0.04 than to the default, from which nothing moves for little.
  EXPECT_LT(fitted.executors[0].calibration.core.next_memory_part, std::sqrt(0.04 / 6));
}

TEST(Fit, LeavesAModelThatIsRightAsItIs) {
  const std::vector<MeasuredKernel> kernels = measured_on(model());
  HardwareModel fitted = model();
  const auto numbers = numbers_to_fit(fitted, kernels, false);
  fit(fitted, numbers, kernels);
  HardwareModel right = model();
  for (const FittedNumber& number : numbers)
    EXPECT_EQ(number.in(fitted), number.in(right)) << number.pointer;
}

TEST(Fit, StaysWithinTheLimitsOfEachNumber) {
  HardwareModel machine = model();
  std::vector<MeasuredKernel> kernels = measured_on(machine);
  for (MeasuredKernel& kernel : kernels) kernel.seconds *= 1e6;  // no machine is like that
  const auto numbers = numbers_to_fit(machine, kernels, true);
  fit(machine, numbers, kernels);
  for (const FittedNumber& number : numbers) {
    EXPECT_GE(number.in(machine), number.lowest) << number.pointer;
    EXPECT_LE(number.in(machine), number.highest) << number.pointer;
  }
}

// Rates that the device has measured stay, unless they are asked for.
TEST(Fit, TakesMeasuredRatesAsTheyAre) {
  std::string text = kModel;
  for (size_t at; (at = text.find("estimate")) != std::string::npos;)
    text.replace(at, 8, "measured");
  const auto measured = load_hardware_model({"m.json", text});
  ASSERT_TRUE(measured.ok()) << measured.status().to_string();
  const std::vector<MeasuredKernel> kernels = measured_on(*measured);
  const auto has_rates = [&](bool asked) {
    for (const FittedNumber& number : numbers_to_fit(*measured, kernels, asked))
      if (number.pointer.find("/rates/") != std::string::npos) return true;
    return false;
  };
  EXPECT_FALSE(has_rates(false));
  EXPECT_TRUE(has_rates(true));
}

// Of "12 bytes for each unit" the number of units is the device's, and the 12 are a guess.
TEST(Fit, FitsWhatTheModelGuessesForEachUnitOfTheDevice) {
  const auto fitted = [](const std::string& rate) {
    const auto of_groups = load_hardware_model(
        {"m.json", R"({"clock_mhz": 1000, "mem_units": {
          "DRAM": {"size_KiB": 1000000, "read_bytes_per_cycle": )" +
                       rate + R"(, "source": {"read_bytes_per_cycle": "estimate: common"}},
          "CACHE": {"size_KiB": 2000, "policy": "lru", "latency_cycles": 400}},
          "exec_units": {"CU": {"ops_per_cycle": 128, "op": "mac", "max_threads": 2048}}})"},
        {},
        R"({"exec_units": {"CU": {"count": 100}}, "mem_units": {"DRAM": {"read_bytes_per_cycle": 777}}})");
    EXPECT_TRUE(of_groups.ok()) << of_groups.status().to_string();
    MeasuredKernel kernel;
    cost::NestLoop loop;
    loop.unit = "CU", loop.parallel = true, loop.range = 100;
    kernel.nest.loops.push_back(loop);
    kernel.seconds = 1e-4;
    for (const FittedNumber& number : numbers_to_fit(*of_groups, {kernel}, false))
      if (number.pointer == "/mem_units/DRAM/read_bytes_per_cycle") return true;
    return false;
  };
  EXPECT_TRUE(fitted("{{ 12 * (device.exec_units.CU.count | default(8)) }}"));
  EXPECT_FALSE(fitted("{{ device.mem_units.DRAM.read_bytes_per_cycle | default(1200) }}"));
}

}  // namespace
}  // namespace stria::calibrate
