// SPDX-License-Identifier: Apache-2.0
// Searches for tiles, against looking at every tile.
#include "stria/cost/search/tile_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "random_tiles.h"

namespace stria::cost {
namespace {

TEST(Exhaustive, FindsWhatLookingAtEveryTileFinds) {
  std::mt19937 random(7);
  const MemoryUnit small = managed(600), lines = cache(2048, 64, 2), open = cache(1024, 32, 0);
  int64_t looked_at = 0, all = 0, found = 0;
  for (int round = 0; round < 400; ++round) {
    const TiledBlock block = random_block(random);
    const TrafficSettings settings = random_settings(random);
    TileLimits limits;
    const MemoryUnit* memories[] = {nullptr, &small, &lines, &open};
    limits.memory = memories[round % 4];
    limits.pipeline_depth = round % 3 == 0 ? 2 : 1;
    if (round % 5 == 0) limits.max_po2_points = 64;
    if (round % 7 == 0) limits.max_tiles = 40;
    if (round % 11 == 0) limits.max_per_input_bytes = 400;
    SearchCost cost = cost_of(block, settings, limits);
    auto space = tile_space(block, {});
    ASSERT_TRUE(space.ok()) << space.status().to_string();
    if (round % 2) cost.last = {0};
    for (size_t keep : {size_t{1}, size_t{5}}) {
      const Ranking ranking = exhaustive(*space, cost, keep);
      ASSERT_EQ(text_of(ranking.best), text_of(unpruned(*space, cost, keep)))
          << "round " << round << ", keep " << keep;
      found += static_cast<int64_t>(ranking.best.size());
      if (keep > 1) continue;
      looked_at += ranking.looked_at;
      for_each_tile(*space, [&](const Tile&) { ++all; });
    }
  }
  std::cout << looked_at << " of " << all << " tiles looked at, " << found << " found\n";
  EXPECT_GT(found, 1000);
  EXPECT_LT(looked_at, all / 3);  // or nothing would have been left out
}

// With a gap the answer costs no more than that above the cheapest, for fewer tiles, and what is
// said to be the least cost is not above the cheapest.
TEST(Exhaustive, AGapIsKept) {
  std::mt19937 random(17);
  int64_t looked_at = 0, exact = 0;
  int not_the_cheapest = 0;
  for (int round = 0; round < 300; ++round) {
    const TiledBlock block = random_block(random);
    const TrafficSettings settings = random_settings(random);
    const MemoryUnit small = managed(600);
    TileLimits limits;
    if (round % 2) limits.memory = &small;
    SearchCost cost = cost_of(block, settings, limits);
    const auto space = tile_space(block, {});
    ASSERT_TRUE(space.ok()) << space.status().to_string();
    const Ranking best = exhaustive(*space, cost);
    cost.gap = round % 3 == 0 ? 0.05 : 0.3;
    const Ranking near = exhaustive(*space, cost);
    ASSERT_EQ(near.best.empty(), best.best.empty()) << "round " << round;
    looked_at += near.looked_at;
    exact += best.looked_at;
    if (best.best.empty()) continue;
    const double least = best.best[0].score;
    EXPECT_LE(near.best[0].score, least * (1 + cost.gap)) << "round " << round;
    EXPECT_LE(near.least, least) << "round " << round;
    EXPECT_LE(near.best[0].score, near.least * (1 + cost.gap)) << "round " << round;
    EXPECT_EQ(best.least, least) << "round " << round;
    not_the_cheapest += near.best[0].score > least;
  }
  EXPECT_LT(looked_at, exact);
  EXPECT_GT(not_the_cheapest, 0);  // or the gap would not have been tried
}

// A search that ends early says no more than it knows.
TEST(Exhaustive, EndsAfterSoManyTiles) {
  std::mt19937 random(23);
  int ended = 0, worse = 0;
  for (int round = 0; round < 300; ++round) {
    const TiledBlock block = random_block(random);
    const TrafficSettings settings = random_settings(random);
    const MemoryUnit small = managed(600);
    TileLimits limits;
    limits.memory = &small;
    SearchCost cost = cost_of(block, settings, limits);
    const auto space = tile_space(block, {});
    ASSERT_TRUE(space.ok()) << space.status().to_string();
    const Ranking best = exhaustive(*space, cost);
    if (best.best.empty()) continue;
    cost.most = 1 + best.looked_at / 2;
    const Ranking some = exhaustive(*space, cost);
    ASSERT_FALSE(some.best.empty());
    ASSERT_LE(some.least, best.best[0].score) << "round " << round;
    ASSERT_GE(some.best[0].score, best.best[0].score) << "round " << round;
    ended += some.looked_at < best.looked_at;
    worse += some.best[0].score > best.best[0].score;
    cost.most = best.looked_at + 1;
    EXPECT_EQ(text_of(exhaustive(*space, cost).best), text_of(best.best)) << "round " << round;
  }
  EXPECT_GT(ended, 50);
  EXPECT_GT(worse, 0);
}

TEST(Quick, ComesNearTheBestInFewSteps) {
  std::mt19937 random(29);
  int64_t all = 0, looked_at = 0;
  double product = 0;
  int rounds = 0;
  for (int round = 0; round < 300; ++round) {
    const TiledBlock block = random_block(random);
    const TrafficSettings settings = random_settings(random);
    const MemoryUnit small = managed(600);
    TileLimits limits;
    if (round % 2) limits.memory = &small;
    const SearchCost cost = cost_of(block, settings, limits);
    const auto space = tile_space(block, {});
    ASSERT_TRUE(space.ok()) << space.status().to_string();
    const std::vector<ScoredTile> best = unpruned(*space, cost, 1);
    const Ranking some = quick(*space, cost, 3);
    ASSERT_EQ(some.best.empty(), best.empty()) << "round " << round;
    for_each_tile(*space, [&](const Tile&) { ++all; });
    looked_at += some.looked_at;
    if (best.empty()) continue;
    ASSERT_GE(some.best[0].score, best[0].score) << "round " << round;
    ASSERT_LE(some.least, best[0].score) << "round " << round;
    for (const ScoredTile& one : some.best) ASSERT_EQ(one.score, cost.of(one.tile));
    product += std::log(some.best[0].score / best[0].score);
    ++rounds;
  }
  EXPECT_LT(std::exp(product / rounds), 1.02);
  EXPECT_LT(looked_at, all / 2);
  std::cout << looked_at << " of " << all << " tiles looked at\n";
}

TEST(Exhaustive, OfEqualTilesTheOneWhoseFirstDifferentSizeIsLarger) {
  SearchCost cost;
  cost.of = [](const Tile& tile) { return tile[0] * tile[1] == 4 ? 1.0 : 2.0; };
  cost.bound = [](const Tile&, const Tile&) { return 1.0; };
  cost.hopeless = [](const Tile&) { return false; };
  const Ranking ranking = exhaustive({{1, 2, 4}, {1, 2, 4}}, cost, 5);
  EXPECT_EQ(text_of(ranking.best), "[4, 1] 1\n[2, 2] 1\n[1, 4] 1\n[4, 4] 2\n[4, 2] 2\n");
  cost.hopeless = [](const Tile&) { return true; };
  EXPECT_TRUE(exhaustive({{1, 2, 4}, {1, 2, 4}}, cost).best.empty());
}

TEST(Ascend, StepsToTheNextSizeThatIsTwiceAsLarge) {
  std::vector<int64_t> sizes;
  ascend(TileSpace{{4, 6, 12, 20}}, [&](const Tile& tile) {
    sizes.push_back(tile[0]);
    return static_cast<double>(tile[0]);
  });
  EXPECT_THAT(sizes, ElementsAre(4, 12, 20));
}

}  // namespace
}  // namespace stria::cost
