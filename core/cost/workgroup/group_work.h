// SPDX-License-Identifier: Apache-2.0
// What a group of lanes does for one tile, counted: the terms that `group_time` and its bound are
// made of (group_time.h has the formulas and their source). Pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "stria/cost/workgroup/group_time.h"

namespace stria::cost::group {

inline constexpr double kNone = std::numeric_limits<double>::infinity();
inline constexpr int64_t kFewestGroupLanes = 32, kMostSums = 64;
inline constexpr int64_t kMostSteps = 64;
// Of a lane that takes parts: more sums need no more of them to hide what lies between.
inline constexpr double kMostSumsOfParts = 16;
// Of lanes that fetch for themselves: points of a part in a step, accesses that come in the time
// that one takes, and sums.
inline constexpr double kMostAhead = 16, kAhead = 16, kMostDirectSums = 32;
inline constexpr double kMostGroupsBeside = 32;
// A unit finds so much of a row at a time.
inline constexpr double kLookedUpBytes = 128;
// Elements that a lane reads at once.
inline constexpr double kVector = 4;
inline constexpr int64_t kVectorBytes = 16;
// Instructions that a lane issues for an access to local memory.
inline constexpr double kLoad = 4.4;
// What conditions inside a step cost. Where lanes hold different numbers of sums (a tile that is no
// power of two of outputs) each point waits so many cycles more: nothing of the next one is loaded
// meanwhile. So it does in groups at a border of a dimension that outputs and a reduction move
// along together where the tile has several points of both: the loop over the reduction has bounds.
// Of a second such dimension, or where a tile has several outputs and one point of the reduction,
// each output has a condition of its own, and a point takes so many times the instructions.
inline constexpr double kPartedWait = 31, kBorderWait = 37, kBorderWork = 4.6;
// The same from main memory, for a vector and for one element: what the unit takes for them, as
// instructions.
inline constexpr double kUncachedVector = 11, kUncachedElement = 23.6;
// Pieces of rows that a group stages: their bytes come so many times as slowly as what lanes fetch
// in a stream, and each line that they lie in takes the unit so many cycles.
inline constexpr double kPieces = 0.11, kLookUp = 9.7;
// And for each step, barrier included; without one.
inline constexpr double kStep = 25.6, kDirectStep = 63;

// Of one tile.
struct Counts {
  double outputs = 1;     // points of what it writes
  double held = 1;        // the same as lanes hold them, which take powers of two of them
  double reductions = 1;  // points of a step
  int64_t longest = 1;    // of them, along one index
  double conditions = 1;  // so many times the instructions of a point without conditions
  double waits = 0;       // cycles of a point that conditions add
  double groups = 1, steps = 1;

  // Of a step, those of a lane's part.
  double of_part(int64_t parts) const;
};
Counts counts_of(const TiledBlock& block, const Tile& tile);
// Not above Counts::conditions of any tile of the box from `low` to `high`: of the windows one at
// most bounds a loop, and only where a tile has several points of its reduction.
double least_conditions(const TiledBlock& block, const Tile& low, const Tile& high);

// Is it an operand, which steps bring in?
inline bool is_staged(const TiledView& view) { return view.reads() && !view.writes(); }

// Elements of it that a lane copies at once.
inline int64_t vector_of(const TiledView& view) {
  return std::max<int64_t>(1, kVectorBytes / view.element_bytes);
}
// Does an output of which the tile has several points move along the dimension?
bool moves_with_outputs(const TiledBlock& block, const TiledDim& dim, const Tile& tile);
// The index along which rows of it lie, where vectors of them begin at multiples of a vector.
std::optional<size_t> row_index(const TiledView& view);
// Lie rows of it along an output, or along a reduction, if there are any? Staged, rows are those of
// outputs, if the tile has any: others are turned then.
enum class Rows { none, outputs, reductions };
Rows rows_of(const TiledBlock& block, const TiledView& view);

// What a step brings into local memory.
struct Staged {
  double views = 0, elements = 0;
  double vectors = 0;      // views of which lanes then read vectors along an output
  double lines = 0;        // of main memory, kLookedUpBytes each, of all rows' pieces
  double local_bytes = 0;  // where they are staged
  double least_bytes = 0;  // no larger tile takes fewer
};
Staged staged_by(const TiledBlock& block, const Tile& tile, const GroupRates& rates);
// Not above Staged::lines of any tile of the box from `low` to `high`.
double least_lines(const TiledBlock& block, const Tile& low, const Tile& high);

// Bytes that a step brings from main memory, in whole lines.
double global_bytes_of(const TiledBlock& block, const Tile& tile, const GroupRates& rates);

// Accesses to local memory of a lane of `sums`, 1 to kMostSums, for one point of the reduction.
// What is not two views: so many times half of what two take. For each sum they do not grow with
// the sums, nor with the views that are read in vectors.
double loads_of(double sums, const Staged& staged);
// The least of lanes of so many sums or more.
double least_loads_of(double sums, const Staged& staged);
using LoadsOf = double (*)(double sums, const Staged& staged);

// Of a tile with so many lanes in a group.
struct Lanes {
  double lanes = 0, sums = 0, warps = 0;
  double point = 0;  // instructions of a lane for a point of the reduction
  double fit = 0;    // groups that a unit can run at once; 0: none
};
// The most that fit of tiles with at least so many outputs and staged elements. `conditions`: as of
// Counts.
Lanes lanes_of(double outputs, double conditions, const Staged& staged, LoadsOf loads,
               int64_t group_lanes, const GroupRates& rates);

// Cycles of a step of a group alone, and those that each further one takes of the unit. `copying`:
// instructions of each lane.
double alone_cycles(const Lanes& of, double reductions, double copying, double waits,
                    const GroupRates& rates);
double issue_cycles(const Lanes& of, double reductions, double copying, const GroupRates& rates);

// What a lane fetches for itself for one point of its part.
struct Fetched {
  double vectors = 0, elements = 0;
  // Vectors, as so many of whole lines: a shorter row takes a look of its own.
  double looked_up = 0;
  double words() const { return kVector * vectors + elements; }
};
// Lanes take vectors of what lies in a row and as many of the other outputs as there are.
Fetched fetched_by(const TiledBlock& block, const Tile& tile, double outputs, double sums);

// May lanes fetch for themselves? The points of a step, where constraints leave out none.
inline bool may_be_direct(const TiledBlock& block, const GroupForm& form) {
  return form.direct && block.constraints.empty();
}

// All ways of a group to share out a step among so many lanes: `visit(parts)`.
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

// What the end of a group takes, that adds up its parts' sums: a group alone, and each, in cycles;
// bytes of local memory.
struct PartsEnd {
  double alone = 0, issue = 0, bytes = 0;
};
// `apart`: elements left free between parts.
PartsEnd parts_end(const TiledBlock& block, double outputs, int64_t parts, double apart,
                   const GroupRates& rates);

// Of groups that share the units, `fit` at once on each: rounds of as many, and groups of a unit in
// the last one.
struct Rounds {
  double full = 0, rest = 0;
};
Rounds rounds_of(double groups, double fit, const GroupRates& rates);

}  // namespace stria::cost::group
