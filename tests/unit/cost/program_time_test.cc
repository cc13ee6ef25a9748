// SPDX-License-Identifier: Apache-2.0
// Times of whole programs: sums of kernels with their intervals, and bounds by hand.
#include "stria/cost/program/program_time.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stria/base/status.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

// `kernels`: of a main with A, B, T and C of 64 x 64 fp32, T a temporary.
stripe::Program program_of(const std::string& kernels) {
  Result<stripe::Program> program = stripe::parse({"p", R"(
0: #program block [] (
    none new@0x0 A[0, 0] fp32(64:64, 64:1)
    none new@0x0 B[0, 0] fp32(64:64, 64:1)
    none new@0x0 C[0, 0] fp32(64:64, 64:1)
) {
  0: #main block [] (
      in A[0, 0] fp32(64:64, 64:1)
      in B[0, 0] fp32(64:64, 64:1)
      out C[0, 0] fp32(64:64, 64:1)
      none new@0x0 T[0, 0] fp32(64:64, 64:1)
  ) {
)" + kernels + "  }\n}\n"});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  return *std::move(program);
}

std::string product(int at, const std::string& from, const std::string& into) {
  return fmt::format("    {}: ", at) + R"(#kernel block [i:64, j:64, k:64] ( // product_)" + into +
         R"(
        in )" +
         from + R"([i, k] fp32(1:64, 1:1)
        in B[k, j] fp32(1:64, 1:1)
        out )" +
         into + R"([i, j]:add fp32(1:64, 1:1)
    ) {
      0: $a = load()" +
         from + R"()
      1: $b = load(B)
      2: $p = mul($a, $b)
      3: )" +
         into + R"( = store($p)
    }
)";
}
std::string elementwise(int at, const std::string& from, const std::string& into) {
  return fmt::format("    {}: ", at) + R"(#kernel block [i:64, j:64] ( // elementwise
        in )" +
         from + R"([i, j] fp32(1:64, 1:1)
        out )" +
         into + R"([i, j] fp32(1:64, 1:1)
    ) {
      0: $a = load()" +
         from + R"()
      1: $b = add($a, $a)
      2: )" +
         into + R"( = store($b)
    }
)";
}

// 2 units of 32 multiply-adds in a cycle of 1 ns, 8 bytes in a cycle from memory, 64 from a cache.
HardwareModel machine(int64_t cache_kib = 0, double launch_us = 0) {
  const std::string cache =
      cache_kib == 0 ? ""
                     : fmt::format(R"(, "CACHE": {{"count": 1, "size_KiB": {}, "policy": "lru",
                                        "read_bytes_per_cycle": 64}})",
                                   cache_kib);
  const std::string text = fmt::format(
      R"({{"name": "m", "clock_mhz": 1000, "launch_us": {},
  "mem_units": {{"DRAM": {{"count": 1, "size_KiB": 1048576, "read_bytes_per_cycle": 8}}{}}},
  "exec_units": {{"CORE": {{"count": 2, "op": "mac", "ops_per_cycle": 32}}}}}})",
      launch_us, cache);
  Result<HardwareModel> model = load_hardware_model({"m.json", text});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return *std::move(model);
}

constexpr double kBytes = 64 * 64 * 4;

TEST(ProgramBound, IsOperationsOrBytes) {
  // 262,144 multiply-adds at 64 a cycle are 4,096 cycles; three tensors 49,152 bytes: 6,144 cycles.
  const stripe::Program one = program_of(product(0, "A", "C"));
  std::optional<TimeRange> bound = program_bound(one, machine());
  ASSERT_TRUE(bound);
  EXPECT_NEAR(bound->least, 6144e-9, 1e-12);
  EXPECT_NEAR(bound->seconds, 2 * bound->least, 1e-12);
  EXPECT_NEAR(bound->most, 4 * bound->least, 1e-12);
  // What fits into a cache comes from there: then the operations take longer.
  bound = program_bound(one, machine(256));
  EXPECT_NEAR(bound->least, 4096e-9, 1e-12);
  // All tensors together have 64 KiB.
  bound = program_bound(one, machine(48));
  EXPECT_NEAR(bound->least, 6144e-9, 1e-12);
}

// An elementwise kernel behind a product is part of it: what lies between is not moved.
TEST(ProgramBound, CountsGroupsOfKernels) {
  const stripe::Program one = program_of(product(0, "A", "T") + elementwise(1, "T", "C"));
  std::optional<TimeRange> bound = program_bound(one, machine(0, 100));
  ASSERT_TRUE(bound);
  EXPECT_NEAR(bound->least, 3 * kBytes / 8 * 1e-9 + 100e-6, 1e-12);
  // Two products are two launches, and the tensor between them goes out and in again.
  const stripe::Program two = program_of(product(0, "A", "T") + product(1, "T", "C"));
  bound = program_bound(two, machine(0, 100));
  EXPECT_NEAR(bound->least, 6 * kBytes / 8 * 1e-9 + 200e-6, 1e-12);
}

