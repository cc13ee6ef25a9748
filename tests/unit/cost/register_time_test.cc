// SPDX-License-Identifier: Apache-2.0
// Time of register tiles: what fits, what a step waits for, what edges cost, and the tile that the
// least of it gives.
#include "stria/cost/core/register_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "drawn_calibration.h"
#include "stria/cost/core/panels.h"
#include "stria/cost/search/tile_search.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

// A product of i x j outputs, the sum of k; lanes along j.
TiledBlock product(int64_t i, int64_t j, int64_t k) {
  const std::string text = fmt::format(
      "0: #program block [] (\nnone new@0x0 A[0, 0] fp32({0}:{2}, {2}:1)\nnone new@0x0 B[0, 0] "
      "fp32({2}:{1}, {1}:1)\nnone new@0x0 C[0, 0] fp32({0}:{1}, {1}:1)\n) {{\n0: #main block [] (\n"
      "in A[0, 0] fp32({0}:{2}, {2}:1)\nin B[0, 0] fp32({2}:{1}, {1}:1)\nout C[0, 0] fp32({0}:{1}, "
      "{1}:1)\n) {{\n0: #kernel block [i:{0}, j:{1}, k:{2}] (\nin A[i, k] fp32(1:{2}, 1:1)\n"
      "in B[k, j] fp32(1:{1}, 1:1)\nout C[i, j]:add.fp32 fp32(1:{1}, 1:1)\n) {{\n0: $a = load(A)\n"
      "1: $b = load(B)\n2: $c = mul.fp32($a, $b)\n3: C = store($c)\n}}\n}}\n}}\n",
      i, j, k);
  Result<stripe::Program> program = stripe::parse({"test", text});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  return tiled_block(*program->main()->stmts[0].block());
}

RegisterTiling by_lanes(int64_t lanes) {
  return {{RegisterRole::row, RegisterRole::lanes, RegisterRole::steps}, {0}, lanes, false, {}};
}

CoreRates rates(int64_t registers) {
  CoreRates out;
  out.multiply_adds = out.loads = 2;
  out.latency_cycles = 4;
  out.registers = registers;
  CoreRates::Level l1{"L1", "L2", 48 << 10, 64, 12, 64, 40}, l2{"L2", "DRAM", 2 << 20, 64, 0, 1, 8};
  out.caches = {l1, l2};
  return out;
}

TEST(RegisterTime, WhatAStepHoldsAndWaitsFor) {
  const TiledBlock block = product(56, 64, 512);
  const auto of = [&](int64_t rows, int64_t columns) {
    return register_time(block, by_lanes(16), {rows, columns, 512}, rates(32));
  };
  // 28 sums, 2 vectors of a row of B, one value of A.
  EXPECT_EQ(of(14, 32).accumulators, 28);
  EXPECT_EQ(of(14, 32).registers, 31);
  EXPECT_EQ(of(14, 32).loads, 16);
  EXPECT_EQ(of(4, 64).waits_for, "multiply_adds");
  EXPECT_EQ(of(14, 16).waits_for, "loads");
  EXPECT_EQ(of(1, 16).waits_for, "latency");
  EXPECT_EQ(of(14, 32).edge_cycles, 0);
  EXPECT_TRUE(std::isinf(of(14, 48).cycles));
  // With 16 registers 3 rows of 4 vectors are one too many, for the 4 are held.
  EXPECT_TRUE(
      std::isinf(register_time(product(48, 64, 512), by_lanes(8), {3, 32, 512}, rates(16)).cycles));
  EXPECT_FALSE(
      std::isinf(register_time(product(48, 72, 512), by_lanes(8), {4, 24, 512}, rates(16)).cycles));
}

