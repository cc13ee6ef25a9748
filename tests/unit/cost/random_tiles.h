// SPDX-License-Identifier: Apache-2.0
// Blocks and settings by chance for tests of tiles, and the search that looks at every tile.
#pragma once

#include <fmt/ranges.h>
#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "stria/base/text.h"
#include "stria/cost/block/tiled_block.h"
#include "stria/cost/block/traffic_cost.h"
#include "stria/cost/search/tile_search.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {

inline constexpr double kNone = std::numeric_limits<double>::infinity();

// A block of one statement of `#main`, with the tensors that its views need.
inline TiledBlock block_of(const std::string& block, const std::string& tensors) {
  std::string allocations, views;
  for (const std::string& tensor : split(tensors, '\n')) {
    if (trim(tensor).empty()) continue;
    allocations += "none new@0x0 " + std::string(trim(tensor)) + "\n";
    views += "inout " + std::string(trim(tensor)) + "\n";
  }
  const std::string text = "0: #program block [] (\n" + allocations + ") {\n0: #main block [] (\n" +
                           views + ") {\n0: " + block + "}\n}\n";
  Result<stripe::Program> program = stripe::parse({"block", text});
  STRIA_CHECK(program.ok(), "{}", program.status().to_string());
  return tiled_block(*program->main()->stmts[0].block());
}

// Blocks of up to four indices with views of all kinds: steps over 1, halos, diagonals, dimensions
// that overlap and stand still.
inline TiledBlock random_block(std::mt19937& random) {
  const auto pick = [&](int64_t from, int64_t to) {
    return std::uniform_int_distribution<int64_t>(from, to)(random);
  };
  std::string indices, tensors, views;
  const int64_t n = pick(2, 4);
  for (int64_t i = 0; i < n; ++i)
    indices += fmt::format("{}i{}:{}", i > 0 ? ", " : "", i, pick(2, 14));
  for (int64_t v = 0; v < 3; ++v) {
    std::string access, sizes, view;
    const int64_t rank = pick(1, 3);
    int64_t stride = 1;
    for (int64_t d = rank - 1; d >= 0; --d) {
      std::string form;
      for (int64_t i = 0; i < n; ++i)
        if (pick(0, 2) == 0)
          form += fmt::format("{}{}*i{}", form.empty() ? "" : " + ", pick(1, 3), i);
      const char* comma = access.empty() ? "" : ", ";
      access = (form.empty() ? "0" : form) + comma + access;
      sizes = fmt::format("200:{}", stride) + comma + sizes;
      view = fmt::format("{}:{}", pick(0, 3) == 0 ? 2 : 1, stride) + comma + view;
      stride *= pick(0, 4) == 0 ? 7 : 200;
    }
    const char* type = pick(0, 1) ? "fp32" : "fp16";
    std::string zeros = "0";
    for (int64_t d = 1; d < rank; ++d) zeros += ", 0";
    tensors += fmt::format("T{}[{}] {}({})\n", v, zeros, type, sizes);
    const char* dir = v == 0 ? "out" : pick(0, 5) == 0 ? "inout" : "in";
    views +=
        fmt::format("{} T{}[{}]{} {}({})\n", dir, v, access, v == 0 ? ":add.fp32" : "", type, view);
  }
  return block_of(
      fmt::format("block [{}] (\n7 - i0 >= 0\n{}) {{\n0: $c = (fp32)1.0\n}}\n", indices, views),
      tensors);
}

inline MemoryUnit managed(int64_t bytes) {
  MemoryUnit out;
  out.name = "SRAM";
  out.size_bytes = bytes;
  out.policy = MemoryPolicy::managed;
  return out;
}

inline MemoryUnit cache(int64_t bytes, int64_t line, int64_t ways) {
  MemoryUnit out = managed(bytes);
  out.name = "L1";
  out.policy = MemoryPolicy::lru;
  out.line_bytes = line;
  out.ways = ways;
  return out;
}

inline void for_each_tile(const TileSpace& space, const std::function<void(const Tile&)>& visit) {
  std::vector<size_t> at(space.size(), 0);
  for (;;) {
    Tile tile;
    for (size_t i = 0; i < space.size(); ++i) tile.push_back(space[i][at[i]]);
    visit(tile);
    size_t i = 0;
    while (i < space.size() && ++at[i] == space[i].size()) at[i++] = 0;
    if (i == space.size()) return;
  }
}

// What looking at every tile gives, by the tie rule as it is stated.
inline std::vector<ScoredTile> unpruned(const TileSpace& space, const SearchCost& cost,
                                        size_t keep) {
  std::vector<ScoredTile> all;
  for_each_tile(space, [&](const Tile& tile) {
    if (const double value = cost.of(tile); value < kNone) all.push_back({tile, value});
  });
  std::sort(all.begin(), all.end(), [](const ScoredTile& a, const ScoredTile& b) {
    return a.score < b.score || (a.score == b.score && a.tile > b.tile);
  });
  if (all.size() > keep) all.resize(keep);
  return all;
}

inline std::string text_of(const std::vector<ScoredTile>& tiles) {
  std::string out;
  for (const ScoredTile& tile : tiles)
    out += fmt::format("[{}] {}\n", fmt::join(tile.tile, ", "), tile.score);
  return out;
}

inline TrafficSettings random_settings(std::mt19937& random) {
  const auto one_of = [&](std::vector<int64_t> values) {
    return values[std::uniform_int_distribution<size_t>(0, values.size() - 1)(random)];
  };
  TrafficSettings out;
  out.cache_width_bytes = one_of({0, 0, 16, 64});
  out.small_factor_bound = one_of({0, 0, 2, 5});
  out.min_points = one_of({1, 1, 64});
  out.min_out_points = one_of({1, 16});
  out.min_tiles = one_of({1, 1, 8});
  out.min_out_tiles = one_of({1, 4});
  out.border_cost = static_cast<double>(one_of({0, 0, 1})) * 0.5;
  out.split_factor = static_cast<double>(one_of({0, 1, 50})) * 0.001;
  out.input_cost = static_cast<double>(one_of({1, 1, 3}));
  return out;
}

inline SearchCost cost_of(const TiledBlock& block, const TrafficSettings& settings,
                          const TileLimits& limits) {
  SearchCost out;
  out.of = [&block, &settings, &limits](const Tile& tile) {
    return keeps_limits(block, tile, limits) ? traffic_cost(block, tile, settings).cost : kNone;
  };
  out.bound = [&block, &settings](const Tile& low, const Tile& high) {
    return traffic_cost_bound(block, low, high, settings);
  };
  out.hopeless = [&block, &limits](const Tile& tile) {
    return all_larger_are_over(block, tile, limits);
  };
  return out;
}

}  // namespace stria::cost
