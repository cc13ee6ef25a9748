// SPDX-License-Identifier: Apache-2.0
// Gives a reduction an accumulator: a new refinement that holds the running values in the
// aggregation type. It may lie in registers, and has one element for each lane if the reduction is
// vectorised. It is set to the identity before the reduction and written out once after it. If all
// elements of the reduction have a common distance, they are contiguous in the accumulator.
//
//   block [i] (out C[i, 0]:add.fp32) { 0: block [k, j] (in …, out C[0, j]:add.fp32) { … } }
//   block [i] (out C[i, 0], none new<REG> C_acc[0] fp32(16:1)) {
//     0: block [j] (out C_acc[j]) { C_acc = store(identity) }
//     1: block [k, j] (in …, inout C_acc[j]:add.fp32) { … }
//     2: block [j] (in C_acc[j], out C[0, j]) { C = store(load(C_acc)) }
//   }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/rewrite/write_domain.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct AccumulatorPlan {
  std::string name;                // the host's refinement into which the reduction aggregates
  std::vector<WriteDomain> nests;  // what the host's statements write of it at a point of the host
  // The host's statement that does the reduction. Unset: all statements that aggregate into the
  // refinement are parts of one reduction.
  std::optional<size_t> only;
  stripe::Location location;  // of the new refinement; it may name the host's indices
  // Lanes of the innermost block that hold partial results of one element; 0: there are none.
  int64_t reduction_lanes = 0;
  // Each element of the host's refinement is written exactly once from now on (drop_aggregation).
  bool plain_output = false;
  std::vector<std::string> tile_set;  // tags of the set-up and write-out blocks
};

// The shape of the accumulator: the elements that the reduction writes, without gaps if they have a
// common distance.
TensorShape accumulator_shape(const stripe::Block& host, const AccumulatorPlan& plan);

// Changes the host as above: its statements that aggregate into the refinement, and what is before
// and after them. These statements must not load it. New blocks of #main become kernels.
void add_accumulator(stripe::Block& host, const AccumulatorPlan& plan);

// Does every block of `path`, from a kernel to the host, write each element of the host's
// refinement `name` at one point only, starting from the identity? Its aggregation may then be
// dropped.
bool writes_each_element_once(const std::vector<const stripe::Block*>& path,
                              const std::string& name);
// Drops the aggregation of that chain of refinements.
void drop_aggregation(const std::vector<stripe::Block*>& path, const std::string& name);

// A block that stores the identity to each element of `nest`, in the host's refinement `name`. If
// the nest has a lane index, the block is split into an outer block and lanes.
stripe::Block identity_block(const stripe::Block& host, const std::string& name,
                             const WriteDomain& nest, const stripe::Aggregation& agg);

}  // namespace stria::passes
