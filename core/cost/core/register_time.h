// SPDX-License-Identifier: Apache-2.0
// How long one core takes for a contraction whose running values live in vector registers: a tile
// of them is summed up over the reduction, step by step, and tile follows tile. The terms:
// multiply-adds, loads, and the latency of sums that each need the one before; lanes and rows of
// tiles that reach beyond the end; what each tile costs besides its steps; lines that come from
// caches and memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stria/cost/block/memory_use.h"
#include "stria/cost/search/tile_space.h"

namespace stria::cost {

// What the register tile does with an index.
enum class RegisterRole {
  lanes,   // its points are lanes of vectors
  row,     // an output: a tile has several of its points
  single,  // an output of which two points share no value: a tile has one
  steps,   // summed up over, or a tile has all of it
};

// Can a view of a block be read from a copy in panels as wide as a tile's lanes?
struct PanelRule {
  bool possible = false;
  bool free = false;  // the copy is made once for many runs
  int64_t multiple =
      0;  // the view begins at multiples of it; panels divide it. 0: at the beginning
  bool operator==(const PanelRule&) const = default;
};

struct RegisterTiling {
  std::vector<RegisterRole> roles;  // of the block's indices
  std::vector<size_t> rows;         // those that are rows, the one of the smallest stride first
  int64_t lanes = 1;                // of a vector
  bool lanes_are_sums = false;      // lanes are partial sums of one output
  std::vector<PanelRule> panels;    // of the block's views; none: no copies

  // Is the index summed up over?
  bool summed(size_t index) const {
    return roles[index] == RegisterRole::steps ||
           (roles[index] == RegisterRole::lanes && lanes_are_sums);
  }
  bool operator==(const RegisterTiling&) const = default;
};

// Of one core.
struct CoreRates {
  double multiply_adds = 0;    // vectors in a cycle
  double loads = 0;            // vectors or single values that the first cache gives in a cycle
  int64_t latency_cycles = 0;  // of a multiply-add
  int64_t registers = 0;       // vectors
  struct Level {               // a cache
    std::string name, behind;  // "L1", "L2"
    double bytes = 0;          // of one core
    int64_t line_bytes = 64;
    // Of sets that addresses alone decide; ways 0: a line may lie anywhere. The last cache of all
    // is taken to spread lines well.
    int64_t ways = 0, sets = 1;
    double bytes_per_cycle = 0;  // that come in from behind it
  };
  std::vector<Level> caches;  // the nearest first
};

// Of the unit `core` of the model, for elements of that type and lanes of that number. A rate that
// the model does not give is a sixth of the one before it in the hierarchy. nullopt if the model
// does not say how many vector registers there are.
std::optional<CoreRates> core_rates(const HardwareModel& model, const std::string& core,
                                    DataType type, int64_t lanes);

struct RegisterTime {
  double accumulators = 0, registers = 0;  // vectors; more than there are: the tile does not fit
  double tiles = 0;
  double steps = 0;                     // of a tile
  double multiply_adds = 0, loads = 0;  // of a step
  double step_cycles = 0;
  std::string waits_for;             // what the step's cycles come from
  double tile_cycles = 0;            // besides its steps
  double compute_cycles = 0;         // of all tiles
  double edge_cycles = 0;            // of these, of tiles that reach beyond the end
  double scratchpad_cycles = 0;      // of all tiles, with what comes into the first cache meanwhile
  std::vector<size_t> panels;        // views to be read from copies in panels: that is shorter
  double copy_cycles = 0;            // of these copies
  std::optional<size_t> along;       // tiles follow each other along it: that is shorter
  std::vector<double> cache_cycles;  // of CoreRates::caches
  double cycles = 0;                 // all; infinite: the tile does not fit
};

RegisterTime register_time(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                           const CoreRates& rates);

// Not above its cycles, and quickly found: the whole tiles of each index without what they wait for
// from the caches, nor tests of lanes.
double register_time_bound(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                           const CoreRates& rates);

// Tiles to choose from: whole vectors of lanes, rows in equal parts. No list is empty.
TileSpace register_tiles(const TiledBlock& block, const RegisterTiling& tiling,
                         const CoreRates& rates);

// Of register_tiles() the one that takes the shortest time; nullopt if none fits.
std::optional<Tile> fastest_register_tile(const TiledBlock& block, const RegisterTiling& tiling,
                                          const CoreRates& rates);

// True only if neither the tile nor a larger one fits.
bool all_larger_are_over(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                         const CoreRates& rates);

// In one line for the tile and one for each cache.
std::string to_string(const RegisterTime& time, const CoreRates& rates);

}  // namespace stria::cost
