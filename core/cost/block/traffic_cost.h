// SPDX-License-Identifier: Apache-2.0
// The cost `traffic` of a tile: the elements or cache lines moved for each point, and a little for
// each tile. Lower is better. Source of the formulas: PlaidML's autotile.
//
//   (inefficiency * (1 + input_cost*input_io + output_cost*output_io) / points
//     + split_factor * log2(tiles)) / factors
//
// inefficiency is the product of goal / min(value, goal) over four values (points and tiles; of
// each all, and those of outputs), and of padding and the border's share. An `inout` view counts
// neither as input nor as output.
#pragma once

#include <string>

#include "stria/cost/block/tiled_block.h"

namespace stria::cost {

struct TrafficSettings {
  double input_cost = 1;   // of a line or element that is read
  double output_cost = 1;  // of one that is written
  double split_factor = 0.001;
  // Prime factors up to this one of the tile's sizes along output indices make the tile cheaper:
  // `factors` is 1 and the number of them, each counted as often as it divides. 0 = none count.
  int64_t small_factor_bound = 0;
  int64_t cache_width_bytes = 0;  // of a line; 0 = elements count
  // Goals: a tile below one is costlier in proportion.
  int64_t min_points = 1, min_out_points = 1;  // of a tile
  int64_t min_tiles = 1, min_out_tiles = 1;    // of the block
  // A tile at the border costs so much more than one inside, as a part of the latter's cost.
  double border_cost = 0;

  bool operator==(const TrafficSettings&) const = default;
};

struct TrafficCost {
  double cost = 0;
  double points = 0, tiles = 0;
  double input_io = 0, output_io = 0;  // of one tile, in elements or lines
  double inefficiency = 1;             // with padding and border included
  double padding = 1;
  double border = 1;
  int64_t factors = 1;
};
TrafficCost traffic_cost(const TiledBlock& block, const Tile& tile,
                         const TrafficSettings& settings);

// Not above the cost of any tile from `low` to `high`, index by index.
double traffic_cost_bound(const TiledBlock& block, const Tile& low, const Tile& high,
                          const TrafficSettings& settings);

// Elements of a view, or lines of it. The dimensions are taken by rising stride: what is less than
// a line away from what came before shares lines with it. Overlapping dimensions never take lines
// away.
double io_of(const TiledView& view, const Tile& tile, int64_t cache_width_bytes);

// "cost=0.314 points=8192 tiles=147456 …".
std::string to_string(const TrafficCost& cost);

}  // namespace stria::cost
