// SPDX-License-Identifier: Apache-2.0
// Gives a reduction a place of its own to grow in: a new refinement that holds the running values
// in the aggregation type (in registers, one per lane where the reduction is vectorised), set up
// before the reduction and written out once after it. Elements that are all so many apart lie side
// by side in it.
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
  std::string name;                // the refinement of the host whose reduction this is
  std::vector<WriteDomain> nests;  // what the host's statements write of it per point of the host
  // The one statement of the host whose reduction this is; unset: all that aggregate into the
  // refinement are parts of one reduction.
  std::optional<size_t> only;
  stripe::Location location;  // of the new refinement
  // Lanes of the innermost block that are partial results of one element; 0: none are.
  int64_t reduction_lanes = 0;
  // The host's refinement is written exactly once per element from here on (drop_aggregation).
  bool plain_output = false;
  std::vector<std::string> tile_set;  // tags of the set-up and write-out blocks
};

// What the new refinement is like: the elements that the reduction writes, without those between
// them where all of these are so many apart.
TensorShape accumulator_shape(const stripe::Block& host, const AccumulatorPlan& plan);

// Changes the host as above: in its statements that aggregate into the refinement, and around them.
// They do not load it. New blocks of #main are kernels.
void add_accumulator(stripe::Block& host, const AccumulatorPlan& plan);

// Can every block of `path` (a kernel … the host) write each element of the host's refinement
// `name` at one point only, from the identity? Then its aggregation says nothing any more.
bool writes_each_element_once(const std::vector<const stripe::Block*>& path,
                              const std::string& name);
// Takes the aggregation off that chain of refinements.
void drop_aggregation(const std::vector<stripe::Block*>& path, const std::string& name);

// A block that stores the identity to each element of `nest`, in `name` of the host with that
// access. Split into an outer block and lanes if the nest has a lane index.
stripe::Block identity_block(const stripe::Block& host, const std::string& name,
                             const WriteDomain& nest, const stripe::Aggregation& agg);

}  // namespace stria::passes
