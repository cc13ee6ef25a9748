// SPDX-License-Identifier: Apache-2.0
// The score of a tile on a processor of work groups. It says how close three things come to what
// the settings ask for: operations for each byte of main memory, the number of groups, and the use
// of a group's lanes. Source of the formulas: the score lines of PlaidML's text on kernel
// generation, which they reproduce to the digit.
#pragma once

#include <string>

#include "stria/cost/workgroup/group_plan.h"

namespace stria::cost {

struct GroupScore {
  int64_t operations = 0;      // of the kernel, post operations too
  int64_t groups = 0;          // work groups
  int64_t inner_tiles = 0;     // tiles that one group goes through
  int64_t shared_bytes = 0;    // local memory of a group
  int64_t register_bytes = 0;  // accumulators of a group
  int64_t read_bytes = 0;      // from main memory, for one inner tile
  int64_t written_bytes = 0;   // to main memory, for one group
  int64_t lanes_at_work = 0;   // in the inner tile
  int64_t merging_steps = 0;   // halvings that add up the sums of lanes that share an output
  int64_t lanes_used = 0;      // lanes of the group that ever have work
  double flops_per_byte = 0;
  double roof_ratio = 0, occupancy_ratio = 0, lane_ratio = 0;
  enum class Verdict { fits, over_memory, over_registers } verdict = Verdict::fits;
  double score = -1;  // product of the ratios, 0 to 1; -1 if the tile does not fit

  bool fits() const { return verdict == Verdict::fits; }
};

// `settings.threads` and the goals are positive. score_bound.h says what no tile is better than.
GroupScore score_of(const FlatKernel& kernel, const Tile& tile, const GroupSettings& settings);

// How much of a goal of the settings is reached, at most 1.
double part_of_goal(double is, int64_t goal);

// The terms in one line, the verdict or the ratios in a second one.
std::string to_string(const GroupScore& score, const GroupSettings& settings);

}  // namespace stria::cost