// Cores begin one after another: what is small, a few of them do.
TEST(ProgramBound, CountsTheStartOfCores) {
  const auto of = [](int cores, double core_cycles, double busy) {
    const std::string text = fmt::format(
        R"({{"name": "m", "clock_mhz": 1000,
  "mem_units": {{"DRAM": {{"count": 1, "size_KiB": 1048576, "read_bytes_per_cycle": 1000}}}},
  "exec_units": {{"CORE": {{"count": {}, "op": "mac", "ops_per_cycle": 64, "vector_bytes": 32,
    "vector_registers": 16,
    "calibration": {{"kernel_core_cycles": {}, "kernel_busy_factor": {}}}}}}}}})",
        cores, core_cycles, busy);
    const Result<HardwareModel> model = load_hardware_model({"m.json", text});
    STRIA_CHECK(model.ok(), "{}", model.status().to_string());
    return program_bound(program_of(product(0, "A", "C")), *model)->least * 1e9;
  };
  EXPECT_NEAR(of(1, 500, 2), 4096, 1e-3);
  EXPECT_NEAR(of(4, 100, 1), 1024 + 300, 1e-3);
  EXPECT_NEAR(of(4, 100, 1.5), 1024 * 1.5 + 300, 1e-3);
  EXPECT_NEAR(of(4, 1500, 1), 2048 + 1500, 1e-3);
  EXPECT_NEAR(of(4, 5000, 1), 4096, 1e-3);
  // Lanes of a machine that runs groups are no cores, though they have registers.
  const char* groups = R"({"name": "m", "clock_mhz": 1000,
  "mem_units": {"DRAM": {"count": 1, "size_KiB": 1048576, "read_bytes_per_cycle": 1000}},
  "exec_units": {"CU": {"count": 1, "op": "mac", "ops_per_cycle": 64, "max_threads": 128},
                 "LANE": {"count": 64, "vector_bytes": 16, "vector_registers": 16}}})";
  const Result<HardwareModel> model = load_hardware_model({"m.json", groups});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_NEAR(program_bound(program_of(product(0, "A", "C")), *model)->least * 1e9, 4096, 1e-3);
}

TEST(ProgramBound, IsNothingWithoutRates) {
  const std::string text = R"({"name": "m", "clock_mhz": 1000,
  "mem_units": {"DRAM": {"count": 1, "size_KiB": 1024}},
  "exec_units": {"CORE": {"count": 1}}})";
  const Result<HardwareModel> model = load_hardware_model({"m.json", text});
  ASSERT_TRUE(model.ok());
  EXPECT_FALSE(program_bound(program_of(product(0, "A", "C")), *model));
}

// Kernels that are wrong for common and for own reasons: the interval of a sum lies between.
TEST(ProgramTime, IntervalsOfSumsLieBetween) {
  const std::string text = R"({"name": "m", "clock_mhz": 1000,
  "mem_units": {"DRAM": {"count": 1, "size_KiB": 1048576}},
  "exec_units": {"CORE": {"count": 1, "vector_bytes": 32, "vector_registers": 16,
    "rates": {"fp32": {"ops_per_cycle": 32,
                       "read_bytes_per_cycle": {"DRAM": 8}}}}}})";
  const Result<HardwareModel> model = load_hardware_model({"m.json", text});
  ASSERT_TRUE(model.ok());
  const ProgramTime one = program_time(program_of(product(0, "A", "C")), *model);
  ASSERT_EQ(one.kernels.size(), 1u);
  ASSERT_TRUE(one.kernels[0].time);
  EXPECT_EQ(one.unknown, 0u);
  const PredictedTime& kernel = *one.kernels[0].time;
  EXPECT_NEAR(one.main.seconds, kernel.seconds, 1e-15);
  EXPECT_NEAR(one.main.least / kernel.least_seconds, 1, 1e-9);
  EXPECT_NEAR(one.main.most / kernel.most_seconds, 1, 1e-9);
  const stripe::Program both = program_of(product(0, "A", "T") + product(1, "T", "C"));
  const ProgramTime two = program_time(both, *model);
  EXPECT_NEAR(two.main.seconds, 2 * one.main.seconds, 1e-12);
  const double factor = kernel.most_seconds / kernel.seconds;
  EXPECT_LT(two.main.most / two.main.seconds, factor);
  // Independent errors of two equal kernels would be smaller by the root of 2.
  EXPECT_GT(two.main.most / two.main.seconds, std::exp(std::log(factor) / std::sqrt(2)));
}

TEST(ProgramTime, CountsWhatNobodyKnows) {
  const ProgramTime times = program_time(program_of(product(0, "A", "C")), machine());
  EXPECT_EQ(times.kernels.size(), 1u);
  EXPECT_EQ(times.unknown, 1u);
  EXPECT_EQ(times.main.seconds, 0);
}

}  // namespace
}  // namespace stria::cost
