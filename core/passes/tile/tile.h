// SPDX-License-Identifier: Apache-2.0
// Splits blocks into tiles of given sizes: an outer block over the tiles, and an inner one over one
// tile.
//
//   #kernel block [i:100, j:64, k:32] (                                                i: 8, j: 32
//       in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   #kernel block [i:13, j:2] (in A[8*i, 0], in B[0, 32*j], out C[8*i, 32*j]:add.fp32) {
//     0: block [i:8, j:32, k:32, i_0 = i] (
//         99 - i - 8*i_0 >= 0; in A[i, k], in B[k, j], out C[i, j]:add.fp32) { S }
//   }
//
// Sizes are given by index name, or by the role of an index; `autotile` chooses them by cost. Sizes
// by role serve every kernel of a shape, whatever its indices are called. index_role.h explains the
// roles; the vector index is the one that `vectorize` would take. Sizes by role leave apart what
// the indices tell apart, so that tiles can run on different cores.
//
// Requires: points of the block commute; else the block is skipped. Ensures: the same points run.
// An uneven tile has a constraint, and constraints over outer indices alone stand outside. Runs
// before vectorize, which makes lanes of the innermost block. It may run several times, and finds
// its blocks by the tags that the run before has set.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/option_fields.h"
#include "stria/pass/pass_context.h"
#include "stria/passes/tile/cut_tile.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// Tile sizes in points; 0 = the whole range.
struct RoleSizes {
  int64_t vectors = 0;  // the vector index, in vectors of the hardware
  // The other output indices with reuse, by rising output stride. An index has no reuse if every
  // tensor read varies with it: a tile of it then uses no value twice.
  std::vector<int64_t> output;
  std::vector<int64_t> apart;  // output indices without reuse, by rising output stride
  int64_t other_output = 0;    // output indices beyond the two lists
  // An output index that walks along a tensor read with stride 1, and along no tensor written; 0 =
  // as the lists say.
  int64_t across = 0;
  int64_t reduction = 0;  // reduction indices (except the vector index) and overlapping ones
  // A limit for a vector index that is a reduction index. The tile has at most so many vectors of
  // running values: the vectors of this index times the tile's outputs. It also has no more vectors
  // than the index. 0 = as `vectors` says.
  int64_t running = 0;
};

struct TileOptions {
  CutOptions cut;
  // By index name; if not empty, sizes by role are not used.
  std::map<std::string, int64_t> tile_sizes;
  RoleSizes output_vector;     // for blocks whose vector index is an output index
  RoleSizes reduction_vector;  // for blocks whose vector index is a reduction index
  RoleSizes scalar;            // for blocks without one
  // Which of the three kinds of blocks are tiled; empty: all.
  std::vector<std::string> roles;
  bool balance = false;  // shrink tiles of other output indices to equal parts of the range
  // An index with fewer points gets no lanes; 0: the calibration of the model says.
  int64_t min_range = 0;
};

void describe(TileOptions& options, OptionFields& fields);
Status tile(stripe::Program& program, const TileOptions& options, PassContext& context);

}  // namespace stria::passes
