// SPDX-License-Identifier: Apache-2.0
// The costs of tiles of any block: the formulas on the tiles of the Stripe slides, memories as they
// fill, and searches against looking at every tile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/ranges.h>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "random_tiles.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/cost/block/block_time.h"
#include "stria/cost/block/machine_balance.h"
#include "stria/cost/block/traffic_cost.h"
#include "stria/cost/search/tile_search.h"
#include "stria/cost/workgroup/group_time.h"
#include "stria/cost/workgroup/roofline_occupancy.h"
#include "stria/cost/workgroup/score_bound.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The convolution of the slides' tiling.
TiledBlock slides_convolution() {
  return block_of(R"(#conv block [ci:32, co:64, kx:3, ky:3, x:256, y:256] ( // conv
        -1 + kx + x >= 0
        256 - kx - x >= 0
        -1 + ky + y >= 0
        256 - ky - y >= 0
        in I[-1 + kx + x, -1 + ky + y, ci] i8(1:8192, 1:32, 1:1)
        in K1[kx, ky, ci, co] i8(1:6144, 1:2048, 1:64, 1:1)
        out O1[x, y, co]:add.i32 i8(1:16384, 1:64, 1:1)
    ) {
      0: $I = load(I)
      1: $K1 = load(K1)
      2: $O1 = mul.i32($I, $K1)
      3: O1 = store($O1)
    })",
                  "I[0, 0, 0] i8(256:8192, 256:32, 32:1)\n"
                  "K1[0, 0, 0, 0] i8(3:6144, 3:2048, 32:64, 64:1)\n"
                  "O1[0, 0, 0] i8(256:16384, 256:64, 64:1)");
}

// ci, co, kx, ky, x, y
const std::vector<Tile> kSlidesTiles = {{32, 4, 1, 1, 8, 8},
                                        {16, 8, 1, 1, 8, 8},
                                        {32, 5, 1, 1, 4, 4},
                                        {32, 1, 3, 3, 6, 6},
                                        {16, 1, 3, 3, 9, 9}};

TEST(Traffic, TheFiveTilesOfTheSlides) {
  const TiledBlock block = slides_convolution();
  std::vector<std::string> elements, lines;
  for (const Tile& tile : kSlidesTiles) {
    elements.push_back(fmt::format("{:.3f}", traffic_cost(block, tile, {}).cost));
    lines.push_back(
        fmt::format("{:.3f}", traffic_cost(block, tile, {.cache_width_bytes = 64}).cost));
  }
  EXPECT_THAT(elements, ElementsAre("0.314", "0.220", "0.318", "0.249", "0.209"));
  EXPECT_THAT(lines, ElementsAre("0.034", "0.032", "0.043", "0.053", "0.043"));
}

TEST(Traffic, ABoundIsBelowEveryTileOfItsBox) {
  std::mt19937 random(11);
  double tightest = 0;
  for (int round = 0; round < 400; ++round) {
    const TiledBlock block = random_block(random);
    const TrafficSettings settings = random_settings(random);
    Tile low, high;
    for (int64_t range : block.ranges()) {
      low.push_back(std::uniform_int_distribution<int64_t>(1, range)(random));
      high.push_back(std::uniform_int_distribution<int64_t>(low.back(), range)(random));
    }
    const double bound = traffic_cost_bound(block, low, high, settings);
    for (int inside = 0; inside < 50; ++inside) {
      Tile tile;
      for (size_t i = 0; i < low.size(); ++i)
        tile.push_back(std::uniform_int_distribution<int64_t>(low[i], high[i])(random));
      const double cost = traffic_cost(block, tile, settings).cost;
      ASSERT_LE(bound, cost) << "round " << round << " " << to_string(block, tile);
      tightest = std::max(tightest, bound / cost);
    }
  }
  EXPECT_GT(tightest, 0.99);
}

