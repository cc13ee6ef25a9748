// SPDX-License-Identifier: Apache-2.0
// The time of tiles that are copied into a scratchpad: terms by hand, what fits, and that a bound
// is one.
#include "stria/cost/staged/staged_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stria/base/text.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// 256 x 64 by 64 x 32 of i8; A has 16384 bytes, B 2048, C 32768.
stripe::Block product() {
  Result<stripe::Program> program = stripe::parse({"product", R"(
0: #program block [] (
    none new@0x0 A[0, 0] i8(256:64, 64:1)
    none new@0x0 B[0, 0] i8(64:32, 32:1)
    none new@0x0 C[0, 0] i32(256:32, 32:1)
) {
  0: #main block [] (
      in A[0, 0] i8(256:64, 64:1)
      in B[0, 0] i8(64:32, 32:1)
      out C[0, 0] i32(256:32, 32:1)
  ) {
    0: #contraction #kernel block [i:256, j:32, k:64] ( // product
        in A[i, k] i8(1:64, 1:1)
        in B[k, j] i8(1:32, 1:1)
        out C[i, j]:add.i32 i32(1:32, 1:1)
    ) {
      0: $A = load(A)
      1: $B = load(B)
      2: $C = mul.i32($A, $B)
      3: C = store($C)
    }
  }
}
)"});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  return *program->main()->stmts[0].block();
}
const std::vector<StagedTensor> kTensors = {{16384}, {2048}, {32768}};
// The same between kernels.
std::vector<StagedTensor> temporaries() {
  std::vector<StagedTensor> out = kTensors;
  for (StagedTensor& tensor : out) tensor.temporary = true;
  return out;
}

