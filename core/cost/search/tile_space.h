// SPDX-License-Identifier: Apache-2.0
// Which sizes of a tile are looked at, index by index; and the limits that a tile has to keep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/cost/block/memory_use.h"

namespace stria::cost {

// For each index its sizes, rising.
using TileSpace = std::vector<std::vector<int64_t>>;

struct TileFilter {
  bool only_po2 = false;         // powers of two
  bool only_even = false;        // divisors of the range: no tile is cut off
  int64_t only_multiple_of = 1;  // multiples of it; a shorter range stays whole, whatever it is
  bool cut_reductions = true;    // else reductions stay whole, whatever their range is

  bool operator==(const TileFilter&) const = default;
};

// For each index: the divisors of its range, the powers of two up to it, and ceil(range / k) for k
// to 8. With `only_multiple_of` m: m times such sizes of range / m. Only sizes that `filter` lets
// pass. invalid_argument, naming index, range and filter, if no size of an index passes.
Result<TileSpace> tile_space(const TiledBlock& block, const TileFilter& filter);

// Limits; 0 = none.
struct TileLimits {
  const MemoryUnit* memory = nullptr;  // one instance holds the tile; borrowed, null = no limit
  int64_t pipeline_depth = 1;          // tiles at once in it
  int64_t max_input_bytes = 0, max_output_bytes = 0;          // all views of the kind together
  int64_t max_per_input_bytes = 0, max_per_output_bytes = 0;  // each view
  int64_t max_total_bytes = 0;
  int64_t max_points = 0;
  int64_t max_po2_points = 0;  // of the tile with each size rounded up to a power of two
  int64_t max_tiles = 0;       // of the block

  bool operator==(const TileLimits&) const = default;
};

// A limit that a tile is over.
struct OverLimit {
  std::string what;  // "SRAM (524288 bytes / pipeline_depth 2)", "max_per_input_bytes of 'I'"
  std::string unit;  // "bytes"
  double is = 0, limit = 0;
  // "SRAM (524288 bytes / pipeline_depth 2): 300000 bytes of 262144, 37856 too many".
  std::string to_string() const;
};
// The first limit that the tile is over, in the order in which TileLimits lists them.
std::optional<OverLimit> over_limit(const TiledBlock& block, const Tile& tile,
                                    const TileLimits& limits);
// Is it under all of them?
bool keeps_limits(const TiledBlock& block, const Tile& tile, const TileLimits& limits);
// Is it certain that no tile of at least this size keeps the limits? max_tiles is not asked, for
// larger tiles keep it.
bool all_larger_are_over(const TiledBlock& block, const Tile& tile, const TileLimits& limits);

}  // namespace stria::cost