// A kernel of one operand more than the output, some of its strides overlapping.
FlatKernel random_kernel(std::mt19937& random) {
  const auto pick = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  FlatKernel out;
  const int64_t n = pick(2, 4);
  FlatTensor tensors[3] = {{"O", DataType::fp32, {}, 0},
                           {"A", pick(0, 1) ? DataType::fp32 : DataType::fp16, {}, 0},
                           {"B", DataType::fp32, {}, 0}};
  int64_t dense[3] = {1, 1, 1};
  for (int64_t i = 0; i < n; ++i) {
    out.indices.push_back({fmt::format("i{}", i), pick(2, 20)});
    for (int t = 0; t < 3; ++t) {
      const bool used = i == 0 ? t == 0 : pick(0, 2) > 0;
      tensors[t].strides.push_back(used ? (pick(0, 3) == 0 ? pick(1, 5) : dense[t]) : 0);
      if (used) dense[t] *= out.indices.back().range;
    }
  }
  out.output = tensors[0];
  out.inputs = {tensors[1], tensors[2]};
  out.written_tensors = pick(1, 2);
  out.post_operations = pick(0, 3);
  return out;
}

TEST(Exhaustive, FindsTheBestScoreOfWorkGroups) {
  std::mt19937 random(5);
  int64_t looked_at = 0, all = 0, none = 0;
  for (int round = 0; round < 200; ++round) {
    const FlatKernel kernel = random_kernel(random);
    GroupSettings of;
    of.threads = round % 2 ? 16 : 64;
    of.mem_width = round % 3 ? 32 : 128;
    of.max_mem = round % 5 ? 2048 : 200;
    of.max_regs = round % 7 ? 1024 : 128;
    of.goal_groups = 4;
    of.goal_flops_per_byte = round % 4 ? 2 : 20;
    of.use_global = round % 6 == 0;
    SearchCost cost;
    cost.of = [&](const Tile& tile) {
      const GroupScore score = score_of(kernel, tile, of);
      return score.fits() ? -score.score : kNone;
    };
    const ScoreBound bound(kernel, of);
    cost.bound = [&](const Tile& low, const Tile& high) { return -bound(low, high); };
    cost.hopeless = [&](const Tile& tile) { return bound.all_larger_are_over(tile); };
    TileSpace space;
    for (const FlatKernel::Index& index : kernel.indices) {
      if (round % 2 && !kernel.writes_apart(space.size())) cost.last.push_back(space.size());
      std::vector<int64_t>& sizes = space.emplace_back();
      for (int64_t size = 1; size <= index.range; ++size) sizes.push_back(size);
    }
    const Ranking ranking = exhaustive(space, cost, 3);
    ASSERT_EQ(text_of(ranking.best), text_of(unpruned(space, cost, 3))) << "round " << round;
    looked_at += ranking.looked_at;
    none += ranking.best.empty();
    for_each_tile(space, [&](const Tile&) { ++all; });
  }
  std::cout << looked_at << " of " << all << " tiles looked at, " << none << " times none fits\n";
  EXPECT_LT(looked_at, all / 2);
  EXPECT_LT(none, 50);
}

// A convolution of an image of `size` x `size`, channels innermost, its indices by name.
FlatKernel convolution(int64_t size, int64_t channels, int64_t taps, int64_t stride,
                       int64_t outputs) {
  const int64_t row = size * channels, filter = channels * outputs, places = ceil_div(size, stride);
  FlatKernel out;
  out.indices = {{"c", channels}, {"i", taps},   {"j", taps},
                 {"o", outputs},  {"x", places}, {"y", places}};
  out.output = {"O", DataType::fp32, {0, 0, 0, 1, places * outputs, outputs}, 0};
  out.inputs = {{"I", DataType::fp32, {1, row, channels, 0, stride * row, stride * channels}, 0},
                {"F", DataType::fp32, {outputs, taps * filter, filter, 1, 0, 0}, 0}};
  out.post_operations = 3;
  return out;
}

