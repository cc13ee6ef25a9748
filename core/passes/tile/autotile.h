// SPDX-License-Identifier: Apache-2.0
// Splits blocks into tiles of the lowest cost on the hardware model: an outer block over the tiles,
// and an inner one over one tile. `tile` cuts to sizes that are given.
//
//   #kernel block [i:100, j:64, k:32] (                                                i: 8, j: 32
//       in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   #kernel block [i:13, j:2] (in A[8*i, 0], in B[0, 32*j], out C[8*i, 32*j]:add.fp32) {
//     0: block [i:8, j:32, k:32, i_0 = i] (
//         99 - i - 8*i_0 >= 0; in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   }
//
// The pass takes the tile of the lowest cost that fits into the `memory` of the hardware model and
// keeps the limits. core/cost has the costs, and `stria opt FILE --pipeline P --explain autotile`
// prints the best candidates with every term. With `interleave` the cost is still that of a tile of
// contiguous points. With `measure_top` a device times the best candidates, and its times are kept.
//
// Requires: points of the block commute; else the block is skipped. Ensures: the same points run.
// An uneven tile has a constraint, and constraints over outer indices alone stand outside. If no
// tile fits, the block gets the fail tags and stays whole; without such tags that is an error. Runs
// before vectorize, which makes lanes of the innermost block. It may run several times, and finds
// its blocks by the tags that the run before has set: a tile for each memory level, outermost
// first, then the register tile, then the loops over a reduction between that tile and its vectors.
#pragma once

#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/passes/tile/cut_tile.h"
#include "stria/passes/tile/tile_choice.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct AutotileOptions {
  CutOptions cut;
  // Tags of a block that stays whole because no tile of it fits. It gets both sets, since it takes
  // the place of both blocks.
  std::vector<std::string> fail_outer_set;
  std::vector<std::string> fail_inner_set;
  TileChoiceOptions choice;
};

void describe(AutotileOptions& options, OptionFields& fields);
Status autotile(stripe::Program& program, const AutotileOptions& options, PassContext& context);

}  // namespace stria::passes
