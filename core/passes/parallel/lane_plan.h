// SPDX-License-Identifier: Apache-2.0
// The analysis of `thread_lanes`: which points of a block inside a group each lane takes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stria/cost/workgroup/group_plan.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/passes/parallel/lane_group.h"
#include "stria/passes/parallel/lane_split.h"
#include "stria/rewrite/index_role.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// A block inside the group. Its points are divided among lanes, or one lane runs it.
struct GroupWork {
  const stripe::Block* block = nullptr;
  std::string path;                           // positions of statements, as "3/0"
  std::map<std::string, std::string> tensor;  // its refinements -> those of the group; "" = inside
  // For each refinement: a number of elements of which the start of what it views is a multiple.
  std::map<std::string, int64_t> around;
  std::vector<IndexRole> outputs;  // indices that may be divided among lanes
  std::optional<LaneSplit> split;
};

// The number of elements of which the view's start is always a multiple, if the index `without` is
// 0 and what it views starts at a multiple of `around`. 0: the start is 0.
int64_t step_of(const stripe::Refinement& ref, int64_t around, const std::string& without);

// Plans lanes for the blocks of one group. Borrows the group, the options and the model.
class LanePlanner {
 public:
  LanePlanner(const stripe::Block& group, const GroupLanes& options, const HardwareModel& model)
      : group_(group), options_(options), model_(model) {}

  // Chooses lanes for the outputs of a block. For a block that adds, by the rule for the outputs of
  // a tile; for one that copies, by what it copies. `runs`: contiguous elements of an index that a
  // lane takes.
  LaneSplit plan(const GroupWork& work, const std::map<std::string, int64_t>& runs) const;

  // Makes `pairs` lanes of the second index neighbours, before those of the first index. A local
  // memory that reads 16 bytes for each lane reads them only once for two lanes that want the same
  // bytes, if they are neighbours or have one lane between them. Both operands of a product are
  // then read half as often.
  void interleave(const stripe::Block& block, LaneSplit& split) const;

  // Runs for a block that copies. The side that is outside of the group must be contiguous. The
  // other side is contiguous, too, or lies across; it then takes the elements of a vector one by
  // one. Rows must begin at multiples of a run. Empty: single elements.
  std::map<std::string, int64_t> copied_runs(const GroupWork& work) const;

  // Does it view a tensor that comes from outside of the group?
  bool is_outside(const GroupWork& work, const stripe::Refinement& ref) const;
  // Do runs along `index` begin at multiples of their length?
  static bool begins_at_runs(const GroupWork& work, const stripe::Refinement& ref,
                             const std::string& index, int64_t run);

  // What `--explain thread_lanes` prints about a block with its lanes.
  std::string describe(const GroupWork& work) const;

 private:
  // The view in which neighbouring lanes should access neighbouring elements. Views from outside of
  // the group come first. Of these, written ones come before those that are read, and larger ones
  // before smaller ones. If there are none, it is what the block writes.
  const stripe::Refinement* global_view(const GroupWork& work) const;
  // How many elements neighbouring lanes should access together.
  int64_t elements(const stripe::Refinement& ref) const;
  // For a copy that transposes: it reads vectors along rows of `global` and stores their elements
  // across. Lanes that read neighbouring vectors would store into the same banks, so only the lanes
  // of one line of main memory are neighbours. nullopt: it is no such copy, or a row has no more
  // than one line.
  struct TurnedRow {
    size_t output = 0;
    int64_t lanes = 1;
  };
  std::optional<TurnedRow> turned_row(const GroupWork& work, const stripe::Refinement& global,
                                      const std::map<std::string, int64_t>& runs) const;
  // Does a copy of rows along the index `row` pay with vectors of so many elements?
  bool copies_vectors(const GroupWork& work, const std::string& row, int64_t run,
                      bool across) const;
  // How a copy of `global` accesses the other side, if that is in a banked memory of the group.
  cost::BankedSide banked(const GroupWork& work, const stripe::Refinement& global,
                          const std::map<std::string, int64_t>& runs) const;
  // Lanes for a block that adds, and loads vectors or several tensors from outside. They are chosen
  // so that all lanes together load the fewest elements. Lanes that load the same elements of
  // `global` are no neighbours.
  std::vector<LaneSplit::Share> plan_sums(const GroupWork& work, const stripe::Refinement& global,
                                          const std::map<std::string, int64_t>& runs,
                                          const std::vector<int64_t>& ranges,
                                          const std::vector<int64_t>& strides) const;
  // How many segments of access_bytes the first `lanes` lanes touch at once, if the view begins at
  // the start of a segment.
  int64_t segments(const GroupWork& work, const stripe::Refinement& ref, int64_t lanes) const;

  const stripe::Block& group_;
  const GroupLanes& options_;
  const HardwareModel& model_;
};

}  // namespace stria::passes