TEST(RegisterTime, MultiplyAddsAndTheirLatencyWaitForEachOther) {
  const auto step = [](int64_t rows, double power) {
    CoreRates of = rates(32);
    of.facts.latency_power = power;
    of.facts.multiply_factor = 1;
    of.facts.load_factor = 0.25;
    of.facts.loop_cycles = of.facts.load_cycles = 0;
    return register_time(product(48, 32, 512), by_lanes(16), {rows, 32, 512}, of).step_cycles;
  };
  // Latency 4, and 1, 4 or 12 cycles of multiply-adds.
  EXPECT_NEAR(step(4, 100), 4, 0.1);
  EXPECT_NEAR(step(4, 1), 8, 1e-9);
  EXPECT_GT(step(4, 3), 1.2 * 4);
  EXPECT_LT(step(1, 3), 1.01 * 4);
  EXPECT_LT(step(12, 3), 1.05 * 12);
}

TEST(RegisterTime, ProductsThatAreNoPartOfASumTakeRegisters) {
  const auto fits = [](int64_t rows, int64_t columns, double registers) {
    CoreRates of = rates(16);
    of.facts.product_registers = registers;
    return !std::isinf(
        register_time(product(48, 120, 512), by_lanes(8), {rows, columns, 512}, of).cycles);
  };
  // 12 sums, 3 vectors of B, one value of A: all that there are.
  EXPECT_TRUE(fits(4, 24, 0));
  EXPECT_FALSE(fits(4, 24, 1));
  // 10 sums; of 5 vectors and 2 values the 2 are held.
  EXPECT_TRUE(fits(2, 40, 0));
  EXPECT_TRUE(fits(2, 40, 1));
  EXPECT_TRUE(fits(2, 40, 3));
  EXPECT_FALSE(fits(2, 40, 4));
}

TEST(RegisterTime, SingleValuesMayTakeInstructionsToFillLanes) {
  const auto step = [](int64_t rows, int64_t columns, double part) {
    CoreRates of = rates(32);
    of.facts.broadcast_multiply_adds = part;
    of.facts.load_factor = 0.25;
    return register_time(product(48, 128, 512), by_lanes(16), {rows, columns, 512}, of).step_cycles;
  };
  // 8 values of A and a vector of B, or one value and 8 vectors.
  EXPECT_EQ(step(8, 16, 0), step(1, 128, 0));
  EXPECT_GT(step(8, 16, 2), step(1, 128, 2));
  EXPECT_GT(step(1, 128, 2), step(1, 128, 0));
}

TEST(RegisterTime, EdgesCost) {
  const auto of = [&](int64_t i, int64_t j) {
    const RegisterTime time =
        register_time(product(i, j, 512), by_lanes(16), {6, 64, 512}, rates(32));
    return time.compute_cycles / static_cast<double>(i * j);
  };
  EXPECT_GT(of(61, 64), of(60, 64));  // a row alone
  EXPECT_GT(of(60, 80), of(60, 64));  // one vector alone
  EXPECT_GT(of(60, 68), of(60, 80));  // four lanes of a vector
}

TEST(RegisterTime, EdgesLeaveOutVectorsThatAreBeyondTheEnd) {
  const auto edges = [](int64_t columns) {
    return register_time(product(60, columns, 512), by_lanes(16), {6, 64, 512}, rates(32))
        .edge_cycles;
  };
  // Two whole vectors; two with six lanes of the second; three.
  EXPECT_GT(edges(64 + 22), edges(64 + 32));
  EXPECT_LT(edges(64 + 22), edges(64 + 48));
}

TEST(RegisterTime, MasksCostOneVectorOfATile) {
  const auto masked = [](int64_t columns) {
    const auto step = [](int64_t of) {
      return register_time(product(6, of, 64), by_lanes(16), {6, of, 64}, rates(32)).step_cycles;
    };
    return step(columns) / step(ceil_div(columns, 16) * 16);
  };
  EXPECT_GT(masked(63), 1.1);
  EXPECT_GT(masked(15), masked(31));
  EXPECT_GT(masked(31), masked(63));
}

