// SPDX-License-Identifier: Apache-2.0
// What a machine needs at least for a program: each term by hand.
#include "stria/cost/block/machine_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stria/base/text.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

using testing::ElementsAre;

// `kernels`: of a main with A and B of 64 x 64 i8, C of 64 x 64 i32, W of 8 i8.
stripe::Program program_of(const std::string& kernels) {
  Result<stripe::Program> program = stripe::parse({"p", R"(
0: #program block [] (
    none new@0x0 A[0, 0] i8(64:64, 64:1)
    none new@0x0 B[0, 0] i8(64:64, 64:1)
    none new@0x0 W[0] i8(8:1)
    none new@0x0 C[0, 0] i32(64:64, 64:1)
) {
  0: #main block [] (
      in A[0, 0] i8(64:64, 64:1)
      in B[0, 0] i8(64:64, 64:1)
      in W[0] i8(8:1)
      out C[0, 0] i32(64:64, 64:1)
  ) {
)" + kernels + "  }\n}\n"});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  return *std::move(program);
}

// Two units of 64 macs a cycle, and one of half its clock that adds 32; 16 bytes a cycle each way.
HardwareModel machine(const std::string& buses = R"(
    {"sources": ["DRAM[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 16},
    {"sources": ["DMA[0]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": 8},
    {"sources": ["DMA[0]"], "sinks": ["SRAM[0]"], "bytes_per_cycle": 64},
    {"sources": ["SRAM[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 64})",
                      const std::string& array = "", const std::string& rows = "") {
  const std::string text = fmt::format(
      R"({{"name": "m", "clock_mhz": 1000,
  "mem_units": {{"DRAM": {{"count": 1, "size_KiB": 1048576{}}},
                "SRAM": {{"count": 1, "size_KiB": 64}}}},
  "exec_units": {{"CONV": {{"count": 2, "op": "mac", "ops_per_cycle": 64{}}},
                 "ADD": {{"count": 1, "ops_per_cycle": 32, "clock_mhz": 500}}}},
  "tx_units": {{"DMA": {{"count": 1}}}},
  "buses": [{}]}})",
      rows, array, buses);
  Result<HardwareModel> model = load_hardware_model({"m.json", text});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return *std::move(model);
}

std::vector<std::string> bounds(const stripe::Program& program, const HardwareModel& model) {
  std::vector<std::string> out;
  for (const MachineBound& bound : machine_bounds(program, model, "DRAM"))
    out.push_back(fmt::format("{:.1f}: {}", bound.cycles, bound.what));
  return out;
}

constexpr const char* kProduct = R"(
    0: #kernel block [i:64, j:64, k:64] ( // product
        in A[i, k] i8(1:64, 1:1)
        in B[k, j] i8(1:64, 1:1)
        out C[i, j]:add.i32 i32(1:64, 1:1)
    ) {
      0: $A = load(A)
      1: $B = load(B)
      2: $C = mul.i32($A, $B)
      3: C = store($C)
    }
)";

TEST(MachineBound, OperationsAndBytesOfAProduct) {
  // 262,144 macs: 128 a cycle on CONV; on ADD a mac is two operations of 16 in a cycle of the
  // model's clock.
  EXPECT_THAT(bounds(program_of(kProduct), machine()),
              ElementsAre("2048.0: 16384 bytes to DRAM", "1927.5: 262144 mac.i8 on ADD and CONV",
                          "512.0: 8192 bytes from DRAM"));
}

TEST(MachineBound, OneBusForBothDirections) {
  EXPECT_THAT(
      bounds(program_of(kProduct),
             machine(R"({"sources": ["DRAM[0]", "DMA[0]"], "sinks": ["DMA[0]", "DRAM[0]"],
                         "bytes_per_cycle": 16})")),
      ElementsAre("1927.5: 262144 mac.i8 on ADD and CONV", "1536.0: 24576 bytes from and to DRAM",
                  "1024.0: 16384 bytes to DRAM", "512.0: 8192 bytes from DRAM"));
}