TEST(ScoreBound, IsAboveEveryTileOfItsBox) {
  std::mt19937 random(11);
  const auto pick = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  int64_t fits = 0;
  double tightest = 1e9, loosest_of_one = 0;
  for (int round = 0; round < 10000; ++round) {
    const FlatKernel kernel =
        round % 3 ? random_kernel(random)
                  : convolution(pick(4, 12), pick(1, 12), pick(1, 3), pick(1, 3), pick(1, 12));
    GroupSettings of;
    of.threads = round % 2 ? 16 : 64;
    of.mem_width = round % 5 ? 32 : 128;
    of.max_mem = round % 7 ? 1 << 20 : 400;
    of.max_regs = 1 << 20;
    of.goal_groups = round % 4 ? 4 : 64;
    of.goal_flops_per_byte = 200;
    of.use_global = round % 6 == 0;
    const ScoreBound bound(kernel, of);
    Tile low, high;
    for (const FlatKernel::Index& index : kernel.indices) {
      low.push_back(pick(1, index.range));
      high.push_back(std::min(index.range, low.back() + pick(0, 3)));
    }
    const double most = bound(low, high), hopeless = bound.all_larger_are_over(low);
    TileSpace space;
    for (size_t i = 0; i < low.size(); ++i) {
      space.emplace_back();
      for (int64_t size = low[i]; size <= high[i]; ++size) space.back().push_back(size);
    }
    double best = 0;
    for_each_tile(space, [&](const Tile& tile) {
      const GroupScore score = score_of(kernel, tile, of);
      if (!score.fits()) return;
      ++fits;
      best = std::max(best, score.score);
      ASSERT_FALSE(hopeless) << "round " << round;
      ASSERT_LE(score.score, most) << "round " << round;
      loosest_of_one = std::max(loosest_of_one, bound(tile, tile) / score.score);
    });
    if (best > 0) tightest = std::min(tightest, most / best);
  }
  std::cout << fits << " tiles fit; bounds of one tile at most " << loosest_of_one << " times it\n";
  EXPECT_GT(fits, 100000);
  EXPECT_LT(tightest, 1.001);
}

// Tiles of a strided convolution of ResNet-50 that a search over all sizes asks for: what its time
// comes from.
TEST(ScoreBound, LeavesFewTilesOfAConvolution) {
  const FlatKernel kernel = convolution(56, 128, 3, 2, 128);
  GroupSettings of;
  of.threads = 256;
  of.mem_width = 32;
  of.max_mem = 49152;
  of.max_regs = 65536;
  of.goal_groups = 128;
  of.goal_flops_per_byte = 30;
  const ScoreBound bound(kernel, of);
  int64_t boxes = 0;
  SearchCost cost;
  cost.of = [&](const Tile& tile) {
    const GroupScore score = score_of(kernel, tile, of);
    return score.fits() ? -score.score : kNone;
  };
  cost.bound = [&](const Tile& low, const Tile& high) {
    ++boxes;
    return -bound(low, high);
  };
  cost.hopeless = [&](const Tile& tile) { return bound.all_larger_are_over(tile); };
  cost.last = {0, 1, 2};
  const std::vector<int64_t> by_range[] = {{1, 2, 4, 8, 16, 19, 22, 26, 32, 43, 64, 128},
                                           {1, 2, 3},
                                           {1, 2, 4, 5, 6, 7, 8, 10, 14, 16, 28}};
  const TileSpace space = {by_range[0], by_range[1], by_range[1],
                           by_range[0], by_range[2], by_range[2]};
  const Ranking ranking = exhaustive(space, cost);
  EXPECT_EQ(text_of(ranking.best), text_of(unpruned(space, cost, 1)));
  EXPECT_LT(ranking.looked_at, 1000) << "of 156816";
  EXPECT_LT(boxes, 10000);
}

// Units on which different terms of the time count.
GroupRates random_rates(std::mt19937& random) {
  const auto one_of = [&](std::vector<double> values) {
    return values[std::uniform_int_distribution<size_t>(0, values.size() - 1)(random)];
  };
  GroupRates out;
  out.units = one_of({1, 2, 7});
  out.multiply_adds = one_of({4, 32, 128});
  out.most_lanes = 512;
  out.most_group_lanes = 128;
  out.registers = static_cast<int64_t>(one_of({16 << 10, 128 << 10}));
  out.lane_registers = static_cast<int64_t>(one_of({300, 1024}));
  out.local_bytes = static_cast<int64_t>(one_of({2048, 1 << 20}));
  out.unit_local_bytes = static_cast<int64_t>(one_of({0, 4096, 1 << 20}));
  out.global_latency = one_of({0, 40, 400});
  out.local_latency = one_of({0, 30});
  out.bank_bytes = static_cast<int64_t>(one_of({0, 64, 128}));
  out.global_bytes = one_of({0, 1, 24});
  return out;
}

