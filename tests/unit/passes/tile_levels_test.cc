// SPDX-License-Identifier: Apache-2.0
// Tiles for one memory level after the other: each step's choice beside the least of all costs that
// keep the limits, and the values of what comes out.
#include <gtest/gtest.h>

#include <random>

#include "stria/cost/block/traffic_cost.h"
#include "stria/cost/search/tile_space.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/walk.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

using cost::Tile;
using cost::TiledBlock;

// A memory that is filled tile by tile, a cache of few sets in front of it.
constexpr const char* kModel = R"({"name": "levels", "clock_mhz": 1000,
    "mem_units": {"DRAM": {"size_KiB": 1024, "policy": "managed"},
                  "SRAM": {"count": 2, "size_KiB": 4, "policy": "managed"},
                  "L1": {"count": 2, "size_KiB": 1, "policy": "lru", "line_bytes": 32, "ways": 4}},
    "exec_units": {"CORE": {"count": 2}}})";

struct Level {
  std::string options;
  std::string from, to;  // tags
  cost::TrafficSettings settings;
  cost::TileLimits limits;
  cost::TileFilter filter;
};

// The only block with the tag.
const stripe::Block* tagged(const stripe::Program& program, const std::string& tag) {
  const stripe::Block* out = nullptr;
  stripe::visit_blocks(program.entry, [&](const stripe::Place& place) {
    if (place.block->tags.has(tag)) out = place.block;
  });
  return out;
}

// The cheapest tile that keeps the limits, of all: of equals the one whose first different size is
// larger. Empty: none does.
Tile cheapest(const TiledBlock& block, const Level& level) {
  const auto space = cost::tile_space(block, level.filter);
  STRIA_CHECK(space.ok(), "{}", space.status().to_string());
  Tile best;
  double least = 0;
  std::vector<size_t> at(space->size(), 0);
  for (;;) {
    Tile tile;
    for (size_t i = 0; i < at.size(); ++i) tile.push_back((*space)[i][at[i]]);
    if (cost::keeps_limits(block, tile, level.limits)) {
      const double one = cost::traffic_cost(block, tile, level.settings).cost;
      if (best.empty() || one < least || (one == least && tile > best)) {
        best = tile;
        least = one;
      }
    }
    size_t i = 0;
    while (i < at.size() && ++at[i] == (*space)[i].size()) at[i++] = 0;
    if (i == at.size()) return best;
  }
}

TEST(TileLevels, EachIsTheCheapestThatKeepsItsLimits) {
  const auto model = load_hardware_model({"levels", kModel});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::vector<Level> levels(3);
  levels[0] = {R"("reqs": ["contraction"], "inner_set": ["near"], "outer_set": ["far"],
                  "memory": "SRAM", "pipeline_depth": 2, "border_cost": 0.5, "copy_tags": false)",
               "contraction",
               "near",
               {.border_cost = 0.5},
               {},
               {}};
  levels[0].limits.memory = model->find_memory("SRAM");
  levels[0].limits.pipeline_depth = 2;
  levels[1] = {R"("reqs": ["near"], "inner_set": ["nearer"], "memory": "L1",
                  "cache_width_bytes": 32, "max_tiles": 500)",
               "near",
               "nearer",
               {.cache_width_bytes = 32},
               {},
               {}};
  levels[1].limits.memory = model->find_memory("L1");
  levels[1].limits.max_tiles = 500;
  levels[2] = {R"("reqs": ["nearer"], "inner_set": ["nearest"], "max_points": 24,
                  "max_per_input_bytes": 96, "only_po2": true)",
               "nearer",
               "nearest",
               {},
               {},
               {.only_po2 = true}};
  levels[2].limits.max_points = 24;
  levels[2].limits.max_per_input_bytes = 96;
  std::mt19937 random(3);
  const auto pick = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  int cut = 0, uneven = 0;
  for (int round = 0; round < 24; ++round) {
    const bool product = round % 3 == 0;
    const int64_t taps = pick(1, 3), stride = pick(1, 2), size = pick(4, 11), channels = pick(1, 9);
    const std::string text =
        product ? "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
                : fmt::format(
                      "function (A[Y, X, K], B[I, J, K, N]) -> (C) {{ C[y, x, n : {0}, {0}, "
                      "N] = +(A[{1}*y + i - {2}, {1}*x + j - {2}, k] * B[i, j, k, n]); }}",
                      ceil_div(size, stride), stride, taps / 2);
    const DataType type = pick(0, 1) ? DataType::i32 : DataType::i16;
    const int64_t n = pick(2, 12), m = pick(9, 40), k = pick(9, 40), columns = pick(9, 40);
    auto program = product
                       ? make_program(text, {{"A", {type, {m, k}}}, {"B", {type, {k, columns}}}})
                       : make_program(text, {{"A", {type, {size, size, channels}}},
                                             {"B", {type, {taps, taps, channels, n}}}});
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    stripe::Program stripe = program->generic;
    for (const Level& level : levels) {
      const stripe::Block* before = tagged(stripe, level.from);
      ASSERT_TRUE(before) << level.from;
      const TiledBlock block = cost::tiled_block(*before);
      const Tile expected = cheapest(block, level);
      const auto steps = parse_pipeline({"step", "[{\"autotile\": {" + level.options + "}}]"}, {},
                                        *model, pass_registry());
      ASSERT_TRUE(steps.ok()) << steps.status().to_string();
      PipelineOptions how;
      how.verify_each = true;
      const auto reports = run_pipeline(stripe, *steps, *model, how);
      if (expected.empty()) {
        EXPECT_FALSE(reports.ok()) << text;
        break;
      }
      ASSERT_TRUE(reports.ok()) << reports.status().to_string();
      const stripe::Block* after = tagged(stripe, level.to);
      ASSERT_TRUE(after) << level.to;
      Tile chosen;
      for (const TiledBlock::Index& index : block.indices) {
        const stripe::Index* found = after->find_index(index.name);
        chosen.push_back(found ? found->range : 1);
      }
      EXPECT_EQ(cost::to_string(block, chosen), cost::to_string(block, expected))
          << "round " << round << ", " << level.options << "\n"
          << text;
      cut += chosen != block.ranges();
      for (size_t i = 0; i < chosen.size(); ++i) uneven += block.indices[i].range % chosen[i] != 0;
    }
    EXPECT_EQ(wrong_values(stripe, *program), "") << text;
  }
  EXPECT_GT(cut, 40);
  EXPECT_GT(uneven, 10);
}

}  // namespace
}  // namespace stria::passes