TEST(RegisterTime, RowsThatFallIntoOneSetOfACacheAreFetchedAtEachStep) {
  // Rows of A are 4 KiB apart: with 14 of them the 12 places of a set do not do.
  const auto fetched = [](int64_t k, int64_t rows) {
    return register_time(product(56, 64, k), by_lanes(16), {rows, 32, k}, rates(32))
        .cache_cycles[0];
  };
  EXPECT_GT(fetched(1024, 14), 2 * fetched(1024 + 16, 14));
  EXPECT_LT(fetched(1024, 7), 2 * fetched(1024 + 16, 7));
}

TEST(RegisterTime, ShortVectorsNeedNoMasks) {
  const auto step = [](int64_t columns) {
    return register_time(product(48, columns, 64), by_lanes(16), {8, columns, 64}, rates(32))
        .step_cycles;
  };
  EXPECT_EQ(step(8), step(16));
  EXPECT_GT(step(9), step(16));
}

TEST(RegisterTime, CopiesOfShortRowsCostWholeVectors) {
  const auto cycles = [](int64_t columns) {
    const TiledBlock block = product(48, columns, 64);
    return copy_cycles(block, block.views[1], 1, 16, rates(32));
  };
  EXPECT_EQ(cycles(8), 2 * cycles(16));
  EXPECT_EQ(cycles(31), 1.5 * cycles(32));
}

TEST(RegisterTime, WhatFitsAsAWholeIsThereAlready) {
  const auto fetched = [](int64_t size) {
    return register_time(product(size, size, size), by_lanes(16), {6, 64, size}, rates(32))
        .cache_cycles;
  };
  EXPECT_THAT(fetched(48), testing::ElementsAre(0, 0));
  EXPECT_GT(fetched(256)[0], 0);
  EXPECT_EQ(fetched(256)[1], 0);
  EXPECT_GT(fetched(1024)[1], 0);
}

TEST(RegisterTime, ShortRunsOfMemoryComeSlower) {
  const auto fetched = [](int64_t columns) {
    return register_time(product(2, 4096, 1024), by_lanes(16), {2, columns, 1024}, rates(32))
        .cache_cycles[0];
  };
  // Rows of one line and of 8, 4096 elements apart: each start costs a few lines more.
  EXPECT_GT(fetched(16), 1.5 * fetched(128));
  EXPECT_GT(fetched(16) - fetched(32), fetched(32) - fetched(64));
}

TEST(RegisterTime, LargeResultsAreWrittenAlongTheirMemory) {
  const auto timed = [](int64_t rows, int64_t columns, int64_t k) {
    return register_time(product(rows, columns, k), by_lanes(16), {8, 32, k}, rates(32));
  };
  // 16 MB written, 24 KB read: rows of tiles, though each then reads more anew than columns of
  // them.
  EXPECT_EQ(timed(2048, 2048, 3).along, std::optional<size_t>(1));
  // What is read is more; what is written fits in the second cache; one tile is as wide as a row.
  EXPECT_EQ(timed(2048, 2048, 4096).along, std::nullopt);
  EXPECT_EQ(timed(256, 2048, 3).along, std::nullopt);
  EXPECT_EQ(timed(65536, 32, 3).along, std::nullopt);
  // Tiles in a row go on with what the one before began: how wide they are matters little.
  const auto written = [](int64_t columns) {
    return register_time(product(2048, 2048, 3), by_lanes(16), {4, columns, 3}, rates(32))
        .cache_cycles[1];
  };
  EXPECT_LT(written(16), 1.1 * written(64));
}

TEST(RegisterTime, FewRowsWaitForWhatComesIntoTheFirstCache) {
  // One row more than whole tiles: it needs all of B's panel for a sixth of the work.
  const auto waits = [](int64_t rows) {
    const RegisterTime time =
        register_time(product(rows, 512, 2048), by_lanes(16), {6, 64, 2048}, rates(32));
    return time.first_cache_cycles - time.compute_cycles;
  };
  EXPECT_GT(waits(61) - waits(60), waits(66) - waits(60));
}