// Machines differ in what stands for these.
struct Parts {
  std::string memory, unit, transfer, more_buses;
  int64_t scratchpad_KiB = 8, scratchpad_count = 1, units = 1;
  bool spread = false;
};
HardwareModel machine(const Parts& parts = {}) {
  std::string ends;
  for (int64_t i = 0; i < parts.scratchpad_count; ++i)
    ends += fmt::format("{}\"SRAM[{}]\"", i > 0 ? ", " : "", i);
  const std::string text = fmt::format(
      R"({{"name": "m", "clock_mhz": 1000,
  "mem_units": {{"DRAM": {{"count": 1, "size_KiB": 1048576}},
                "SRAM": {{"count": {}, "size_KiB": {}{}}}}},
  "exec_units": {{"CONV": {{"count": {}, "op": "mac", "ops_per_cycle": 64, "overhead_cycles": 5, "pipeline_depth": 2{}}}}},
  "tx_units": {{"DMA": {{"count": 1, "latency_cycles": 10{}}}}},
  "buses": [{{"sources": ["DRAM[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 16}},
            {{"sources": ["DMA[0]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": 16}},
            {{"sources": ["DMA[0]"], "sinks": [{}], "bytes_per_cycle": 64}},
            {{"sources": [{}], "sinks": ["DMA[0]"], "bytes_per_cycle": 64}}]}})",
      parts.scratchpad_count, parts.scratchpad_KiB, parts.memory, parts.units, parts.unit,
      parts.transfer, ends, ends);
  Result<HardwareModel> model = load_hardware_model({"m.json", text});
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  return *std::move(model);
}
StagedUnits units(const Parts& parts = {}) {
  return {"CONV", "SRAM", "DRAM", "DMA", parts.spread, parts.scratchpad_count, 0};
}

StagedTime time_on(const Parts& parts, const Tile& tile) {
  const HardwareModel model = machine(parts);
  const StagedRates rates = staged_rates(model, units(parts)).value();
  return StagedKernel::make(product(), kTensors, rates).value().time(tile);
}

TEST(StagedTime, TermsOfATile) {
  const StagedTime time = time_on({}, {16, 32, 64});
  EXPECT_THAT(time.in_parts, ElementsAre(0, 2));  // B is in the scratchpad as a whole
  EXPECT_EQ(time.tiles, 16);
  EXPECT_EQ(time.under_way, 2);
  EXPECT_EQ(time.whole, 10 + 2048 / 16);
  EXPECT_EQ(time.bring, 10 + 16 * 64 / 16);
  EXPECT_EQ(time.take_away, 10 + 16 * 32 * 4 / 16);
  EXPECT_EQ(time.operation, 5 + 16 * 32 * 64 / 64);
  EXPECT_EQ(time.period, time.operation);  // the unit is busiest
  EXPECT_EQ(time.cycles, 138 + 74 + 517 + 138 + 15 * 517);
  EXPECT_THAT(to_string(time), HasSubstr("period=517 cycles=8622"));
}

TEST(StagedTime, OneTileUnderWayTakesTheSum) {
  // Two would take 16384 bytes beside B.
  const StagedTime time = time_on({}, {32, 32, 64});
  EXPECT_EQ(time.under_way, 1);
  EXPECT_EQ(time.period, time.bring + time.operation + time.take_away);
  EXPECT_EQ(time.cycles, time.whole + 8 * time.period);
}

TEST(StagedTime, WhatIsWholeInTheScratchpadIsOneOperation) {
  const StagedTime time = time_on({.scratchpad_KiB = 64}, {256, 32, 64});
  EXPECT_TRUE(time.in_parts.empty());
  EXPECT_EQ(time.operation, 5 + 256 * 32);
  EXPECT_EQ(time.cycles, 3 * 10 + (16384 + 2048 + 32768) / 16 + time.operation);
}

// Tiles come while others are worked on: more room never makes the kernel slower.
TEST(StagedTime, WhatFitsComesTileByTileIfThatTakesLess) {
  const StagedTime small = time_on({}, {16, 32, 64}),
                   large = time_on({.scratchpad_KiB = 64}, {16, 32, 64});
  EXPECT_THAT(large.in_parts, ElementsAre(0, 2));
  EXPECT_EQ(large.cycles, small.cycles);
  EXPECT_LT(large.cycles, time_on({.scratchpad_KiB = 64}, {256, 32, 64}).cycles);
}

// Each of four instances has two tiles under way.
TEST(StagedTime, InstancesHaveTilesOfTheirOwn) {
  const Parts four{.scratchpad_KiB = 32, .units = 4};
  const StagedTime time = time_on(four, {8, 32, 64});
  EXPECT_EQ(time.under_way, 8);
  EXPECT_EQ(time.operation, 5 + 8 * 32);
  EXPECT_EQ(time.period, time.take_away);               // the bus is busiest: 74 of 261 / 4
  EXPECT_EQ(time_on(four, {32, 32, 64}).under_way, 5);  // there is no room for more
}

// The tile cuts the reduction: a part of the result stays for its four steps, each of which brings
// 16 x 16 of A. B comes once, as a whole, which takes less energy.
TEST(StagedTime, StepsOfATileThatCutsReductions) {
  const StagedTime time = time_on({}, {16, 32, 16});
  EXPECT_EQ(time.tiles, 16);
  EXPECT_EQ(time.steps, 4);
  EXPECT_EQ(time.steps_under_way, 2);
  EXPECT_THAT(time.in_parts, ElementsAre(0, 2));
  EXPECT_EQ(time.whole, 10 + 64 * 32 / 16);
  EXPECT_EQ(time.operation, 5 + 16 * 32 * 16 / 64);
  EXPECT_EQ(time.bring, 10 + 16 * 16 / 16);
  EXPECT_EQ(time.take_away, 10 + 16 * 32 * 4 / 16);
  // A tile alone takes its first copy-in, four operations and its copy-out. The unit is busiest.
  EXPECT_EQ(time.period, 4 * time.operation);
  EXPECT_EQ(time.cycles,
            time.whole + time.bring + 4 * time.operation + time.take_away + 15 * time.period);
}

// Temporaries stay in the scratchpad. Nothing has to come, and the instances take turns.
TEST(StagedTime, TilesOfTemporariesRunBesideEachOther) {
  const Parts four{.scratchpad_KiB = 64, .units = 4};
  const HardwareModel model = machine(four);
  const StagedRates rates = staged_rates(model, units(four)).value();
  const StagedKernel kernel = StagedKernel::make(product(), temporaries(), rates).value();
  const StagedTime time = kernel.time({16, 32, 64});
  EXPECT_TRUE(time.in_parts.empty());
  EXPECT_EQ(time.under_way, 4);
  EXPECT_EQ(time.cycles, 16 / 4 * (5 + 16 * 32));
  // Seven tiles are two rounds.
  EXPECT_EQ(kernel.time({40, 32, 64}).cycles, 2 * (5 + 40 * 32));
  EXPECT_EQ(kernel.time({256, 32, 64}).cycles, 5 + 256 * 32);
}

TEST(StagedTime, WhatDoesNotFit) {
  for (const Tile& tile : {Tile{64, 32, 64}, Tile{256, 32, 64}}) {
    const StagedTime time = time_on({}, tile);
    EXPECT_TRUE(std::isinf(time.cost));
    EXPECT_EQ(to_string(time), tile[0] == 64 ? "there is no room for it" : "one tile is all of it");
  }
}

TEST(StagedTime, BothWaysAtOnceOrInTurns) {
  // A fast unit: transfers are busiest.
  const Parts fast{.unit = R"(, "rates": {"i8": {"ops_per_cycle": 65536}})"};
  Parts half = fast;
  half.transfer = R"(, "duplex": "half")";
  const StagedTime full = time_on(fast, {16, 32, 64}), turns = time_on(half, {16, 32, 64});
  EXPECT_EQ(full.period, full.take_away);
  EXPECT_EQ(turns.period, turns.bring + turns.take_away);
}

TEST(StagedTime, FillAndDrainOfASystolicArray) {
  const StagedTime time = time_on(
      {.unit = R"(, "systolic": {"rows": 32, "columns": 16, "dataflow": "ws"})"}, {16, 32, 64});
  EXPECT_EQ(time.operation, 5 + 2 * 2 * (16 + 2 * 32 + 16 - 2));
}

TEST(StagedTime, PartsOfATileOnAllInstances) {
  // 16 x 32 sums as 4 parts of 4 rows.
  EXPECT_EQ(time_on({.units = 4, .spread = true}, {16, 32, 64}).operation, 5 + 4 * 32 * 64 / 64);
  // 8 parts on 6 units would be two rounds; 4 are one.
  const StagedTime six = time_on({.units = 6, .spread = true}, {16, 32, 64});
  EXPECT_EQ(six.operation, 5 + 4 * 32 * 64 / 64);
  // Where all is in the scratchpad, tiles follow one another.
  const Parts four{.scratchpad_KiB = 64, .units = 4, .spread = true};
  const HardwareModel model = machine(four);
  const StagedRates rates = staged_rates(model, units(four)).value();
  const StagedTime fits =
      StagedKernel::make(product(), temporaries(), rates).value().time({64, 32, 64});
  EXPECT_EQ(fits.tiles, 4);
  EXPECT_EQ(fits.cycles, 4 * (5 + 16 * 32));
}

// Four parts of 8 x 16 results have the fewest operands, 2048 bytes each. They and a transfer have
// a fifth of the port each: the transfer half of what it takes alone. Then the parts have a quarter
// each.
TEST(StagedTime, PartsAndATransferShareOnePort) {
  const StagedTime time = time_on(
      {.memory = R"(, "banks": 1, "bank_bytes": 40)", .units = 4, .spread = true}, {16, 32, 64});
  EXPECT_DOUBLE_EQ(time.operation, 148 + (8 * 64 + 64 * 16 + 8 * 16 * 4 - 148 * 8) / 10.0);
  EXPECT_EQ(time.bring, 2 * (10 + 16 * 64 / 16));
}

TEST(StagedTime, PortsAndBanksOfScratchpads) {
  // 8 bytes a cycle for reads and writes. Columns of B step over 32 bytes, so that all are in one
  // bank of four; neighbours in C step over two banks.
  const Parts banks{.memory = R"(, "banks": 4, "bank_bytes": 2)",
                    .unit = R"(, "rates": {"i8": {"ops_per_cycle": 65536}})"};
  EXPECT_EQ(time_on(banks, {16, 32, 64}).operation, 5 + (16 * 64 + 4 * 2048 + 2 * 16 * 32 * 4) / 8);
  Parts apart = banks;
  apart.scratchpad_count = 3;
  EXPECT_EQ(time_on(apart, {16, 32, 64}).operation, 5 + 4 * 2048 / 8);
}

TEST(StagedTime, ABoundIsNeverAboveATile) {
  std::mt19937 random(7);
  const Parts machines[] = {
      {},
      {.memory = R"(, "banks": 4, "bank_bytes": 2)", .scratchpad_KiB = 4, .scratchpad_count = 4},
      {.unit = R"(, "systolic": {"rows": 8, "columns": 8, "dataflow": "os"})",
       .scratchpad_KiB = 12},
      {.transfer = R"(, "duplex": "half")", .scratchpad_KiB = 48},
      {.scratchpad_KiB = 40, .units = 3},
      {.scratchpad_KiB = 24, .units = 12, .spread = true},
      {.scratchpad_KiB = 64, .units = 5, .spread = true}};
  size_t finite = 0;
  for (const Parts& parts : machines) {
    const HardwareModel model = machine(parts);
    const StagedRates rates = staged_rates(model, units(parts)).value();
    const StagedKernel kernel = StagedKernel::make(product(), kTensors, rates).value();
    for (int n = 0; n < 2000; ++n) {
      Tile low, high, tile;
      for (const int64_t range : {256, 32, 64}) {
        const auto pick = [&](int64_t from, int64_t to) {
          return std::uniform_int_distribution<int64_t>(from, to)(random);
        };
        low.push_back(pick(1, range));
        high.push_back(pick(low.back(), range));
        tile.push_back(pick(low.back(), high.back()));
      }
      const StagedTime time = kernel.time(tile);
      finite += std::isinf(time.cost) ? 0 : 1;
      ASSERT_LE(kernel.bound(low, high), time.cycles);
      ASSERT_LE(kernel.bound(tile, tile), time.cost);
      ASSERT_LE(time.cycles, time.cost);
    }
  }
  EXPECT_GE(finite, 2000u);
}

// From DRAM to SRAM over two instances of DMA and these buses.
StagedRates::Way way_over(const std::vector<std::string>& buses) {
  const HardwareModel model =
      load_hardware_model({"ways.json", R"({"name": "ways", "clock_mhz": 1000,
  "mem_units": {"DRAM": {}, "SRAM": {"count": 1, "size_KiB": 8}},
  "exec_units": {"CONV": {"op": "mac", "ops_per_cycle": 64}},
  "tx_units": {"DMA": {"count": 2, "latency_cycles": 10}, "HOP": {}},
  "buses": [{"sources": ["SRAM[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 1},
            {"sources": ["DMA[0]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": 1},
            )" + join(buses, ", ") + "]}"})
          .value();
  return staged_rates(model, units()).value().in;
}
std::string bus(const std::string& from, const std::string& to, int bytes, int latency = 0) {
  return fmt::format(
      R"({{"sources": ["{}"], "sinks": ["{}"], "bytes_per_cycle": {}, "latency_cycles": {}}})",
      from, to, bytes, latency);
}

TEST(StagedTime, BusesOfInstancesShareWhatTheyCarryTogether) {
  const std::string near = bus(R"(DMA[0]", "DMA[1])", "SRAM[0]", 64);
  EXPECT_EQ(way_over({bus("DRAM[0]", "DMA[0]", 16), bus("DRAM[0]", "DMA[1]", 16), near}).together,
            32);
  // Each has a narrow bus, one before it and one behind it.
  EXPECT_EQ(way_over({bus("DRAM[0]", "DMA[0]", 2), bus("DMA[0]", "SRAM[0]", 16),
                      bus("DRAM[0]", "DMA[1]", 16), bus("DMA[1]", "SRAM[0]", 2)})
                .together,
            4);
  // What one cannot use of a bus the other has.
  EXPECT_EQ(way_over({bus("DRAM[0]", R"(DMA[0]", "DMA[1])", 16), bus("DMA[0]", "SRAM[0]", 4),
                      bus("DMA[1]", "SRAM[0]", 64)})
                .together,
            16);
  // One has a longer way, of which a bus in the middle is narrow.
  const StagedRates::Way way = way_over({bus("DRAM[0]", "DMA[0]", 16), bus("DRAM[0]", "HOP[0]", 64),
                                         bus("HOP[0]", "DMA[1]", 4, 8), near});
  EXPECT_EQ(way.together, 20);
  EXPECT_EQ(way.bytes, 10);
  EXPECT_EQ(way.latency, 10 + 8 / 2);
}

TEST(StagedTime, AModelMustHaveTheUnitsAndTheBuses) {
  const HardwareModel model = machine();
  const auto says = [&](const StagedUnits& units) {
    return staged_rates(model, units).status().to_string();
  };
  EXPECT_THAT(says({"GPU", "SRAM", "DRAM", "DMA"}), HasSubstr("no execution unit 'GPU'"));
  EXPECT_THAT(says({"CONV", "L9", "DRAM", "DMA"}), HasSubstr("no memory unit 'L9'"));
  EXPECT_THAT(says({"CONV", "SRAM", "DRAM", "NOC"}), HasSubstr("no transfer unit 'NOC'"));
  HardwareModel one_way = model;
  one_way.buses.pop_back();
  EXPECT_THAT(staged_rates(one_way, units()).status().to_string(),
              HasSubstr("no way over buses from 'SRAM[0]' to 'DMA[0]'"));
  one_way = model;
  one_way.buses[0].bytes_per_cycle = 0;
  EXPECT_THAT(staged_rates(one_way, units()).status().to_string(),
              HasSubstr("carries 0 bytes per cycle"));
  // Transfer units beyond counting, of which buses name one.
  HardwareModel many = model;
  for (TransferUnit& unit : many.transfers) unit.count = 1'000'000'000;
  EXPECT_TRUE(staged_rates(many, units()).ok());
}

}  // namespace
}  // namespace stria::cost