TEST(Exhaustive, FindsTheShortestTimeOfWorkGroups) {
  std::mt19937 random(13);
  int64_t looked_at = 0, all = 0, none = 0, in_parts = 0, direct = 0;
  double tightest = 0;
  for (int round = 0; round < 400; ++round) {
    TiledBlock block = random_block(random);
    if (round % 3 > 0) block.constraints.clear();
    const GroupRates rates = random_rates(random);
    const GroupForm form = {
        .depth = round % 2 + 1, .parts = round % 4 > 1, .direct = round % 8 > 3};
    SearchCost cost;
    cost.of = [&](const Tile& tile) {
      const GroupTime time = group_time(block, tile, form, rates);
      in_parts += time.parts > 1;
      direct += time.direct;
      return time.cycles;
    };
    cost.bound = [&](const Tile& low, const Tile& high) {
      return group_time_bound(block, low, high, form, rates);
    };
    cost.hopeless = [&](const Tile& tile) { return all_larger_are_over(block, tile, form, rates); };
    TileSpace space;
    for (int64_t range : block.ranges()) {
      std::vector<int64_t>& sizes = space.emplace_back();
      for (int64_t size = 1; size <= range; ++size) sizes.push_back(size);
    }
    const Ranking ranking = exhaustive(space, cost, 3);
    ASSERT_EQ(text_of(ranking.best), text_of(unpruned(space, cost, 3))) << "round " << round;
    looked_at += ranking.looked_at;
    none += ranking.best.empty();
    for_each_tile(space, [&](const Tile& tile) {
      ++all;
      const double cycles = cost.of(tile), bound = cost.bound(tile, tile);
      ASSERT_LE(bound, cycles) << "round " << round << " " << to_string(block, tile);
      if (cycles < kNone) tightest = std::max(tightest, bound / cycles);
    });
  }
  std::cout << looked_at << " of " << all << " tiles looked at, " << none << " times none fits\n";
  EXPECT_LT(looked_at, all / 3);
  EXPECT_LT(none, 50);
  EXPECT_GT(tightest, 0.99);
  EXPECT_GT(in_parts, all / 50);
  EXPECT_GT(direct, all / 50);
}

TEST(TileSpace, DivisorsPowersOfTwoAndParts) {
  const TiledBlock block = block_of(
      "block [a:12, k:100] (\nin A[a, k] fp32(1:100, 1:1)\nout C[a]:add.fp32 fp32(1:1)\n) {\n0: $a "
      "= "
      "load(A)\n1: C = store($a)\n}\n",
      "A[0, 0] fp32(12:100, 100:1)\nC[0] fp32(12:1)");
  const auto sizes = [&](const TileFilter& filter) {
    auto space = tile_space(block, filter);
    if (!space.ok()) return space.status().message();
    return fmt::format("{} | {}", fmt::join((*space)[0], " "), fmt::join((*space)[1], " "));
  };
  EXPECT_EQ(sizes({}), "1 2 3 4 6 8 12 | 1 2 4 5 8 10 13 15 16 17 20 25 32 34 50 64 100");
  EXPECT_EQ(sizes({.only_po2 = true}), "1 2 4 8 | 1 2 4 8 16 32 64");
  EXPECT_EQ(sizes({.only_even = true}), "1 2 3 4 6 12 | 1 2 4 5 10 20 25 50 100");
  EXPECT_EQ(sizes({.only_multiple_of = 32}), "12 | 32 64 96");
  EXPECT_EQ(sizes({.only_multiple_of = 4}), "4 8 12 | 4 8 16 20 28 32 36 52 64 100");
  EXPECT_EQ(sizes({.only_po2 = true, .cut_reductions = false}), "1 2 4 8 | 100");
  EXPECT_EQ(sizes({.only_even = true, .only_multiple_of = 32}),
            "index 'k' of range 100 has no size that passes only_even, only_multiple_of 32");
}

