// SPDX-License-Identifier: Apache-2.0
// How long a processor of work groups takes for a contraction. Each group computes a tile of
// outputs, step by step over the reduction. It stages the operands of a step in local memory, and
// fetches those of the next step meanwhile. The sums lie in the lanes' registers. Terms (k: points
// of the reduction in a step):
//
//   step of one group alone   latency + k * (local latency + waits + point * warps)
//                             + copying * warps + barrier waits for each subgroup
//   step of c groups beside each other
//                             that + (c - 1) * issue; at least c times what is fetched:
//                             piece_factor * bytes / rate + line_cycles for each line
//   issue                     group_lanes * (k * point + copying + barrier) / multiply-adds that a
//                             unit does in a cycle
//   point                     (sums + local_load_instructions * loads) * conditions. The loads are
//                             those of the block of sums whose sides have the fewest elements.
//                             They are vectors if the tile has vectors of an output in a row, and a
//                             lane has sums for them. Of a window along a lane's outputs
//                             window_kept_part of the elements that several see is loaded once
//   waits                     parted_wait_cycles if lanes hold different numbers of sums; in groups
//                             at a border of a window border_wait_cycles for one of its dimensions
//   barrier waits             border_barrier_cycles if there is such a window: subgroups do not do
//                             the same
//   conditions                border_factor for each further dimension of such a window
//   copying                   instructions of a lane that stages (group_copies.h)
//   all                       steps * (full rounds of groups, and the last one of fewer)
//
// Lanes may share out a step's reduction besides its outputs. Then `parts` lanes add up their
// points of the reduction for the same outputs, and the parts' sums are added up in local memory at
// the end. k is then the number of points of a part. If nothing is used often (`direct`), lanes
// fetch from main memory what they multiply, and nothing is staged:
//
//   step of one group alone   latency for each accesses_ahead of a lane + bytes + issue
//   issue                     group_lanes * (k * (sums + uncached_vector_instructions for each
//                             vector, uncached_element_instructions for each element that a lane
//                             fetches) + direct_step_instructions)
//
// The words with '_' are numbers of the unit's calibration (hwmodel/group_facts.def). Source: our
// own measurements on a GPU of 132 units, 1,970 tiles of 93 products and convolutions. Among the
// tiles that were timed, the one with the shortest `group_time` reaches 0.978 of the throughput of
// the fastest one in the geometric mean, 0.88 at worst, and at least 0.9 for 92 of 93 kernels. Two
// constants are the least that the fit was allowed: a vector that is copied straight (1; the fit
// has 1.2), and a round of adding up parts' sums (20 cycles; the fit would have fewer).
#pragma once

#include <optional>
#include <string>

#include "stria/cost/block/tiled_block.h"
#include "stria/cost/search/tile_space.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::cost {

// The rates of one compute unit, in its cycles.
struct GroupRates {
  double units = 1;
  double multiply_adds = 0;      // in a cycle
  int64_t most_lanes = 0;        // lanes that it runs at once
  int64_t most_group_lanes = 0;  // lanes of one group; a power of two
  int64_t registers = 0;         // bytes
  int64_t lane_registers = 0;    // bytes that one lane may have
  int64_t local_bytes = 0;       // of one group
  int64_t unit_local_bytes = 0;  // of all groups that it runs at once; 0: not a limit
  int64_t bank_bytes = 0;        // of all banks of local memory together; 0: not known
  double global_latency = 0;     // of main memory
  double local_latency = 0;
  double global_bytes = 0;  // in a cycle from main memory or the cache before it; 0: not known
  int64_t line_bytes = 1;   // that come from there at once
  GroupFacts facts;         // what was fitted to the unit's kernels
};
// `group` and `lane` are execution units of the model, `local` and `registers` memory units.
// nullopt: the model does not say how many multiply-adds a unit does in a cycle, how many lanes it
// runs, or how large these memories are.
std::optional<GroupRates> group_rates(const HardwareModel& model, const std::string& group,
                                      const std::string& local, const std::string& registers);

// What groups may be like.
struct GroupForm {
  int64_t depth = 1;    // multi-buffering: steps whose operands are in local memory at once
  bool parts = false;   // may lanes share out a step's reduction?
  bool direct = false;  // may lanes fetch from main memory what they multiply?
};

struct GroupTime {
  int64_t group_lanes = 0;  // lanes of a group, a power of two: those that take the shortest time
  int64_t parts = 1;        // parts of a step's reduction, a power of two
  bool direct = false;
  double groups = 0, steps = 0;
  double sums = 0;         // sums that a lane holds
  double beside = 0;       // groups that a unit runs at once
  double local_bytes = 0;  // of local memory, for one group
  double step_cycles = 0;  // with so many beside each other
  double cycles = 0;       // all; infinite: the tile does not fit
};
// The points of reductions in the tile are one step. Among equal times the form with fewer parts
// wins, and staged before direct.
GroupTime group_time(const TiledBlock& block, const Tile& tile, const GroupForm& form,
                     const GroupRates& rates);
// Not above the cycles of any tile that is at least `low` and at most `high`, index by index.
double group_time_bound(const TiledBlock& block, const Tile& low, const Tile& high,
                        const GroupForm& form, const GroupRates& rates);

// Tiles to choose from. Of outputs: powers of two up to 128, and whole ranges up to that. Of
// reductions: up to 64, or up to 4096 if lanes may fetch for themselves. No list is empty.
TileSpace group_tiles(const TiledBlock& block, const GroupForm& form);
// True only if neither the tile nor a larger one fits.
bool all_larger_are_over(const TiledBlock& block, const Tile& tile, const GroupForm& form,
                         const GroupRates& rates);

struct GroupTile {
  Tile tile;
  GroupTime time;
};
// The tile of group_tiles that takes the shortest time; among equals the one whose first different
// size is larger. nullopt if none fits.
std::optional<GroupTile> shortest_tile(const TiledBlock& block, const GroupForm& form,
                                       const GroupRates& rates);

// In one line.
std::string to_string(const GroupTime& time);

}  // namespace stria::cost
