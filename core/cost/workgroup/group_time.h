// SPDX-License-Identifier: Apache-2.0
// How long a processor of work groups takes for a contraction of which each group computes a tile
// of outputs, step by step over the reduction: the operands of a step are staged in local memory,
// the sums lie in the lanes' registers, and the next step's operands are fetched meanwhile.
//
//   step of one group alone   latency + k * (local latency + waits + point * warps)
//                             + copying * warps
//   step of c groups beside each other
//                             that + (c - 1) * issue; at least c times what is fetched:
//                             0.11 * bytes / rate + 9.7 for each line of main memory
//   issue                     group_lanes * (k * point + copying + barrier) / lanes of multiply-adds of
//                             a unit
//   point                     (sums + 4.4 * loads) * conditions: loads of a block of sums whose
//                             sides have the fewest elements, in vectors where the tile has vectors
//                             of an output in a row and a lane has sums for them
//   waits, conditions         31 cycles where lanes hold different numbers of sums; in groups at a
//                             border of a window 37 for one of its dimensions, 4.6 times the
//                             instructions for each other one (group_work.h)
//   copying                   rounds of a lane that stages: 1 of a vector, 127 of one that is
//                             stored across, 20.7 of an element (group_copies.h)
//   all                       steps * (full rounds of groups, and the last one of fewer)
//
// Lanes may share out a step's reduction besides its outputs: `parts` of them add up their points
// of it for the same outputs, and the parts' sums are added up in local memory at the end. k is
// then that of a part. Where nothing is used often, `direct`, lanes fetch what they multiply
// themselves, and nothing is staged:
//
//   step of one group alone   latency for each 16 accesses of a lane + bytes + issue
//   issue                     group_lanes * (k * (sums + 11 for each vector, 23.6 for each element that
//                             a lane fetches) + start)
//
// Source: our own measurements on a GPU of 132 units, 1,970 tiles of 93 products and convolutions;
// the constants are fitted to them: instructions that a lane issues, and cycles. Of the tiles that
// were timed the one that it takes for the fastest has 0.978 of the throughput of the fastest in
// the geometric mean, 0.88 at worst, at least 0.9 for 92 of 93 kernels. Two constants are the least
// that the fit was allowed: of a vector that is copied straight (1; the fit has 1.2), of a round of
// parts' sums (20 cycles; it would have fewer).
#pragma once

#include <optional>
#include <string>

#include "stria/cost/block/tiled_block.h"
#include "stria/cost/search/tile_space.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

// Of one compute unit, in its cycles.
struct GroupRates {
  double units = 1;
  double multiply_adds = 0;      // in a cycle
  int64_t most_lanes = 0;        // that it runs at once
  int64_t most_group_lanes = 0;  // of one group; a power of two
  int64_t registers = 0;         // bytes
  int64_t lane_registers = 0;    // bytes that one lane can have
  int64_t local_bytes = 0;       // of one group
  int64_t bank_bytes = 0;        // of all banks of local memory together; 0: not known
  double global_latency = 0;     // of main memory
  double local_latency = 0;
  double global_bytes = 0;  // in a cycle from main memory or the cache before it; 0: not known
  int64_t line_bytes = 32;  // that come from there at once
};
// `group` and `lane` are execution units of the model, `local` and `registers` memory units.
// nullopt: the model does not say how many multiply-adds a unit does in a cycle, how many lanes it
// runs, or how large these memories are.
std::optional<GroupRates> group_rates(const HardwareModel& model, const std::string& group,
                                      const std::string& local, const std::string& registers);

// What groups may be like.
struct GroupForm {
  int64_t depth = 1;    // steps whose operands are in local memory at once
  bool parts = false;   // may lanes share out a step's reduction?
  bool direct = false;  // may lanes fetch from main memory what they multiply?
};

struct GroupTime {
  int64_t group_lanes = 0;  // lanes of a group, a power of two: those that take the shortest time
  int64_t parts = 1;        // of a step's reduction, a power of two
  bool direct = false;
  double groups = 0, steps = 0;
  double sums = 0;         // that a lane holds
  double beside = 0;       // groups that a unit runs at once
  double local_bytes = 0;  // of a group
  double step_cycles = 0;  // with so many beside each other
  double cycles = 0;       // all; infinite: the tile does not fit
};
// The tile's points of reductions are one step. Of equal times that with fewer parts, and staged.
GroupTime group_time(const TiledBlock& block, const Tile& tile, const GroupForm& form,
                     const GroupRates& rates);
// Not above the cycles of any tile that is at least `low` and at most `high`, index by index.
double group_time_bound(const TiledBlock& block, const Tile& low, const Tile& high,
                        const GroupForm& form, const GroupRates& rates);

// Powers of two up to 128 and whole ranges up to that, of outputs; of reductions up to 64, where
// lanes may fetch for themselves up to 4096. No list is empty.
TileSpace group_tiles(const TiledBlock& block, const GroupForm& form);
// True only if neither the tile nor a larger one fits.
bool all_larger_are_over(const TiledBlock& block, const Tile& tile, const GroupForm& form,
                         const GroupRates& rates);

struct GroupTile {
  Tile tile;
  GroupTime time;
};
// The tile of group_tiles that takes the shortest time, of equals the one whose first different
// size is larger; nullopt if none fits.
std::optional<GroupTile> shortest_tile(const TiledBlock& block, const GroupForm& form,
                                       const GroupRates& rates);

// In one line.
std::string to_string(const GroupTime& time);

}  // namespace stria::cost