TEST(TileLimits, SayWhichAndByHowMuch) {
  const TiledBlock block = slides_convolution();
  const Tile tile = {32, 4, 1, 1, 8, 8};  // 2048 + 128 + 4 * 256 bytes: sums are kept in i32
  const auto over = [&](const TileLimits& limits) {
    auto out = over_limit(block, tile, limits);
    EXPECT_EQ(keeps_limits(block, tile, limits), !out);
    return out ? out->to_string() : "";
  };
  const MemoryUnit sram = managed(4096), l1 = cache(1024, 64, 2);
  EXPECT_EQ(over({.memory = &sram}), "");
  EXPECT_EQ(over({.memory = &sram, .pipeline_depth = 2}),
            "SRAM (4096 bytes / pipeline_depth 2): 3200 bytes of 2048, 1152 too many");
  // 8 rows of 256 bytes of I, 4 of K1 and 64 pixels of O1, a line each.
  EXPECT_EQ(over({.memory = &l1}), "L1 (1024 bytes): 8192 bytes of 1024, 7168 too many");
  EXPECT_EQ(over({.max_input_bytes = 2176}), "");
  EXPECT_EQ(over({.max_input_bytes = 2175}), "max_input_bytes: 2176 bytes of 2175, 1 too many");
  EXPECT_EQ(over({.max_output_bytes = 1000}), "max_output_bytes: 1024 bytes of 1000, 24 too many");
  EXPECT_EQ(over({.max_per_input_bytes = 2000}),
            "max_per_input_bytes of 'I': 2048 bytes of 2000, 48 too many");
  EXPECT_EQ(over({.max_per_output_bytes = 1023}),
            "max_per_output_bytes of 'O1': 1024 bytes of 1023, 1 too many");
  EXPECT_EQ(over({.max_total_bytes = 3199}), "max_total_bytes: 3200 bytes of 3199, 1 too many");
  EXPECT_EQ(over({.max_points = 8191}), "max_points: 8192 points of 8191, 1 too many");
  EXPECT_EQ(over({.max_po2_points = 8192}), "");
  EXPECT_EQ(over({.max_tiles = 147455}), "max_tiles: 147456 tiles of 147455, 1 too many");
  // A tile that no reduction is cut by keeps sums in the output's own type.
  EXPECT_EQ(staged_bytes(block, block.views[2], {32, 4, 3, 3, 8, 8}), 256);
}

// Places of the fullest set, by laying the lines of a box into a cache.
double fullest_set(const TiledView& view, const Tile& tile, int64_t line_bytes, int64_t sets) {
  std::set<int64_t> lines;
  std::vector<int64_t> at(view.dims.size(), 0);
  for (;;) {
    int64_t byte = 0;
    for (size_t d = 0; d < at.size(); ++d) byte += at[d] * view.dims[d].stride * view.element_bytes;
    lines.insert(byte / line_bytes);
    size_t d = 0;
    while (d < at.size() && static_cast<double>(++at[d]) == extent(view.dims[d], tile)) at[d++] = 0;
    if (d == at.size()) break;
  }
  std::map<int64_t, int64_t> places;
  for (int64_t line : lines) ++places[line % sets];
  int64_t most = 0;
  for (const auto& [set, count] : places) most = std::max(most, count);
  return static_cast<double>(most);
}

TEST(MemoryUse, RowsThatMeetInTheSameSetsDoNotFit) {
  const auto rows = [](int64_t stride) {
    return block_of(
        fmt::format("block [x:64, y:64] (\nin A[x, y] fp32(1:{}, 1:1)\n) {{\n0: $a = load(A)\n}}\n",
                    stride),
        fmt::format("A[0, 0] fp32(64:{}, 64:1)", stride));
  };
  const MemoryUnit l1 = cache(32768, 64, 8);  // 64 sets: 4096 bytes apart is the same set
  const Tile tile = {16, 16};                 // 16 rows of a line
  for (const auto& [stride, places] :
       {std::pair(1024, 16.0), std::pair(512, 8.0), std::pair(1040, 1.0), std::pair(64, 1.0)}) {
    const TiledBlock block = rows(stride);
    EXPECT_EQ(places_of(block.views[0], tile, 64, 64), places) << stride;
    EXPECT_EQ(fullest_set(block.views[0], tile, 64, 64), places) << stride;
    const MemoryUse use = memory_use(block, tile, l1, 1);
    EXPECT_EQ(use.bytes, 1024);
    EXPECT_EQ(use.fits(), places <= 8);
    EXPECT_EQ(memory_use(block, tile, l1, 2).fits(), places <= 4);
  }
  // Where all its sets are the same to a line, only the size counts.
  EXPECT_TRUE(memory_use(rows(1024), tile, cache(32768, 64, 0), 1).fits());
}

TEST(MemoryUse, PlacesAreNeverFewerThanLinesOverSets) {
  std::mt19937 random(3);
  double worst = 1;
  for (int round = 0; round < 300; ++round) {
    const TiledBlock block = random_block(random);
    Tile tile;
    for (int64_t range : block.ranges())
      tile.push_back(
          std::uniform_int_distribution<int64_t>(1, std::min<int64_t>(range, 5))(random));
    for (const TiledView& view : block.views) {
      const double sets = 8, real = fullest_set(view, tile, 64, 8);
      const double places = places_of(view, tile, 64, 8);
      EXPECT_GE(places, std::ceil(lines_of(view, tile, 64) / sets));
      worst = std::max(worst, real / places);
    }
  }
  std::cout << "the fullest set is at most " << worst << " times as full as estimated\n";
}

