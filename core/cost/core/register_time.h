// SPDX-License-Identifier: Apache-2.0
// How long one core takes for a contraction whose accumulators live in vector registers. A tile of
// them is summed up over the reduction, step by step, and tile follows tile. The terms:
// multiply-adds and loads; the latency of sums that each need the one before; lanes and rows of
// tiles that reach beyond the end; what each tile costs besides its steps; lines that come from
// caches and memory. Multiply-adds of m cycles and a latency of l take (m^p + l^p)^(1/p) in a step,
// p being the fact `latency_power`: where both are about as long, one often waits for the other.
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
  single,  // an output whose points share no value with each other: a tile has one of them
  steps,   // a reduction, or an index that a tile has all of
};

// Can a view of a block be read from a copy in panels as wide as a tile's lanes?
struct PanelRule {
  bool possible = false;
  bool free = false;  // the copy is made once for many runs
  // The view begins at multiples of it, and panels divide it. 0: it begins at the beginning.
  int64_t multiple = 0;
  bool operator==(const PanelRule&) const = default;
};

struct RegisterTiling {
  std::vector<RegisterRole> roles;  // of the block's indices
  std::vector<size_t> rows;         // the indices that are rows, that of the smallest stride first
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

// The rates of one core.
struct CoreRates {
  double multiply_adds = 0;    // vectors in a cycle
  double loads = 0;            // vectors or single values that the first cache gives in a cycle
  int64_t latency_cycles = 0;  // of a multiply-add
  int64_t registers = 0;       // vectors
  struct Level {               // a cache
    std::string name, behind;  // "L1", "L2"
    double bytes = 0;          // of one core
    int64_t line_bytes = 1;
    // Addresses alone decide about sets; ways 0: a line may lie anywhere. The last cache is taken
    // to spread lines well.
    int64_t ways = 0, sets = 1;
    double bytes_per_cycle = 0;  // that come in from the memory behind it; more than 0
    double run_lines = CoreFacts().run_lines, filled_part = CoreFacts().filled_part;
  };
  std::vector<Level> caches;  // the nearest first
  CoreFacts facts;            // what was fitted to the core's kernels
};

// The rates of the unit `core` of the model, for elements of that type in vectors of so many lanes.
// A rate that the model does not give is the part
// `next_memory_part` of the one before it in the hierarchy. nullopt:
// the model does not say how many vector registers there are.
std::optional<CoreRates> core_rates(const HardwareModel& model, const std::string& core,
                                    DataType type, int64_t lanes);

struct RegisterTime {
  double accumulators = 0, registers = 0;  // vectors; more than there are: the tile does not fit
  double tiles = 0;
  double steps = 0;                     // of a tile
  double multiply_adds = 0, loads = 0;  // of a step
  double step_cycles = 0;
  std::string waits_for;          // what the step's cycles come from
  double tile_cycles = 0;         // besides its steps
  double compute_cycles = 0;      // of all tiles
  double edge_cycles = 0;         // part of these: tiles that reach beyond the end
  double first_cache_cycles = 0;  // compute_cycles beside what comes into the first cache meanwhile
  std::vector<size_t> panels;     // views that are better read from copies in panels
  double copy_cycles = 0;         // of these copies
  std::optional<size_t> along;    // the index that tiles better follow each other along
  std::vector<double> cache_cycles;  // of CoreRates::caches
  double cycles = 0;                 // all; infinite: the tile does not fit
};

RegisterTime register_time(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                           const CoreRates& rates);

// A bound that is quickly found: not above the cycles of register_time. It counts whole tiles of
// each index, without waits for caches and without tests of lanes.
double register_time_bound(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                           const CoreRates& rates);

// Tiles to choose from: whole vectors of lanes, rows in equal parts. No list is empty.
TileSpace register_tiles(const TiledBlock& block, const RegisterTiling& tiling,
                         const CoreRates& rates);

// The tile of register_tiles() that takes the shortest time; nullopt if none fits.
std::optional<Tile> fastest_register_tile(const TiledBlock& block, const RegisterTiling& tiling,
                                          const CoreRates& rates);

// True only if neither the tile nor a larger one fits.
bool all_larger_are_over(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                         const CoreRates& rates);

// One line for the tile, and one for each cache.
std::string to_string(const RegisterTime& time, const CoreRates& rates);

}  // namespace stria::cost