// 24,576 bytes in rows, as if all lay together: 768 bursts of 2 ns, or 6 rows of 300 ns, in nine of
// ten ns, which refreshes leave.
TEST(MachineBound, RowsOfMainMemory) {
  const auto with = [](double activate_ns) {
    return machine("", "",
                   fmt::format(R"(, "dram": {{"banks": 4, "row_bytes": 4096, "burst_bytes": 32,
        "burst_ns": 2, "row_cycle_ns": 1000, "activate_ns": {}, "refresh_interval_ns": 1000,
        "refresh_ns": 100}})",
                               activate_ns));
  };
  EXPECT_THAT(
      bounds(program_of(kProduct), with(1)),
      ElementsAre("1927.5: 262144 mac.i8 on ADD and CONV", "1706.7: 24576 bytes in rows of DRAM"));
  EXPECT_THAT(
      bounds(program_of(kProduct), with(300)),
      ElementsAre("2000.0: 24576 bytes in rows of DRAM", "1927.5: 262144 mac.i8 on ADD and CONV"));
}

// Every element of an array works at its best.
TEST(MachineBound, Arrays) {
  const HardwareModel model =
      machine("", R"(, "systolic": {"rows": 16, "columns": 8, "dataflow": "os"})");
  EXPECT_THAT(bounds(program_of(kProduct), model),
              ElementsAre("993.0: 262144 mac.i8 on ADD and CONV"));
}

// A filter of 8 over rows, with points beyond the tensor left out: those do not count, and every
// element is used all the same.
TEST(MachineBound, ConstraintsThatKeepToATensor) {
  const stripe::Program program = program_of(R"(
    0: #kernel block [i:64, j:64, k:8] ( // filter
        j + k - 3 >= 0
        -j - k + 66 >= 0
        in A[i, j + k - 3] i8(1:64, 1:1)
        in W[k] i8(1:1)
        out C[i, j]:add.i32 i32(1:64, 1:1)
    ) {
      0: $A = load(A)
      1: $W = load(W)
      2: $C = mul.i32($A, $W)
      3: C = store($C)
    }
)");
  int64_t points = 0;
  for (int64_t j = 0; j < 64; ++j)
    for (int64_t k = 0; k < 8; ++k) points += j + k >= 3 && j + k <= 66;
  // 128 macs a cycle on CONV, 8 on ADD.
  EXPECT_THAT(bounds(program, machine()),
              ElementsAre("2048.0: 16384 bytes to DRAM", "256.5: 4104 bytes from DRAM",
                          fmt::format("{:.1f}: {} mac.i8 on ADD and CONV",
                                      64 * static_cast<double>(points) / 136, 64 * points)));
}

// Of 64 columns only the last 3 are in reach of a filter that begins before the first one.
TEST(MachineBound, ElementsBeforeTheFirstOne) {
  const stripe::Program program = program_of(R"(
    0: #kernel block [i:64, j:3, k:64] ( // filter
        j + k - 63 >= 0
        in A[i, j + k - 63] i8(1:64, 1:1)
        out C[i, j]:add.i32 i32(1:64, 1:1)
    ) {
      0: $A = load(A)
      1: C = store($A)
    }
)");
  const auto found = machine_bounds(program, machine(), "DRAM");
  std::vector<std::string> texts;
  for (const MachineBound& bound : found) texts.push_back(bound.what);
  EXPECT_THAT(texts, testing::Contains("192 bytes from DRAM"));
}

// Which rows are read is in a tensor.
TEST(MachineBound, ElementsThatValuesChoose) {
  const stripe::Program program = program_of(R"(
    0: #kernel block [k:8, j:64] ( // gather
        in A[0, j] i8(64:64, 1:1)
        in W[k] i8(1:1)
        out C[k, j] i32(1:64, 1:1)
    ) {
      0: $W = load(W)
      1: $A = load(A[$W, 0])
      2: C = store($A)
    }
)");
  const auto found = machine_bounds(program, machine(), "DRAM");
  std::vector<std::string> texts;
  for (const MachineBound& bound : found) texts.push_back(bound.what);
  EXPECT_THAT(texts, ElementsAre("2048 bytes to DRAM", "8 bytes from DRAM"));
}

// Half of the points, and nobody knows of which elements.
TEST(MachineBound, OtherConstraints) {
  const stripe::Program program = program_of(R"(
    0: #kernel block [i:64, j:64] ( // half
        i - j - 1 >= 0
        in A[i, j] i8(1:64, 1:1)
        in B[i, j] i8(1:64, 1:1)
        out C[i, j] i32(1:64, 1:1)
    ) {
      0: $A = load(A)
      1: $B = load(B)
      2: $C = add.i32($A, $B)
      3: C = store($C)
    }
)");
  EXPECT_THAT(bounds(program, machine()), ElementsAre("14.0: 2016 add.i32 on ADD and CONV"));
}

}  // namespace
}  // namespace stria::cost
