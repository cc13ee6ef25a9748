// SPDX-License-Identifier: Apache-2.0
// The time of groups: what fits, what it grows with, and that the model must say what a unit can
// do.
#include "stria/cost/workgroup/group_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stria/cost/search/tile_search.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

// `columns`: of B, that a point shows.
TiledBlock product(int64_t m, int64_t n, int64_t k, int64_t columns = 1) {
  const std::string text = fmt::format(R"(
0: #program block [] (
    none new@0x0 A[0, 0] fp32({0}:{2}, {2}:1)
    none new@0x0 B[0, 0] fp32({2}:{1}, {1}:1)
    none new@0x0 C[0, 0] fp32({0}:{1}, {1}:1)
) {{
  0: #main block [] (
      in A[0, 0] fp32({0}:{2}, {2}:1)
      in B[0, 0] fp32({2}:{1}, {1}:1)
      out C[0, 0] fp32({0}:{1}, {1}:1)
  ) {{
    0: #contraction #kernel block [i:{0}, j:{1}, k:{2}] ( // product
        in A[i, k] fp32(1:{2}, 1:1)
        in B[k, j] fp32(1:{1}, {3}:1)
        out C[i, j]:add.fp32 fp32(1:{1}, 1:1)
    ) {{
      0: $A = load(A)
      1: $B = load(B)
      2: $C = mul.fp32($A, $B)
      3: C = store($C)
    }}
  }}
}}
)",
                                       m, n, k, columns);
  Result<stripe::Program> program = stripe::parse({"product", text});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  return tiled_block(*program->main()->stmts[0].block());
}

GroupRates rates() {
  GroupRates out;
  out.units = 100;
  out.multiply_adds = 128;
  out.most_lanes = 2048;
  out.most_group_lanes = 256;
  out.registers = 256 << 10;
  out.lane_registers = 1024;
  out.local_bytes = 48 << 10;
  out.bank_bytes = 128;
  out.global_latency = 400;
  out.local_latency = 30;
  out.global_bytes = 24;
  return out;
}

TEST(GroupTime, TermsOfATile) {
  const GroupTime time = group_time(product(1024, 1024, 1024), {64, 64, 16}, {2}, rates());
  EXPECT_EQ(time.group_lanes, 128);
  EXPECT_EQ(time.sums, 32);
  EXPECT_EQ(time.groups, 256);
  EXPECT_EQ(time.steps, 64);
  // Two steps of two operands of 16 rows of 64 elements, which a vector parts as they would begin
  // in one bank, to a multiple of 64 bytes.
  EXPECT_EQ(time.local_bytes, 2 * 2 * ((15 * 68 + 64) * 4 + 16));
  // No processor is faster than its multiply-adds.
  EXPECT_GE(time.cycles, std::pow(1024.0, 3) / (100 * 128));
}

// Of A, rows of 30 elements, across those of the tensor: 31 is odd.
TEST(GroupTime, RowsThatAreNoMultipleOfAVector) {
  const GroupTime time = group_time(product(30, 64, 1024), {30, 64, 32}, {2}, rates());
  EXPECT_EQ(time.parts, 1);
  EXPECT_EQ(time.local_bytes, 2 * ((31 * 31 + 30) * 4 + 4 + (31 * 68 + 64) * 4 + 16));
}

// The parts of a split reduction begin a whole number of vectors apart: a tile of one part takes
// what it takes of a product of as many reductions. Where they begin in the middle of a vector rows
// of A are copied element by element.
TEST(GroupTime, PartsOfAReductionThatIsSplit) {
  const auto step_cycles = [](int64_t apart) {
    TiledBlock block = product(1024, 1024, 512);
    block.indices.push_back({"part", 2, false});
    for (TiledView& view : block.views) {
      const auto along = std::find_if(view.dims.begin(), view.dims.end(), [&](const TiledDim& dim) {
        return block.indices[dim.terms[0].index].reduction;
      });
      if (along != view.dims.end())
        along->terms.push_back({3, apart});
      else
        view.dims.push_back({1, 1024 * 1024, {{3, 1}}});
    }
    return group_time(block, {64, 64, 16, 1}, {2}, rates()).step_cycles;
  };
  const double whole = group_time(product(2048, 1024, 512), {64, 64, 16}, {2}, rates()).step_cycles;
  EXPECT_EQ(step_cycles(512), whole);
  EXPECT_NE(step_cycles(510), whole);
}

