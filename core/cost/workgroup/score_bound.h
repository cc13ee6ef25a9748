// SPDX-License-Identifier: Apache-2.0
// A bound of the score of work groups: what no tile of a box of tiles can be better than.
#pragma once

#include <cstdint>
#include <vector>

#include "stria/cost/workgroup/group_plan.h"

namespace stria::cost {

// The bound for one kernel. Searches ask for thousands of boxes, so the constructor works out what
// depends on strides alone. For one thread at a time.
class ScoreBound {
 public:
  // Both are borrowed. `settings.threads` and the goals are positive.
  ScoreBound(const FlatKernel& kernel, const GroupSettings& settings);

  // Not below the score_of of any tile that is at least `low` and at most `high`, index by index.
  double operator()(const Tile& low, const Tile& high) const;
  // True only if neither the tile nor a larger one fits.
  bool all_larger_are_over(const Tile& tile) const;

 private:
  // An index as a tensor walks along it. `heads` are the indices of smaller strides that it may be
  // merged into (plan_stage): those whose strides divide its own.
  struct Step {
    struct Head {
      size_t step = 0;   // position of the other one
      double times = 1;  // its stride goes so often into this one's
    };
    size_t index = 0;  // of the table
    double stride = 0;
    std::vector<Head> heads;
  };
  struct Input {
    std::vector<Step> steps;            // by stride
    std::vector<size_t> outputs, sums;  // the table's indices that it does not move with
    double width = 1;                   // elements of a transaction
    double bytes = 1;                   // of an element
  };
  // Bytes to and from main memory, at least, for all tiles of any sizes in the box.
  struct Moved {
    double bytes = 0;
    double written = 0;  // of these
    // Each input's bytes are at least a number over the tile's points along the output indices that
    // do not move it. `fetched` is the product of these numbers.
    double fetched = 1;
  };

  // What an input stages for tiles of at most some sizes.
  struct Staged {
    double part = 1;      // staged elements over the points along the tensor's indices, at least
    double together = 1;  // elements that come in one transaction, at most
  };

  static double least_elements(const Input& input, const Tile& tile);
  Staged least_staged(const Input& input, const Tile& high) const;
  Moved least_moved(const Tile& low, const Tile& high) const;
  double count_of(const Tile& tile, size_t index) const;

  const FlatKernel& kernel_;
  const GroupSettings& settings_;
  std::vector<Input> inputs_;
  double points_ = 1;      // of the kernel
  double operations_ = 1;  // of the kernel
  // No output index is one that two inputs do not move with.
  bool apart_ = true;
  mutable std::vector<double> reach_;  // memory is taken once
};

}  // namespace stria::cost