TEST(RegisterTime, PanelsAreRunsOfMemory) {
  const TiledBlock block = product(512, 1024, 1024);
  const Tile tile = {6, 64, 1024};
  const PanelView panels(block, block.views[1], 1, tile);
  // A panel is 1024 rows of 64 elements, 4 lines each; in memory they are 4 KiB apart.
  EXPECT_EQ(lines_of(panels.view(), panels.box(tile), 64), 4096);
  EXPECT_EQ(places_of(panels.view(), panels.box(tile), 64, 2048), 2);
  EXPECT_EQ(places_of(block.views[1], tile, 64, 2048), 32);
  // Two panels and a half are three.
  EXPECT_EQ(panels.box({6, 160, 1024}), (Tile{6, 64, 1024, 3}));
}

TEST(RegisterTime, CopiesInPanelsPayWhereRowsFallIntoFewSets) {
  CoreRates of = rates(32);
  of.caches[1].ways = 16;
  of.caches[1].sets = 2048;
  const Tile tile = {6, 64, 1024};
  const auto time = [&](int64_t rows, const PanelRule& rule) {
    RegisterTiling tiling = by_lanes(16);
    tiling.panels = {{}, rule, {}};
    return register_time(product(rows, 1024, 1024), tiling, tile, of);
  };
  const double without = time(1020, {}).cycles;
  EXPECT_THAT(time(1020, {}).panels, testing::IsEmpty());
  const RegisterTime copied = time(1020, {true, false, 0}), free = time(1020, {true, true, 0});
  EXPECT_THAT(copied.panels, testing::ElementsAre(1));
  EXPECT_LT(2 * copied.cycles, without);
  EXPECT_GT(copied.copy_cycles, 0);
  EXPECT_EQ(free.copy_cycles, 0);
  EXPECT_EQ(free.cycles + copied.copy_cycles, copied.cycles);
  // A copy of which each run reads everything once does not pay, even if it is made but once.
  EXPECT_THAT(time(6, {true, false, 0}).panels, testing::IsEmpty());
  EXPECT_THAT(time(6, {true, true, 0}).panels, testing::IsEmpty());
  // Views begin within a panel.
  EXPECT_THAT(time(1020, {true, true, 96}).panels, testing::IsEmpty());
  EXPECT_THAT(time(1020, {true, true, 128}).panels, testing::ElementsAre(1));
}

TEST(RegisterTime, TheOrderOfViewsSaysNothing) {
  TiledBlock block = product(56, 640, 512);
  const auto of = [&](const TiledBlock& any) {
    return register_time(any, by_lanes(16), {6, 64, 512}, rates(32)).cache_cycles;
  };
  const auto before = of(block);
  std::reverse(block.views.begin(), block.views.end());
  EXPECT_EQ(of(block), before);
}

TEST(RegisterTime, OfThePublishedSpaceTheLeastIsTaken) {
  const CoreRates of = rates(32);
  const auto best = [&](const TiledBlock& block) {
    const RegisterTiling tiling = by_lanes(16);
    const auto cycles = [&](const Tile& tile) {
      return register_time(block, tiling, tile, of).cycles;
    };
    const TileSpace space = register_tiles(block, tiling, of);
    const Tile found = *fastest_register_tile(block, tiling, of);
    // What is hopeless loses nothing.
    double least = std::numeric_limits<double>::infinity();
    for (int64_t i : space[0])
      for (int64_t j : space[1]) least = std::min(least, cycles({i, j, block.indices[2].range}));
    EXPECT_EQ(cycles(found), least);
    return to_string(block, found);
  };
  EXPECT_EQ(best(product(56, 64, 576)), "[i:6, j:64, k:576]");
  EXPECT_EQ(best(product(45, 240, 576)), "[i:9, j:48, k:576]");
}