TEST(GroupTime, WhatDoesNotFit) {
  const TiledBlock block = product(4096, 4096, 4096);
  EXPECT_TRUE(std::isinf(group_time(block, {128, 128, 64}, {2}, rates()).cycles));  // local memory
  EXPECT_TRUE(all_larger_are_over(block, {128, 128, 64}, {2}, rates()));
  GroupRates few = rates();
  few.most_group_lanes = 128;
  EXPECT_TRUE(std::isinf(group_time(block, {128, 128, 8}, {2}, few).cycles));  // sums of a lane
  EXPECT_EQ(to_string(group_time(block, {128, 128, 8}, {2}, few)), "no number of lanes holds it");
  EXPECT_FALSE(std::isinf(group_time(block, {128, 128, 8}, {2}, rates()).cycles));
  EXPECT_FALSE(all_larger_are_over(block, {64, 64, 8}, {2}, rates()));
}

// Groups that run at once share the local memory of their unit.
TEST(GroupTime, LocalMemoryOfAUnitLimitsHowManyGroupsRunAtOnce) {
  const TiledBlock block = product(2048, 2048, 256);
  const Tile tile = {64, 64, 16};
  const GroupTime all = group_time(block, tile, {2}, rates());
  ASSERT_GT(all.beside, 3);
  GroupRates little = rates();
  little.unit_local_bytes = static_cast<int64_t>(2 * all.local_bytes) + 1;
  const GroupTime two = group_time(block, tile, {2}, little);
  EXPECT_EQ(two.beside, 2);
  EXPECT_GT(two.cycles, all.cycles);
  little.unit_local_bytes = static_cast<int64_t>(all.local_bytes) - 1;
  EXPECT_TRUE(std::isinf(group_time(block, tile, {2}, little).cycles));
}

// A convolution of 3 x 3 points along a row, padded or not.
TiledBlock window(bool padded) {
  const std::string text =
      fmt::format(R"(
0: #program block [] (
    none new@0x0 I[0, 0] fp32(66:64, 64:1)
    none new@0x0 F[0, 0, 0] fp32(3:4096, 64:64, 64:1)
    none new@0x0 O[0, 0] fp32(64:64, 64:1)
) {{
  0: #main block [] (
      in I[0, 0] fp32(66:64, 64:1)
      in F[0, 0, 0] fp32(3:4096, 64:64, 64:1)
      out O[0, 0] fp32(64:64, 64:1)
  ) {{
    0: #contraction #kernel block [x:64, k:64, j:3, c:64] ( // window
        {}in I[x + j, c] fp32(1:64, 1:1)
        in F[j, c, k] fp32(1:4096, 1:64, 1:1)
        out O[x, k]:add.fp32 fp32(1:64, 1:1)
    ) {{
      0: $I = load(I)
      1: $F = load(F)
      2: $O = mul.fp32($I, $F)
      3: O = store($O)
    }}
  }}
}}
)",
                  padded ? "-1 + j + x >= 0\n        64 - j - x >= 0\n        " : "");
  Result<stripe::Program> program = stripe::parse({"window", text});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  return tiled_block(*program->main()->stmts[0].block());
}

TEST(GroupTime, SubgroupsWaitForEachOtherAtBorders) {
  const Tile tile = {16, 64, 3, 16};
  GroupRates waiting = rates();
  waiting.facts.border_barrier_cycles = 100;
  const GroupTime inside = group_time(window(false), tile, {2}, rates());
  EXPECT_EQ(group_time(window(false), tile, {2}, waiting).cycles, inside.cycles);
  const GroupTime border = group_time(window(true), tile, {2}, rates()),
                  slower = group_time(window(true), tile, {2}, waiting);
  ASSERT_EQ(slower.group_lanes, border.group_lanes);
  EXPECT_DOUBLE_EQ(slower.step_cycles,
                   border.step_cycles + 100.0 * static_cast<double>(border.group_lanes) / 32);
}