TEST(Traffic, OfAMatrixProductThroughAManagedMemoryAndACache) {
  const TiledBlock block = block_of(
      "block [i:64, j:64, k:64] (\nin A[i, k] fp32(1:64, 1:1)\nin B[k, j] fp32(1:64, 1:1)\nout "
      "C[i, "
      "j]:add.fp32 fp32(1:64, 1:1)\n) {\n0: $a = load(A)\n1: $b = load(B)\n2: $c = mul.fp32($a, "
      "$b)\n3: C = "
      "store($c)\n}\n",
      "A[0, 0] fp32(64:64, 64:1)\nB[0, 0] fp32(64:64, 64:1)\nC[0, 0] fp32(64:64, 64:1)");
  EXPECT_EQ(block.operations, 2);
  MemoryUnit dram = managed(0);
  dram.name = "DRAM";
  dram.line_bytes = 64;
  // 64 tiles of 16x16 of A and B in 1024 bytes each; C's sums go out 64 times, and come back 48
  // times.
  Traffic through = traffic_into(block, {16, 16, 16}, managed(8192), &dram);
  EXPECT_EQ(through.read_bytes, 64 * 2048 + 48 * 1024);
  EXPECT_EQ(through.written_bytes, 64 * 1024);
  // With tiles of 8 half of each line is fetched for nothing.
  through = traffic_into(block, {16, 16, 8}, managed(8192), &dram);
  EXPECT_EQ(through.read_bytes, 128 * (16 * 64 + 8 * 64) + 112 * 1024);
  // A cache that holds everything is filled once, with all of it.
  through = traffic_into(block, {16, 16, 16}, cache(65536, 64, 0), &dram);
  EXPECT_EQ(through.read_bytes, 2 * 16384);
  EXPECT_EQ(through.written_bytes, 16384);
  // One that holds a row of tiles, A's with all of B and C's: A and C come once.
  through = traffic_into(block, {16, 16, 16}, cache(24576, 64, 0), &dram);
  EXPECT_EQ(through.read_bytes, 4 * (4096 + 16384));
  EXPECT_EQ(through.written_bytes, 4 * 4096);
}

TEST(Border, TilesWithPointsLeftOut) {
  const TiledBlock block = slides_convolution();
  // By looking: a tile is inside where every point of it meets every constraint.
  for (const Tile& tile : {Tile{32, 64, 3, 3, 8, 8}, Tile{32, 64, 1, 3, 100, 64},
                           Tile{16, 5, 2, 1, 37, 256}, Tile{32, 64, 3, 3, 256, 256}}) {
    double border = 0;
    TileSpace starts;
    for (size_t i = 0; i < tile.size(); ++i) {
      std::vector<int64_t>& at = starts.emplace_back();
      for (int64_t from = 0; from < block.indices[i].range; from += tile[i]) at.push_back(from);
    }
    for_each_tile(starts, [&](const Tile& at) {
      bool inside = true;
      for (size_t i = 0; i < tile.size(); ++i)
        inside = inside && at[i] + tile[i] <= block.indices[i].range;
      for (const auto& [a, b] : {std::pair(2, 4), std::pair(3, 5)})
        inside = inside && at[a] + at[b] >= 1 && at[a] + at[b] + tile[a] + tile[b] - 2 <= 256;
      border += !inside;
    });
    EXPECT_EQ(border_tiles_of(block, tile), border) << to_string(block, tile);
  }
  const Tile tile = {32, 64, 3, 3, 8, 8};
  EXPECT_EQ(border_tiles_of(block, tile), 32 * 32 - 30 * 30);
  const double plain = traffic_cost(block, tile, {.split_factor = 0}).cost;
  EXPECT_DOUBLE_EQ(traffic_cost(block, tile, {.split_factor = 0, .border_cost = 2}).cost,
                   plain * (1 + 2 * 124.0 / 1024));
}

