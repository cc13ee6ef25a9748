// SPDX-License-Identifier: Apache-2.0
// Which points of a block in a group each lane takes.
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

// A block inside the group whose points lanes share out, or that one lane runs.
struct GroupWork {
  const stripe::Block* block = nullptr;
  std::string path;                           // "tiles/2"
  std::map<std::string, std::string> tensor;  // its refinements -> those of the group; "" = inside
  // Elements that the start of what each one views is a multiple of.
  std::map<std::string, int64_t> around;
  std::vector<IndexRole> outputs;  // that lanes may share out
  std::optional<LaneSplit> split;
};

// Elements that the view's start is a multiple of, whatever the indices but `without` are, what it
// is a view of starting at one of `around`; 0: of any number.
int64_t step_of(const stripe::Refinement& ref, int64_t around, const std::string& without);

// Plans for the blocks of one group, which outlives it, as the options and the model do.
class LanePlanner {
 public:
  LanePlanner(const stripe::Block& group, const GroupLanes& options, const HardwareModel& model)
      : group_(group), options_(options), model_(model) {}

  // Lanes for the outputs of a block. One that adds: by the rule for a tile's outputs. One that
  // copies: by what it copies. `runs`: elements in a row that a lane takes of an index.
  LaneSplit plan(const GroupWork& work, const std::map<std::string, int64_t>& runs) const;

  // Puts `pairs` lanes of the second index beside each other, before those of the first. A local
  // memory that reads 16 bytes for each lane reads them once for a lane and the next, and for a
  // lane and the next but one, that want the same: so both operands of a product are read half as
  // often.
  void interleave(const stripe::Block& block, LaneSplit& split) const;

  // Runs of a block that copies: where what comes from outside lies in rows, and the other side in
  // rows too, or across, which then takes a vector's elements one by one. Rows begin at multiples
  // of a run. Empty: single elements.
  std::map<std::string, int64_t> copied_runs(const GroupWork& work) const;

  // Is it a view of what the group gets from outside?
  bool is_outside(const GroupWork& work, const stripe::Refinement& ref) const;
  // Do runs along `index` begin at multiples of a run?
  static bool begins_at_runs(const GroupWork& work, const stripe::Refinement& ref,
                             const std::string& index, int64_t run);

  // What `--explain thread_lanes` shows of a block that has its lanes.
  std::string describe(const GroupWork& work) const;

 private:
  // The tensor whose elements neighbouring lanes should share: one from outside of the group, that
  // is written before one that is read, of those read the one of which there is more; else what is
  // written.
  const stripe::Refinement* global_view(const GroupWork& work) const;
  // Of a tensor that neighbours should take at once.
  int64_t elements(const stripe::Refinement& ref) const;
  // Of a copy that reads vectors along rows of `global` and stores their elements across: lanes that
  // read neighbouring vectors store into the same banks, so only those of one line of main memory
  // are neighbours. nullopt: no such copy, or no more than a line.
  struct TurnedRow {
    size_t output = 0;
    int64_t lanes = 1;
  };
  std::optional<TurnedRow> turned_row(const GroupWork& work, const stripe::Refinement& global,
                                      const std::map<std::string, int64_t>& runs) const;
  // Does a copy of rows along the index `row` take vectors of so many elements?
  bool copies_vectors(const GroupWork& work, const std::string& row, int64_t run,
                      bool across) const;
  // What a copy of `global` writes or reads in a memory of the group that has banks.
  cost::BankedSide banked(const GroupWork& work, const stripe::Refinement& global,
                          const std::map<std::string, int64_t>& runs) const;
  // Of a block that adds and whose lanes fetch vectors, or several tensors from outside: lanes that
  // fetch the fewest. Those that fetch the same of `global` are no neighbours.
  std::vector<LaneSplit::Share> plan_sums(const GroupWork& work, const stripe::Refinement& global,
                                          const std::map<std::string, int64_t>& runs,
                                          const std::vector<int64_t>& ranges,
                                          const std::vector<int64_t>& strides) const;
  // Segments of access_bytes that the first `lanes` lanes touch at once, if the view begins at one.
  int64_t segments(const GroupWork& work, const stripe::Refinement& ref, int64_t lanes) const;

  const stripe::Block& group_;
  const GroupLanes& options_;
  const HardwareModel& model_;
};

}  // namespace stria::passes
