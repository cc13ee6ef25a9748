// SPDX-License-Identifier: Apache-2.0
// Runs a chain of kernels over common tiles: one kernel, each point of which runs all of them on
// one tile. What goes from one to the next stays in the scratchpad, and units of several kinds work
// on different points at once.
//
//   0: #kernel block [h, i, j, z] (in Q[i, h, z], in K[j, h, z], out S[h, i, j]:add) { product }
//   1: #kernel block [h, i, j] (in S[h, i, j], out P[h, i, j]) { exp }
//   2: #kernel block [h, i, j, z] (in P[h, i, j], in V[j, h, z], out O[i, h, z]:add) { product }
//
//   0: #kernel #chain #tiles_under_way=2 block [h] (#tile_by_tile in Q, in K, in V, out O) {
//     0: #steps #pipeline=3 block [i] (…, none new S, none new P) {
//       0: #tile block<CONV> [i:16, j, z] (…) { product }
//       1: #tile_of_rest block<DSP> [i:16, j] (…) { exp }
//       2: #tile block<CONV> [i:16, j, z] (…) { product }
//     }
//   }
//
// A chain is a row of kernels, each of which reads what one before it has written, with indices
// that walk alike through all of these tensors. It has two products at most, and others between.
// The last kernel may sum over common indices, as the second product of two layers does over the
// hidden one: a slice of that is made, and what it adds to the result is added, point by point.
// The first kernel may add up its sum in steps, a loop tagged #steps, each of which brings what it
// reads. A product alone may be a chain, too: in two loops, of which the outer one brings an
// operand for all points of the other.
//
// For each such row the pass asks cost/staged/chain_time.h for the best common tile, the order of
// the loops, and how many points are under way; and the cost `staged_time` for the best tiles of
// the kernels by themselves, or of a product fused with what follows it, if a later step fuses such
// kernels (`fused_reqs`). It makes a chain where that takes clearly less time. `schedule` then
// stages what the tags say, and `compute_deps` lets what does not depend on each other overlap.
//
// Requires: kernels that are in no location yet. Ensures: the same values. Runs before autotile,
// for which a chain's tiles are not visible, and after the steps that order kernels, and that fuse
// them for good.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct ChainKernelsOptions {
  std::vector<std::string> parent_reqs = {"main"};  // tags of the block around the kernels
  std::vector<std::string> products;                // tags of kernels that run on `unit`
  std::string unit;                                 // execution units
  std::string or_unit;                              // another one for products; "": none
  std::string rest;                                 // of all other kernels
  std::string memory;                               // scratchpad
  std::string global;                               // memory that tensors come from
  std::string transfer;                             // copies between the two
  int64_t banks = 1;                                // instances of `memory`
  double at_most = 0.95;     // the cost of a chain over that of its kernels by themselves
  std::string rows = "all";  // "several" kernels, "one", or "all" of these
  std::vector<std::string>
      fused_reqs;                      // tags of what a later step may fuse with products; none: no
  std::vector<std::string> fused_set;  // tags of a chain
  std::vector<std::string> products_set;  // tags of tiles of products
  std::vector<std::string> rest_set;      // of all other tiles
};

void describe(ChainKernelsOptions& options, OptionFields& fields);
Status chain_kernels(stripe::Program& program, const ChainKernelsOptions& options,
                     PassContext& context);

}  // namespace stria::passes
