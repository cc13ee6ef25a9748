// SPDX-License-Identifier: Apache-2.0
// What a group of lanes does for one tile, counted. `group_time` and its bound are made of these
// terms; group_time.h has the formulas and their source. Pure functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "stria/cost/workgroup/group_time.h"

namespace stria::cost::group {

inline constexpr double kNone = std::numeric_limits<double>::infinity();
// What the code of lanes is like, whatever the machine: sums of a lane, points of a step.
inline constexpr int64_t kMostSums = 64;
inline constexpr int64_t kMostSteps = 64;
// For a lane that takes parts of the reduction: with more sums than these, it needs no more parts
// to hide what lies between.
inline constexpr double kMostSumsOfParts = 16;
// For lanes that fetch for themselves: points of a part in a step, and sums.
inline constexpr double kMostAhead = 16, kMostDirectSums = 32;
// Elements that a lane reads at once.
inline constexpr double kVector = 4;
// Groups have this number of lanes, or so many times 2 of them.
inline int64_t fewest_group_lanes(const GroupFacts& facts) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(facts.fewest_group_lanes)));
}

// What one tile has of everything.
struct Counts {
  double outputs = 1;        // points of what it writes
  double held = 1;           // the same, as lanes hold them: they take powers of two
  double reductions = 1;     // points of a step
  int64_t longest = 1;       // the most of these along one index
  double conditions = 1;     // so many times the instructions of a point without conditions
  double waits = 0;          // cycles of a point that conditions add
  double barrier_waits = 0;  // cycles of a step that they add, for each subgroup
  double groups = 1, steps = 1;

  // Points of a step in one of so many parts.
  double of_part(int64_t parts) const;
};
Counts counts_of(const TiledBlock& block, const Tile& tile, const GroupFacts& facts);
// Not above Counts::conditions of any tile of the box from `low` to `high`. At most one of the
// windows is tested once, and only if a tile has several points of its reduction.
double least_conditions(const TiledBlock& block, const Tile& low, const Tile& high,
                        const GroupFacts& facts);

// Is it an operand, which steps copy in?
inline bool is_staged(const TiledView& view) { return view.reads() && !view.writes(); }

// Elements of it that a lane copies at once.
inline int64_t vector_of(const TiledView& view, const GroupFacts& facts) {
  return std::max<int64_t>(1, static_cast<int64_t>(facts.vector_bytes) / view.element_bytes);
}
// Does an output of which the tile has several points move along the dimension?
bool moves_with_outputs(const TiledBlock& block, const TiledDim& dim, const Tile& tile);
// The index along which its rows lie, if vectors of them begin at multiples of a vector.
std::optional<size_t> row_index(const TiledView& view, const GroupFacts& facts);
// Do its rows lie along an output, or along a reduction, if there are any? Staged rows are those of
// outputs, if the tile has any: others are transposed then.
enum class Rows { none, outputs, reductions };
Rows rows_of(const TiledBlock& block, const TiledView& view, const GroupFacts& facts);

// What a step copies into local memory.
struct Staged {
  double views = 0, elements = 0;
  double vectors = 0;      // views of which lanes read vectors along an output afterwards
  double lines = 0;        // of main memory, line_bytes each, for all pieces of rows
  double local_bytes = 0;  // that they take there
  double least_bytes = 0;  // no larger tile takes fewer
  // A window that moves along the outputs that a lane holds in a row: points of a step in it, and
  // the outputs of the tile in such a row.
  double window_points = 1, window_outputs = 1;
  double window_kept = 0;  // window_kept_part
};
Staged staged_by(const TiledBlock& block, const Tile& tile, const GroupRates& rates);
// Not above Staged::lines of any tile of the box from `low` to `high`.
double least_lines(const TiledBlock& block, const Tile& low, const Tile& high,
                   const GroupFacts& facts);

// Bytes that a step brings from main memory, in whole lines.
double global_bytes_of(const TiledBlock& block, const Tile& tile, const GroupRates& rates);

// Accesses to local memory of a lane with so many `sums`, 1 to kMostSums, for one point of the
// reduction. For another number of views than two: as many times half of what two take. Of a window
// a lane may read once what several of its outputs see: of r outputs and w points, r + w - 1
// elements instead of r * w. Without such a window the number for each sum does not grow with the
// sums, nor with the views that are read in vectors.
double loads_of(double sums, const Staged& staged);
// The least of that over lanes with so many sums or more.
double least_loads_of(double sums, const Staged& staged);
// The least for each sum, of lanes with so many sums or fewer.
double least_loads_of_a_sum(double sums, const Staged& staged);
using LoadsOf = double (*)(double sums, const Staged& staged);

// What the lanes of a group have to do for a tile.
struct Lanes {
  double lanes = 0, sums = 0, warps = 0;
  double point = 0;  // instructions of a lane for a point of the reduction
  double fit = 0;    // groups that a unit can run at once; 0: not even one
};
// The same for tiles with at least so many outputs and staged elements: `fit` is the most that can
// be. `conditions`: as in Counts.
Lanes lanes_of(double outputs, double conditions, const Staged& staged, LoadsOf loads,
               int64_t group_lanes, const GroupRates& rates);

// How many of `fit` groups run at once if each has so much of the unit's local memory.
double fit_in_local(double fit, double local_bytes, const GroupRates& rates);

// Cycles of a step of a group alone, and cycles that each further group takes of the unit.
// `copying`: instructions of each lane.
double alone_cycles(const Lanes& of, double reductions, double copying, double waits,
                    const GroupRates& rates);
double issue_cycles(const Lanes& of, double reductions, double copying, const GroupRates& rates);

// What a lane fetches for itself for one point of its part.
struct Fetched {
  double vectors = 0, elements = 0;
  // Vectors, counted as if of whole lines: a shorter row takes a look-up of its own.
  double looked_up = 0;
  double words() const { return kVector * vectors + elements; }
};
// Lanes take vectors of the outputs that lie in a row, and as many of the other outputs as there
// are.
Fetched fetched_by(const TiledBlock& block, const Tile& tile, double outputs, double sums,
                   const GroupFacts& facts);

// May lanes fetch for themselves? Only if constraints leave no point out.
inline bool may_be_direct(const TiledBlock& block, const GroupForm& form) {
  return form.direct && block.constraints.empty();
}

// Visits all ways of a group to share out a step among so many lanes: `visit(parts)`.
template <typename Visit>
void for_each_parts(double outputs, int64_t longest, int64_t group_lanes, bool parts,
                    double most_sums, const Visit& visit) {
  visit(int64_t{1});
  if (!parts) return;
  for (int64_t count = 2; count <= std::min(longest, group_lanes * static_cast<int64_t>(kVector));
       count *= 2) {
    if (std::ceil(outputs * static_cast<double>(count) / static_cast<double>(group_lanes)) >
        most_sums)
      return;
    visit(count);
  }
}

// What the end of a group takes, which adds up its parts' sums: cycles of a group alone, cycles of
// each further group, bytes of local memory.
struct PartsEnd {
  double alone = 0, issue = 0, bytes = 0;
};
// `apart`: elements left free between parts.
PartsEnd parts_end(const TiledBlock& block, double outputs, int64_t parts, double apart,
                   const GroupRates& rates);

// The rounds of groups that share the units, `fit` at once on each: full rounds, and groups of a
// unit in the last one.
struct Rounds {
  double full = 0, rest = 0;
};
Rounds rounds_of(double groups, double fit, const GroupRates& rates);

}  // namespace stria::cost::group