TEST(BlockTime, OnTheSlidesAccelerator) {
  const std::string path = STRIA_SOURCE_DIR "/hwmodels/templates/stripe_slides.json";
  Result<std::string> text = read_file(path);
  ASSERT_TRUE(text.ok());
  Result<HardwareModel> model = load_hardware_model({path, *text});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const TiledBlock block = slides_convolution();
  const MemoryUnit* sram = model->find_memory("SRAM");
  const Tile tile = {32, 64, 3, 3, 64, 64};
  const BlockTime alone = time_of(block, tile, *model, sram, 1);
  EXPECT_EQ(alone.operations, 2.0 * 32 * 64 * 9 * 65536);
  EXPECT_EQ(alone.unit, "CONV");
  EXPECT_EQ(alone.ops_per_cycle, 2 * 2 * 512);  // two units of 512 multiply-adds
  EXPECT_DOUBLE_EQ(alone.compute_us, alone.operations / 2048 / 1000);
  ASSERT_EQ(alone.levels.size(), 1u);
  EXPECT_EQ(alone.levels[0].into + alone.levels[0].behind, "SRAMDRAM");
  EXPECT_EQ(alone.levels[0].waits_for, "buses");
  EXPECT_EQ(alone.levels[0].traffic.read_bytes, 16 * (66 * 66 * 32 + 32 * 64 * 9));
  EXPECT_DOUBLE_EQ(alone.levels[0].us, alone.levels[0].traffic.written_bytes / 64 / 1000);
  EXPECT_DOUBLE_EQ(alone.us, alone.compute_us + alone.levels[0].us);
  const BlockTime together = time_of(block, tile, *model, sram, 2);
  EXPECT_DOUBLE_EQ(together.us, alone.compute_us);
  // Three tiles of outputs on two units: the last round uses one.
  EXPECT_DOUBLE_EQ(time_of(block, {32, 64, 3, 3, 256, 100}, *model, sram, 1).occupancy, 0.75);
  EXPECT_THAT(to_string(together), HasSubstr("SRAM <- DRAM: read_bytes="));
  EXPECT_DOUBLE_EQ(time_of(block, tile, *model, sram, 2, {model->find_executor("CONV"), 1}).us,
                   2 * alone.compute_us);
  EXPECT_EQ(time_of(block, tile, *model, sram, 2, {model->find_executor("DSP"), 0}).ops_per_cycle,
            128);
}

// An array of 32 by 32 at half the model's clock, beside a bus of 16 bytes.
TEST(BlockTime, UnitsHaveClocksOfTheirOwnAndArraysAreFull) {
  const std::string path = STRIA_SOURCE_DIR "/hwmodels/templates/slides_systolic.json";
  const auto model_at = [&](const std::string& array_mhz) {
    return load_hardware_model({path, read_file(path).value()}, {{"ARRAY_MHZ", array_mhz}}).value();
  };
  const TiledBlock block = slides_convolution();
  const Tile tile = {32, 64, 3, 3, 64, 64};
  const auto time_at = [&](const HardwareModel& model) {
    return time_of(block, tile, model, model.find_memory("SRAM"), 2);
  };
  const HardwareModel model = model_at("500");
  const BlockTime time = time_at(model);
  EXPECT_EQ(time.unit, "CONV");
  EXPECT_EQ(time.ops_per_cycle, 2 * 32 * 32 / 2);
  EXPECT_DOUBLE_EQ(time.compute_us, time.operations / 1024 / 1000);
  EXPECT_DOUBLE_EQ(time_at(model_at("250")).compute_us, 2 * time.compute_us);
  EXPECT_DOUBLE_EQ(operations_per_byte(model), 1024.0 / 16);
  HardwareModel slow_bus = model;
  for (Bus& bus : slow_bus.buses) bus.clock_mhz = 500;
  EXPECT_DOUBLE_EQ(time_at(slow_bus).levels[0].us, 2 * time.levels[0].us);
  EXPECT_DOUBLE_EQ(operations_per_byte(slow_bus), 1024.0 / 8);
}

TEST(BlockTime, WithoutAModelNothingIsKnown) {
  const BlockTime time =
      time_of(slides_convolution(), {32, 64, 3, 3, 64, 64}, empty_hardware_model(), nullptr, 1);
  EXPECT_EQ(time.us, 0);
  EXPECT_EQ(time.unit, "");
  EXPECT_TRUE(time.levels.empty());
}

}  // namespace
}  // namespace stria::cost