TEST(GroupTime, GrowsWithWorkAndLatency) {
  const Tile tile = {64, 64, 16};
  const double once = group_time(product(1024, 1024, 1024), tile, {2}, rates()).cycles;
  EXPECT_GT(group_time(product(1024, 1024, 2048), tile, {2}, rates()).cycles, 1.8 * once);
  EXPECT_GT(group_time(product(4096, 1024, 1024), tile, {2}, rates()).cycles, 1.5 * once);
  GroupRates slow = rates();
  slow.global_latency = 4000;
  EXPECT_GT(group_time(product(1024, 1024, 1024), tile, {2}, slow).cycles, 1.5 * once);
}

// Of every tile that may be chosen, also where lanes fetch long rows for themselves as vectors, and
// where a tile's rows have an element more than vectors.
TEST(GroupTime, BoundsOfOneTileAreNotAboveIt) {
  const std::vector<TiledBlock> blocks = {product(1, 4096, 4096), product(2, 512, 1024),
                                          product(21, 32, 512), product(300, 1, 700),
                                          product(8, 64, 64, 2)};
  for (const TiledBlock& block : blocks)
    for (const double latency : {0.0, 400.0})
      for (const GroupForm& form :
           {GroupForm{2}, GroupForm{2, true, true}, GroupForm{2, false, true}}) {
        GroupRates own = rates();
        own.global_latency = latency;
        if (latency == 0) {
          // The time is that of what lanes issue, and little can be staged.
          own.units = 1;
          own.global_bytes = 0;
          own.local_bytes = 4 << 10;
        }
        const TileSpace space = group_tiles(block, form);
        SearchCost cost;
        cost.of = [&](const Tile& tile) {
          const GroupTime time = group_time(block, tile, form, own);
          EXPECT_LE(group_time_bound(block, tile, tile, form, own), time.cycles)
              << to_string(block, tile) << ": " << to_string(time);
          return time.cycles;
        };
        cost.bound = [](const Tile&, const Tile&) { return 0; };
        cost.hopeless = [](const Tile&) { return false; };
        exhaustive(space, cost);  // of every tile
      }
}

TEST(GroupTime, TilesToChooseFrom) {
  const TileSpace space = group_tiles(product(3, 100, 1000), {2});
  EXPECT_EQ(space[0], (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(space[1], (std::vector<int64_t>{1, 2, 4, 8, 16, 32, 64, 100}));
  EXPECT_EQ(space[2], (std::vector<int64_t>{1, 2, 4, 8, 16, 32, 64}));
}

TEST(GroupTime, NeedsWhatAUnitCanDo) {
  const auto of = [](const std::string& unit) {
    Result<HardwareModel> model = load_hardware_model({"model", R"({
        "clock_mhz": 1000,
        "mem_units": {"DRAM": {"latency_cycles": 500, "read_bytes_per_cycle": 200, "size_KiB": 1024},
                      "LOCAL": {"size_KiB": 48, "latency_cycles": 20}, "REG": {"count": 2048, "size_KiB": 1}},
        "exec_units": {"CU": {"count": 8)" + unit + R"(}},
        "settings": {"threads": 256, "mem_width": 64}})"});
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    return group_rates(*model, "CU", "LOCAL", "REG");
  };
  EXPECT_FALSE(of("").has_value());
  EXPECT_FALSE(of(R"(, "ops_per_cycle": 64)").has_value());
  const auto known = of(R"(, "ops_per_cycle": 64, "max_threads": 1024)");
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->multiply_adds, 32);
  EXPECT_EQ(known->registers, 256 << 10);
  EXPECT_EQ(known->global_bytes, 25);
  EXPECT_EQ(known->line_bytes, 64);
  EXPECT_EQ(known->global_latency, 500);
}

}  // namespace
}  // namespace stria::cost