TEST(RegisterTime, RatesThatTheModelLacksAreDerived) {
  auto model = load_hardware_model({"m", R"({"name": "m",
    "mem_units": {
    "DRAM": {"count": 1, "size_KiB": 1048576, "policy": "managed"},
    "L2": {"count": 1, "size_KiB": 1024, "policy": "lru", "line_bytes": 64, "ways": 16},
    "L1": {"count": 1, "size_KiB": 32, "policy": "lru", "line_bytes": 64, "ways": 8}},
    "exec_units": {"CORE": {"vector_bytes": 64, "vector_registers": 32, "fma_latency_cycles": 4,
      "rates": {"fp32": {"ops_per_cycle": 50,
        "read_bytes_per_cycle": {"L1": 100, "L2": 36}}}}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const std::optional<CoreRates> of = core_rates(*model, "CORE", DataType::fp32, 16);
  ASSERT_TRUE(of);
  EXPECT_EQ(of->multiply_adds, 2);
  EXPECT_EQ(of->loads, 2);
  ASSERT_EQ(of->caches.size(), 2u);
  EXPECT_EQ(of->caches[0].bytes_per_cycle, 36);
  EXPECT_EQ(of->caches[0].sets, 64);
  EXPECT_EQ(of->caches[1].bytes_per_cycle, 6);
  EXPECT_EQ(of->caches[1].ways, 0);
  EXPECT_FALSE(core_rates(*model, "DRAM", DataType::fp32, 16));
  // Rates and clock are measured one after the other: a little over two units is two.
  model->executors[0].rates[DataType::fp32].ops_per_cycle = 64.7;
  EXPECT_EQ(core_rates(*model, "CORE", DataType::fp32, 16)->multiply_adds, 2);
  model->executors[0].rates[DataType::fp32].ops_per_cycle = 70;
  EXPECT_EQ(core_rates(*model, "CORE", DataType::fp32, 16)->multiply_adds, 3);
}

// The rates, and a calibration that was drawn: seed 0 is the default one.
CoreRates calibrated(int64_t registers, uint32_t seed) {
  CoreRates out = rates(registers);
  out.facts = drawn_calibration(seed).core;
  for (CoreRates::Level& level : out.caches) {
    level.run_lines = out.facts.run_lines;
    level.filled_part = out.facts.filled_part;
  }
  return out;
}

TEST(RegisterTime, TheBoundIsNotAboveTheTimeOfAnyTile) {
  const std::vector<std::array<int64_t, 3>> sizes = {
      {56, 64, 512}, {57, 65, 33}, {49, 2048, 1024}, {3, 100, 7}, {1, 17, 4096}};
  for (uint32_t n = 0; n < 30; ++n) {
    const auto [i, j, k] = sizes[n % sizes.size()];
    const CoreRates core = calibrated(32, n / static_cast<uint32_t>(sizes.size()));
    const TiledBlock block = product(i, j, k);
    std::vector<RegisterTiling> tilings(3, by_lanes(16));
    tilings[1].panels = {{}, {true, false, 0}, {}};
    tilings[2] = {
        {RegisterRole::row, RegisterRole::row, RegisterRole::lanes}, {1, 0}, 16, true, {}};
    for (const RegisterTiling& tiling : tilings) {
      SearchCost all;
      all.of = [&](const Tile& tile) { return register_time(block, tiling, tile, core).cycles; };
      all.hopeless = [](const Tile&) { return false; };
      all.bound = [](const Tile&, const Tile&) { return 0; };
      const TileSpace space = register_tiles(block, tiling, core);
      const Ranking ranking = exhaustive(space, all, 1 << 20);
      ASSERT_FALSE(ranking.best.empty());
      for (const ScoredTile& tile : ranking.best) {
        const double bound = register_time_bound(block, tiling, tile.tile, core);
        EXPECT_LE(bound, tile.score) << i << " " << j << " " << k;
        EXPECT_GT(bound, 0);
      }
      EXPECT_EQ(fastest_register_tile(block, tiling, core), ranking.best[0].tile);
    }
  }
}

}  // namespace
}  // namespace stria::cost
